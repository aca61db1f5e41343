"""Wrong answers to `token_weights`, one per mistake."""

import torch
from torch import Tensor


def _kept(mask: Tensor) -> Tensor:
    return mask.to(torch.get_default_dtype())


def no_mean_over_the_completions():
    """you give each completion a weight of 1 by sequence; the B completions share a weight of 1

    The loss then grows with the batch, and the learning rate means something else for each batch size.
    """
    """
    - return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1) / len(kept)
    + return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1)
    """


def by_sequence_over_the_padded_length():
    """you divide by the padded length of the rows by sequence; each completion is divided by its own tokens

    Padding then makes a short completion count less, and all of them less the longer the longest one is.
    """
    """
    - return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1) / len(kept)
    + return kept / kept.shape[-1] / len(kept)
    """


def by_token_over_all_positions():
    """you divide by all positions by token; only those where the mask is True are tokens that count

    The more padding a batch has, the smaller its gradient.
    """
    """
    - return kept / kept.sum().clamp(min=1)
    + return kept / kept.numel()
    """


def by_token_divided_by_the_completions():
    """you divide by B once more by token; the count of all tokens has the completions in it already

    All weights of a batch sum to 1 by token. Here they sum to 1 / B.
    """
    """
    - return kept / kept.sum().clamp(min=1)
    + return kept / kept.sum().clamp(min=1) / len(kept)
    """


def constant_without_the_completions():
    """you divide by max_tokens only by constant; the mean over the B completions is part of it

    Dr. GRPO removes the length of the answer from the loss and keeps the mean over the answers.
    """
    """
    - return kept / (len(kept) * max_tokens)
    + return kept / max_tokens
    """


def constant_is_the_longest_of_the_batch():
    """you divide by the longest completion of the batch by constant; the constant is max_tokens

    Then a batch with one long answer has a smaller gradient than a batch without: the length is back in the loss.
    """
    """
    - return kept / (len(kept) * max_tokens)
    + return kept / (len(kept) * kept.sum(dim=-1).amax().clamp(min=1))
    """


def constant_is_the_padded_length():
    """you divide by the width of the mask by constant; the constant is max_tokens

    The longest row of this batch sets the width, prompt and padding included, so it changes from batch to batch.
    """
    """
    - return kept / (len(kept) * max_tokens)
    + return kept / kept.numel()
    """


def levels_mixed_up(mask: Tensor, *, level: str, max_tokens: int = 0) -> Tensor:
    """you weigh tokens alike by sequence and completions alike by token; it is the other way round

    "sequence" says that every completion weighs alike. A long answer's tokens then weigh less.
    """
    kept = _kept(mask)
    if level == "token":
        return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1) / len(kept)
    if level == "sequence":
        return kept / kept.sum().clamp(min=1)
    return kept / (len(kept) * max_tokens)


def masked_positions_weigh_too(mask: Tensor, *, level: str, max_tokens: int = 0) -> Tensor:
    """you fill the whole row with its weight; a position that the mask does not count has weight 0

    Padding then gets a gradient as if the policy had written it.
    """
    kept = _kept(mask)
    if level == "sequence":
        return (1.0 / kept.sum(dim=-1, keepdim=True).clamp(min=1) / len(kept)).expand_as(kept)
    if level == "token":
        return torch.full_like(kept, 1.0) / kept.sum().clamp(min=1)
    return torch.full_like(kept, 1.0 / (len(kept) * max_tokens))


def empty_completions_are_not_counted(mask: Tensor, *, level: str, max_tokens: int = 0) -> Tensor:
    """you divide by the completions that have tokens; one without tokens is one of the B, too

    If some answers are empty, the others become louder for it, and the size of a step depends on them.
    """
    kept = _kept(mask)
    rows = mask.any(dim=-1).sum().clamp(min=1)
    if level == "sequence":
        return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1) / rows
    if level == "token":
        return kept / kept.sum().clamp(min=1)
    return kept / (rows * max_tokens)


def returns_the_divisors(mask: Tensor, *, level: str, max_tokens: int = 0) -> Tensor:
    """you multiply by what the level divides by; a weight is one over it

    Then a long answer's tokens weigh more by sequence, not less, and all weights are far too large.
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

    The weights then sum to less than 1, and all tokens become weaker because another answer is empty.
    """
    kept = _kept(mask)
    lengths = kept.sum(dim=-1, keepdim=True).clamp(min=1)
    if level == "sequence":
        return kept / lengths / len(kept)
    if level == "token":
        return kept / lengths.sum()
    return kept / (len(kept) * max_tokens)
