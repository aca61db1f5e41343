"""Right answers to `completion_mask` in other styles."""

import torch
from torch import Tensor


def token_by_token(tokens: Tensor, prompt_length: int, eos_id: int) -> Tensor:
    """two loops over Python lists, with a break at the end"""
    mask = torch.zeros_like(tokens[:, 1:], dtype=torch.bool)
    for row, ids in enumerate(tokens.tolist()):
        for place in range(prompt_length, len(ids)):
            mask[row, place - 1] = True
            if ids[place] == eos_id:
                break
    return mask


def place_of_the_first_end(tokens: Tensor, prompt_length: int, eos_id: int) -> Tensor:
    """a comparison of the places with the smallest place of an end, or the last place where there is none"""
    length = tokens.shape[1]
    places = torch.arange(length, device=tokens.device)
    is_end = tokens.eq(eos_id) & places.ge(prompt_length)
    first_end = places.expand_as(tokens).masked_fill(~is_end, length).min(dim=1, keepdim=True).values
    return (places.ge(prompt_length) & places.le(first_end))[:, 1:]


def product_of_what_is_no_end(tokens: Tensor, prompt_length: int, eos_id: int) -> Tensor:
    """a running product over the completion, shifted by one, with zeros for the prompt in front"""
    mask = torch.zeros(len(tokens), tokens.size(1) - 1, dtype=torch.bool, device=tokens.device)
    completion = tokens[:, prompt_length:]
    if completion.size(1):
        goes_on = (completion != eos_id).long().cumprod(dim=1)
        mask[:, prompt_length - 1] = True
        mask[:, prompt_length:] = goes_on[:, :-1].bool()
    return mask


def argmax_with_a_case_for_no_end(tokens: Tensor, prompt_length: int, eos_id: int) -> Tensor:
    """argmax of the ends of each row, and a special case where there is none"""
    batch, length = tokens.shape
    ends = tokens == eos_id
    ends[:, :prompt_length] = False
    last = torch.where(ends.any(1), ends.float().argmax(1), torch.full((batch,), length - 1, device=tokens.device))
    grid = torch.arange(1, length, device=tokens.device).repeat(batch, 1)
    return (grid >= prompt_length) & (grid <= last.unsqueeze(1))
