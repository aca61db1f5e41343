"""Wrong answers to `token_weights`, one per mistake."""

import torch
from torch import Tensor


def _kept(mask: Tensor) -> Tensor:
    return mask.to(torch.get_default_dtype())


def no_mean_over_the_completions():
    """you give each completion a weight of 1 by sequence; the B completions share a weight of 1

    The loss then grows with the batch, and the learning rate means something different for each batch size.
    """
    """
    - return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1) / len(kept)
    + return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1)
    """


def by_sequence_over_the_padded_length():
    """you divide by the padded length of the rows by sequence; divide each completion by the number of its own tokens

    Padding then makes short completions count less, and all of them count less the longer the longest one is.
    """
    """
    - return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1) / len(kept)
    + return kept / kept.shape[-1] / len(kept)
    """


def by_token_over_all_positions():
    """you divide by all positions by token; only positions where the mask is True count

    The more padding a batch has, the smaller its gradient.
    """
    """
    - return kept / kept.sum().clamp(min=1)
    + return kept / kept.numel()
    """


def by_token_divided_by_the_completions():
    """you also divide by B by token; the count of all tokens already includes the completions

    All weights of a batch sum to 1 by token. Here they sum to 1 / B.
    """
    """
    - return kept / kept.sum().clamp(min=1)
    + return kept / kept.sum().clamp(min=1) / len(kept)
    """


def constant_without_the_completions():
    """you divide only by max_tokens by constant; the mean over the B completions is part of it

    Dr. GRPO removes the length of the answer from the loss and keeps the mean over the answers.
    """
    """
    - return kept / (len(kept) * max_tokens)
    + return kept / max_tokens
    """


def constant_is_the_longest_of_the_batch():
    """you divide by the longest completion of the batch by constant; the constant is max_tokens

    A batch with one long answer then has a smaller gradient than a batch without: the length is back in the loss.
    """
    """
    - return kept / (len(kept) * max_tokens)
    + return kept / (len(kept) * kept.sum(dim=-1).amax().clamp(min=1))
    """


def constant_is_the_padded_length():
    """you divide by the width of the mask by constant; the constant is max_tokens

    The width is the length of the longest row of this batch, including the prompt, and changes from batch to batch.
    """
    """
    - return kept / (len(kept) * max_tokens)
    + return kept / kept.numel()
    """


def levels_mixed_up(mask: Tensor, *, level: str, max_tokens: int = 0) -> Tensor:
    """you give tokens equal weight by sequence and completions equal weight by token; it is the other way around

    "sequence" means that every completion has the same weight. A long answer's tokens then weigh less.
    """
    kept = _kept(mask)
    if level == "token":
        return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1) / len(kept)
    if level == "sequence":
        return kept / kept.sum().clamp(min=1)
    return kept / (len(kept) * max_tokens)


def masked_positions_weigh_too(mask: Tensor, *, level: str, max_tokens: int = 0) -> Tensor:
    """you fill the whole row with its weight; a masked position has weight 0

    Padding then gets a gradient as if the policy had written it.
    """
    kept = _kept(mask)
    if level == "sequence":
        return (1.0 / kept.sum(dim=-1, keepdim=True).clamp(min=1) / len(kept)).expand_as(kept)
    if level == "token":
        return torch.full_like(kept, 1.0) / kept.sum().clamp(min=1)
    return torch.full_like(kept, 1.0 / (len(kept) * max_tokens))


def empty_completions_are_not_counted(mask: Tensor, *, level: str, max_tokens: int = 0) -> Tensor:
    """you divide by the number of completions that have tokens; one without tokens is one of the B, too

    If some answers are empty, the others then weigh more, and the size of a step depends on the empty ones.
    """
    kept = _kept(mask)
    rows = mask.any(dim=-1).sum().clamp(min=1)
    if level == "sequence":
        return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1) / rows
    if level == "token":
        return kept / kept.sum().clamp(min=1)
    return kept / (rows * max_tokens)


def returns_the_divisors(mask: Tensor, *, level: str, max_tokens: int = 0) -> Tensor:
    """you return the number that the level divides by; a weight is one over it

    A long answer's tokens then weigh more by sequence, not less, and all weights are far too large.
    """
    kept = _kept(mask)
    if level == "sequence":
        return kept * kept.sum(dim=-1, keepdim=True) * len(kept)
    if level == "token":
        return kept * kept.sum()
    return kept * (len(kept) * max_tokens)


def weights_in_float64():
    """you return float64 weights; they have the default float dtype, which is float32

    A product with them is float64 as well, and so is everything computed from the loss: twice the memory.
    """
    """
    - kept = mask.to(torch.get_default_dtype())
    + kept = mask.double()
    """


def empty_completions_count_as_a_token(mask: Tensor, *, level: str, max_tokens: int = 0) -> Tensor:
    """you count a completion without tokens as one token by token; only tokens count, and it has none

    The weights then sum to less than 1, and all tokens weigh less because another answer is empty.
    """
    kept = _kept(mask)
    lengths = kept.sum(dim=-1, keepdim=True).clamp(min=1)
    if level == "sequence":
        return kept / lengths / len(kept)
    if level == "token":
        return kept / lengths.sum()
    return kept / (len(kept) * max_tokens)
