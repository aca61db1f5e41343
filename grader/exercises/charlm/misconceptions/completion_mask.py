"""Wrong answers to `completion_mask`, one per mistake."""

import torch
from torch import Tensor


def leaves_the_end_out(tokens: Tensor, prompt_length: int, eos_id: int) -> Tensor:
    """you leave the end token out; stopping was the policy's choice, so the end counts

    Without it no gradient ever says whether it was good to stop there. The policy does not learn to stop, and its
    completions grow until they are cut off.
    """
    written = torch.arange(1, tokens.shape[-1], device=tokens.device) >= prompt_length  # (T - 1,)
    is_end = (tokens[:, 1:] == eos_id) & written  # (B, T - 1)
    return written & (is_end.cumsum(dim=-1) == 0)


def keeps_what_stands_behind_the_end(tokens: Tensor, prompt_length: int, eos_id: int) -> Tensor:
    """you keep everything behind the prompt; behind its first end a row is only filled up, and that does not count

    The policy then learns from letters that it never wrote, and a short completion has as many tokens as the longest
    one of the batch.
    """
    written = torch.arange(1, tokens.shape[-1], device=tokens.device) >= prompt_length  # (T - 1,)
    return written.expand(tokens.shape[0], -1).clone()


def masks_every_end_token(tokens: Tensor, prompt_length: int, eos_id: int) -> Tensor:
    """you mask all tokens that equal the end; the first end of the completion counts, whatever else is behind it

    The filling happens to be the end token too, so the two cannot be told apart by their number. Masking both means
    that the policy never learns to stop, and letters after the end are kept.
    """
    written = torch.arange(1, tokens.shape[-1], device=tokens.device) >= prompt_length  # (T - 1,)
    return written & (tokens[:, 1:] != eos_id)


def lets_an_end_in_the_prompt_count(tokens: Tensor, prompt_length: int, eos_id: int) -> Tensor:
    """you look for the first end in the whole row; an end inside the prompt means nothing

    A prompt with a full stop in it gives a completion without any tokens, and nothing is learned from that row. Look
    for the end among the tokens of the completion only.
    """
    written = torch.arange(1, tokens.shape[-1], device=tokens.device) >= prompt_length  # (T - 1,)
    is_end = tokens == eos_id  # (B, T)
    ends_before = (is_end.cumsum(dim=-1) - is_end.long())[:, 1:]  # (B, T - 1)
    return written & (ends_before == 0)


def begins_one_token_early():
    """you begin with the last token of the prompt; the first entry that counts belongs to token prompt_length

    One token that the policy did not write is trained in every row, and if it is the end token, the whole completion is
    masked. Off by one is the usual mistake with shifted masks.
    """
    """
    - written = torch.arange(1, tokens.shape[-1], device=tokens.device) >= prompt_length
    + written = torch.arange(1, tokens.shape[-1], device=tokens.device) >= prompt_length - 1
    """


def begins_one_token_late():
    """you leave the first token of the completion out; entry t belongs to token t + 1, so the shift is not made twice

    The first letter decides most of what follows, and it alone is never trained. Of a completion that is only an end,
    the filling counts instead.
    """
    """
    - written = torch.arange(1, tokens.shape[-1], device=tokens.device) >= prompt_length
    + written = torch.arange(tokens.shape[-1] - 1, device=tokens.device) >= prompt_length
    """


def has_an_entry_for_the_first_token(tokens: Tensor, prompt_length: int, eos_id: int) -> Tensor:
    """you return an entry for each of the T tokens; the first one is never predicted, so there are T - 1

    The entries are right, but they do not fit the log-probabilities, whose entry t belongs to token t + 1. Leave out
    the first one.
    """
    written = torch.arange(tokens.shape[-1], device=tokens.device) >= prompt_length  # (T,)
    is_end = (tokens == eos_id) & written  # (B, T)
    ends_before = is_end.cumsum(dim=-1) - is_end.long()
    return written & (ends_before == 0)


def drops_the_last_entry_instead_of_the_first(tokens: Tensor, prompt_length: int, eos_id: int) -> Tensor:
    """you make a mask of T tokens and drop its last entry; entry t belongs to token t + 1, so drop the first one

    The shape is right and everything stands one place too far to the right: the first letter of each completion is
    masked, and one token of the filling counts.
    """
    written = torch.arange(tokens.shape[-1], device=tokens.device) >= prompt_length  # (T,)
    is_end = (tokens == eos_id) & written  # (B, T)
    ends_before = is_end.cumsum(dim=-1) - is_end.long()
    return (written & (ends_before == 0))[:, :-1]


