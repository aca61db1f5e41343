"""Wrong answers to `token_weights`, one per mistake."""


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


def by_sequence_over_the_columns():
    """you count the tokens of each position by sequence, down the batch; count them along each row

    The weight of a token then depends on how many other completions reach its position, and not on the length of its
    own.
    """
    """
    - return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1) / len(kept)
    + return kept / kept.sum(dim=0, keepdim=True).clamp(min=1) / len(kept)
    """


def by_sequence_over_the_width():
    """you divide by the number of positions N by sequence, not by B; the mean is over the B completions

    The rows of the mask are the completions: len(mask), or mask.shape[0].
    """
    """
    - return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1) / len(kept)
    + return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1) / kept.shape[-1]
    """


def by_token_over_all_positions():
    """you divide by all positions by token; include only positions where the mask is True

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


def by_token_without_dividing():
    """you give every token a weight of 1 by token; all tokens of the batch share a weight of 1

    The loss is then a sum, and it grows with the number and the length of the completions.
    """
    """
    - return kept / kept.sum().clamp(min=1)
    + return kept
    """


def constant_without_the_completions():
    """you divide only by max_tokens by constant; the mean over the B completions is part of it

    Dr. GRPO removes the length of the answer from the loss and keeps the mean over the answers.
    """
    """
    - return kept / (len(kept) * max_tokens)
    + return kept / max_tokens
    """


def constant_without_the_constant():
    """you divide only by B by constant; each token has weight 1 / (B * max_tokens)

    The loss is then as large as the completions are long, and the learning rate means something different for each
    task.
    """
    """
    - return kept / (len(kept) * max_tokens)
    + return kept / len(kept)
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
    + return kept / (len(kept) * kept.shape[-1])
    """


def constant_is_also_divided_by_the_length():
    """you also divide by the length of each completion by constant; the same max_tokens is for all of them

    The length is what Dr. GRPO removes from the loss: a long answer's tokens must not weigh less.
    """
    """
    - return kept / (len(kept) * max_tokens)
    + return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1) / (len(kept) * max_tokens)
    """


def levels_mixed_up():
    """you give tokens equal weight by sequence and completions equal weight by token; it is the other way around

    "sequence" means that every completion has the same weight. A long answer's tokens then weigh less.
    """
    """
    - if level == "sequence":
    + if level == "token":
          return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1) / len(kept)
    - if level == "token":
    + if level == "sequence":
    """


def masked_positions_weigh_too():
    """you fill the whole row with its weight; a masked position has weight 0

    Padding then gets a gradient as if the policy had written it.
    """
    """
    - return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1) / len(kept)
    + return torch.ones_like(kept) / kept.sum(dim=-1, keepdim=True).clamp(min=1) / len(kept)
    """
    """
    - return kept / kept.sum().clamp(min=1)
    + return torch.ones_like(kept) / kept.sum().clamp(min=1)
    """
    """
    - return kept / (len(kept) * max_tokens)
    + return torch.ones_like(kept) / (len(kept) * max_tokens)
    """


def takes_the_masked_positions():
    """you give weight to the positions where the mask is False; True marks the tokens

    Some functions of torch, masked_fill among them, act where a mask is True, so the mask is easily inverted once too
    often.
    """
    """
    - kept = mask.to(torch.get_default_dtype())
    + kept = (~mask).to(torch.get_default_dtype())
    """


def empty_completions_are_not_counted():
    """you divide by the number of completions that have tokens; one without tokens is one of the B, too

    If some answers are empty, the others then weigh more, and the size of a step depends on the empty ones.
    """
    """
    - return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1) / len(kept)
    + return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1) / mask.any(dim=-1).sum().clamp(min=1)
    """
    """
    - return kept / (len(kept) * max_tokens)
    + return kept / (mask.any(dim=-1).sum().clamp(min=1) * max_tokens)
    """


def divides_by_0_in_an_empty_row():
    """you divide 0 by 0 by sequence in a completion without tokens, which gives NaN; its weights are 0

    It happens when a policy ends an answer at once. One NaN in the loss makes all weights of the model NaN. A count of
    at least 1 in the denominator turns 0 / 0 into 0.
    """
    """
    - return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1) / len(kept)
    + return kept / kept.sum(dim=-1, keepdim=True) / len(kept)
    """


def divides_by_0_in_an_empty_batch():
    """you divide 0 by 0 by token where the whole mask is empty, which gives NaN; all weights are then 0

    A count of at least 1 in the denominator turns 0 / 0 into 0.
    """
    """
    - return kept / kept.sum().clamp(min=1)
    + return kept / kept.sum()
    """


def divides_by_0_without_any_completion():
    """you divide 0 by 0 by sequence where the whole mask is empty, which gives NaN; all weights are then 0

    It happens when you divide by the number of completions that have tokens. Divide by B, the number of all rows.
    """
    """
    - return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1) / len(kept)
    + return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1) / len(kept) * mask.any() / mask.any()
    """


def divides_by_0_without_any_completion_by_constant():
    """you divide 0 by 0 by constant where the whole mask is empty, which gives NaN; all weights are then 0

    It happens when you divide by the number of completions that have tokens. Divide by B, the number of all rows.
    """
    """
    - return kept / (len(kept) * max_tokens)
    + return kept / (len(kept) * max_tokens) * mask.any() / mask.any()
    """


def empty_completions_count_as_a_token():
    """you count a completion without tokens as one token by token; only tokens count, and it has none

    The weights then sum to less than 1, and all tokens weigh less because another answer is empty.
    """
    """
    - return kept / kept.sum().clamp(min=1)
    + return kept / kept.sum(dim=-1).clamp(min=1).sum()
    """


def adds_1_to_the_counts():
    """you add 1 to the number of tokens by sequence; divide by the number itself, and by 1 where it is 0

    The 1 prevents 0 / 0, but it makes the weights of short completions too small, by half for a single token.
    """
    """
    - return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1) / len(kept)
    + return kept / (kept.sum(dim=-1, keepdim=True) + 1) / len(kept)
    """


def returns_the_divisors():
    """you return the number that the level divides by; a weight is one over it

    A long answer's tokens then weigh more by sequence, not less, and all weights are far too large.
    """
    """
    - return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1) / len(kept)
    + return kept * kept.sum(dim=-1, keepdim=True) * len(kept)
    """
    """
    - return kept / kept.sum().clamp(min=1)
    + return kept * kept.sum()
    """
    """
    - return kept / (len(kept) * max_tokens)
    + return kept * (len(kept) * max_tokens)
    """


def weights_in_float64():
    """you return float64 weights; they have the default float dtype, which is float32

    A product with them is float64 as well, and so is everything computed from the loss: twice the memory.
    """
    """
    - kept = mask.to(torch.get_default_dtype())
    + kept = mask.double()
    """
