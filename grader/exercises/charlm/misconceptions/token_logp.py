"""Wrong answers to `token_logp`, one per mistake."""

import torch
from torch import Tensor, nn


def compares_with_the_token_just_read(model: nn.Module, tokens: Tensor) -> Tensor:
    """you compare the prediction made after token t with token t itself; it predicts token t + 1

    The model has seen token t when it makes this prediction, so the numbers say how likely it is to repeat the letter.
    Training on them teaches the policy to repeat itself.
    """
    logp = torch.log_softmax(model(tokens)[:, :-1], dim=-1)  # (B, T - 1, V)
    return logp.gather(-1, tokens[:, :-1, None]).squeeze(-1)


def drops_the_first_prediction(model: nn.Module, tokens: Tensor) -> Tensor:
    """you drop the first prediction and the first token; drop the last prediction, whose token was never drawn

    Dropping the same end of both does not shift them: each prediction is still paired with the token that the model has
    just read. The predictions without the last one belong to the tokens without the first one.
    """
    logp = torch.log_softmax(model(tokens)[:, 1:], dim=-1)  # (B, T - 1, V)
    return logp.gather(-1, tokens[:, 1:, None]).squeeze(-1)


def shifts_the_wrong_way(model: nn.Module, tokens: Tensor) -> Tensor:
    """you compare the prediction made after token t + 1 with token t; a prediction is about the token after it

    The numbers are for a text read backwards by a model that knows the answer already. With real text they are far too
    low nearly everywhere.
    """
    logp = torch.log_softmax(model(tokens)[:, 1:], dim=-1)  # (B, T - 1, V)
    return logp.gather(-1, tokens[:, :-1, None]).squeeze(-1)


def puts_a_zero_in_front(model: nn.Module, tokens: Tensor) -> Tensor:
    """you put a 0 in front, for the first token; here it has no entry, so T tokens have T - 1 entries

    Some libraries pad the row like this. In this course, tensors for predicted tokens have no entry for the first
    token, and the mask does not fit a longer row.
    """
    logp = torch.log_softmax(model(tokens)[:, :-1], dim=-1)  # (B, T - 1, V)
    chosen = logp.gather(-1, tokens[:, 1:, None]).squeeze(-1)
    return torch.cat([torch.zeros_like(chosen[:, :1]), chosen], dim=-1)


def returns_probabilities(model: nn.Module, tokens: Tensor) -> Tensor:
    """you take the softmax without a logarithm; this function returns log-probabilities

    They are between 0 and 1, but a log-probability is never positive. The importance ratio is exp of a difference of
    logarithms; for improbable tokens it would stay near 1 whatever happens to them.
    """
    probabilities = torch.softmax(model(tokens)[:, :-1], dim=-1)  # (B, T - 1, V)
    return probabilities.gather(-1, tokens[:, 1:, None]).squeeze(-1)


def normalises_over_the_positions(model: nn.Module, tokens: Tensor) -> Tensor:
    """you take the softmax over the positions of a row; it belongs on the last axis, the vocabulary

    The shapes are right, so nothing complains. With a single prediction in the row every log-probability is 0, and with
    more of them each depends on what comes later in the text.
    """
    logp = torch.log_softmax(model(tokens)[:, :-1], dim=-2)  # (B, T - 1, V)
    return logp.gather(-1, tokens[:, 1:, None]).squeeze(-1)


def sums_over_the_row(model: nn.Module, tokens: Tensor) -> Tensor:
    """you return the sum over each row; this function returns one number per predicted token

    The sum is the log-probability of the whole row, including prompt and padding. You can only mask these token by
    token, so not after the sum.
    """
    logp = torch.log_softmax(model(tokens)[:, :-1], dim=-1)  # (B, T - 1, V)
    return logp.gather(-1, tokens[:, 1:, None]).squeeze(-1).sum(dim=-1)


def averages_over_the_row(model: nn.Module, tokens: Tensor) -> Tensor:
    """you return the mean of each row; this function returns one number per predicted token

    Prompt and padding are part of that mean, and you can no longer mask them. The loss takes means later, with the
    mask.
    """
    logp = torch.log_softmax(model(tokens)[:, :-1], dim=-1)  # (B, T - 1, V)
    return logp.gather(-1, tokens[:, 1:, None]).squeeze(-1).mean(dim=-1)


def returns_the_cross_entropy(model: nn.Module, tokens: Tensor) -> Tensor:
    """you return the cross-entropy, which is minus the log-probability; this function returns the log-probability

    Cross-entropy is a loss and never negative, a log-probability is never positive. With the sign flipped every
    ratio is the inverse of what it must be, and the policy learns the opposite.
    """
    logits = model(tokens)[:, :-1]  # (B, T - 1, V)
    return nn.functional.cross_entropy(logits.transpose(1, 2), tokens[:, 1:], reduction="none")


def forgets_the_squeeze(model: nn.Module, tokens: Tensor) -> Tensor:
    """you leave the last axis of gather in place, shape (B, T - 1, 1); the result has shape (B, T - 1)

    gather keeps the axis along which it picks. With it, (B, T - 1, 1) and a mask of (B, T - 1) broadcast to three axes,
    and each completion is combined with the masks of all the others.
    """
    logp = torch.log_softmax(model(tokens)[:, :-1], dim=-1)  # (B, T - 1, V)
    return logp.gather(-1, tokens[:, 1:, None])


def squeezes_every_axis(model: nn.Module, tokens: Tensor) -> Tensor:
    """you call squeeze without an axis, which also drops a batch of one row; squeeze only the last axis

    Batches of several rows are right. With a single row, or rows of two tokens, the result lacks an axis, and the code
    after it fails or broadcasts.
    """
    logp = torch.log_softmax(model(tokens)[:, :-1], dim=-1)  # (B, T - 1, V)
    return logp.gather(-1, tokens[:, 1:, None]).squeeze()


def picks_for_each_row_the_tokens_of_all(model: nn.Module, tokens: Tensor) -> Tensor:
    """you index the positions and the tokens but not the rows, so each row gets the tokens of all rows

    The result has three axes, (B, B, T - 1), with the right values on its diagonal. Index the rows as well, or use
    gather, which does it for you.
    """
    logp = torch.log_softmax(model(tokens)[:, :-1], dim=-1)  # (B, T - 1, V)
    return logp[:, torch.arange(tokens.shape[1] - 1, device=tokens.device), tokens[:, 1:]]


def shows_the_model_one_token_at_a_time(model: nn.Module, tokens: Tensor) -> Tensor:
    """you give the model one token at a time; a prediction depends on all tokens before it and on where they are

    For a bigram table this makes no difference, because it looks only at the last letter. A GPT then treats every
    letter as the first one of a text.
    """
    logits = torch.cat([model(tokens[:, t : t + 1]) for t in range(tokens.shape[1] - 1)], dim=1)  # (B, T - 1, V)
    return torch.log_softmax(logits, dim=-1).gather(-1, tokens[:, 1:, None]).squeeze(-1)


def returns_float32(model: nn.Module, tokens: Tensor) -> Tensor:
    """you always convert the logits to float32; this function keeps their dtype

    For bfloat16 logits this is good practice, but for float64 it throws away half of the digits. Here the result has
    the dtype of the logits, so the caller decides.
    """
    logp = torch.log_softmax(model(tokens)[:, :-1].float(), dim=-1)  # (B, T - 1, V)
    return logp.gather(-1, tokens[:, 1:, None]).squeeze(-1)