def goes_on_to_the_last_end(tokens: Tensor, prompt_length: int, eos_id: int) -> Tensor:
    """you go on to the last end of the row; the completion ends with its first one

    Rows are filled up with the end token, so the last end is the end of the row and all of the filling counts.
    """
    places = torch.arange(1, tokens.shape[-1], device=tokens.device)  # (T - 1,)
    is_end = (tokens[:, 1:] == eos_id) & (places >= prompt_length)  # (B, T - 1)
    last = torch.where(is_end, places, -1).amax(dim=-1, keepdim=True)  # (B, 1)
    last = torch.where(last < 0, tokens.shape[-1], last)
    return (places >= prompt_length) & (places <= last)


def masks_completions_without_an_end():
    """you mask a completion that never ends; it was cut off, and all of its tokens count

    Some recipes leave such completions out on purpose. Here the policy wrote every one of these letters, and it can
    learn from them that it should have stopped.
    """
    """
    - return written & (ends_before == 0)
    + return written & (ends_before == 0) & is_end.any(dim=-1, keepdim=True)
    """


def takes_a_missing_end_for_one_at_once(tokens: Tensor, prompt_length: int, eos_id: int) -> Tensor:
    """you look for the end with argmax, which is 0 also where there is none; without an end the whole completion counts

    A completion that was cut off keeps only its first token. They are the longest ones of the batch, and nothing else
    of them is ever trained.
    """
    places = torch.arange(1, tokens.shape[-1], device=tokens.device)  # (T - 1,)
    if prompt_length == tokens.shape[-1]:
        return (places >= prompt_length).expand(len(tokens), -1).clone()
    end = prompt_length + (tokens[:, prompt_length:] == eos_id).int().argmax(dim=-1, keepdim=True)  # (B, 1)
    return (places >= prompt_length) & (places <= end)


def counts_the_ends_down_the_batch():
    """you add the ends up along the batch, with dim=0; a completion ends by its own end, so add up along its row

    Where a row ends then depends on the rows above it, and no row that is alone in its batch ever ends. Another order
    of the same completions gives another loss.
    """
    """
    - ends_before = is_end.cumsum(dim=-1) - is_end.long()
    + ends_before = is_end.cumsum(dim=0) - is_end.long()
    """


def cuts_the_ends_off_the_end_of_each_row(tokens: Tensor, prompt_length: int, eos_id: int) -> Tensor:
    """you cut the end tokens off the end of each row; the first end of the completion counts, and nothing after it

    The filling is gone, and the end of the completion with it, because both are the same token. With any other filling
    nothing is cut off.
    """
    written = torch.arange(1, tokens.shape[-1], device=tokens.device) >= prompt_length  # (T - 1,)
    is_letter = tokens[:, 1:] != eos_id  # (B, T - 1)
    letters_to_come = is_letter.flip(-1).cumsum(dim=-1).flip(-1)
    return written & (letters_to_come > 0)


def keeps_the_prompt():
    """you keep the prompt; only what the policy wrote itself counts

    The prompt was given, so no advantage belongs to it. Kept in, it dilutes the completion, and the policy is trained
    to write or not to write its questions.
    """
    """
    - return written & (ends_before == 0)
    + return ends_before == 0
    """


def always_ends_at_token_0():
    """you look for token 0, or EOS_ID, whatever eos_id says; the end is the token that the caller names

    In this course the two agree, so training runs would not show it. With another alphabet no end is ever found, or a
    letter is taken for one.
    """
    """
    - is_end = (tokens[:, 1:] == eos_id) & written
    + is_end = (tokens[:, 1:] == EOS_ID) & written
    """


def overwrites_the_prompt(tokens: Tensor, prompt_length: int, eos_id: int) -> Tensor:
    """you write into the tokens of the caller to get ends in the prompt out of the way; arguments are never changed

    The mask is right, but the log-probabilities computed afterwards belong to a different text, or their computation
    stops with an error. Work on a new tensor.
    """
    tokens[:, :prompt_length] = -1
    written = torch.arange(1, tokens.shape[-1], device=tokens.device) >= prompt_length  # (T - 1,)
    is_end = tokens[:, 1:] == eos_id  # (B, T - 1)
    ends_before = is_end.cumsum(dim=-1) - is_end.long()
    return written & (ends_before == 0)
