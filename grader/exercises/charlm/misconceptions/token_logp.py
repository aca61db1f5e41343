"""Wrong answers to `token_logp`, one per mistake."""

import torch
from torch import Tensor, nn


def compares_with_the_token_just_read(model: nn.Module, tokens: Tensor) -> Tensor:
    """you compare the prediction made after token t with token t itself; it belongs to token t + 1

    The model has seen token t when it makes this prediction, so the numbers say how likely a letter is to be doubled.
    Training on them teaches the policy to repeat itself.
    """
    logp = torch.log_softmax(model(tokens)[:, :-1], dim=-1)  # (B, T - 1, V)
    return logp.gather(-1, tokens[:, :-1, None]).squeeze(-1)


def drops_the_first_prediction(model: nn.Module, tokens: Tensor) -> Tensor:
    """you drop the first prediction and the first token; the last prediction must go, of a token that nobody drew

    Dropping the same end of both leaves them where they were: each prediction still meets the token that the model has
    just read. The predictions without the last one belong to the tokens without the first one.
    """
    logp = torch.log_softmax(model(tokens)[:, 1:], dim=-1)  # (B, T - 1, V)
    return logp.gather(-1, tokens[:, 1:, None]).squeeze(-1)


def shifts_the_wrong_way(model: nn.Module, tokens: Tensor) -> Tensor:
    """you compare the prediction made after token t + 1 with token t; a prediction is of the token that comes after it

    You score a text read backwards, with a model that has already seen the answer. With real text these
    numbers are far too low nearly everywhere.
    """
    logp = torch.log_softmax(model(tokens)[:, 1:], dim=-1)  # (B, T - 1, V)
    return logp.gather(-1, tokens[:, :-1, None]).squeeze(-1)


def puts_a_zero_in_front(model: nn.Module, tokens: Tensor) -> Tensor:
    """you put a 0 in front, for the first token; here there is no entry for it, so T tokens have T - 1

    Some libraries pad the row in this way. In this course nothing that belongs to predicted tokens has an entry for the
    first one, and the mask does not fit a row that is longer by one.
    """
    logp = torch.log_softmax(model(tokens)[:, :-1], dim=-1)  # (B, T - 1, V)
    chosen = logp.gather(-1, tokens[:, 1:, None]).squeeze(-1)
    return torch.cat([torch.zeros_like(chosen[:, :1]), chosen], dim=-1)


def returns_probabilities(model: nn.Module, tokens: Tensor) -> Tensor:
    """you take the softmax and no logarithm; this function returns log-probabilities

    They are between 0 and 1, and a log-probability is never positive. The importance ratio is exp of a difference of
    logarithms; of improbable tokens it would be 1 whatever happens to them.
    """
    probabilities = torch.softmax(model(tokens)[:, :-1], dim=-1)  # (B, T - 1, V)
    return probabilities.gather(-1, tokens[:, 1:, None]).squeeze(-1)


def normalises_over_the_positions(model: nn.Module, tokens: Tensor) -> Tensor:
    """you take the softmax over the positions of a row; the tokens of the vocabulary compete, on the last axis

    The shapes are right, so nothing complains. With a single prediction in the row every log-probability is 0, and with
    more of them each depends on what comes later in the text.
    """
    logp = torch.log_softmax(model(tokens)[:, :-1], dim=-2)  # (B, T - 1, V)
    return logp.gather(-1, tokens[:, 1:, None]).squeeze(-1)


def sums_over_the_row(model: nn.Module, tokens: Tensor) -> Tensor:
    """you return the sum over each row; this function returns one number for each predicted token

    The sum is the log-probability of the whole row, prompt and filling included. They have to be masked away token by
    token, which is no longer possible then.
    """
    logp = torch.log_softmax(model(tokens)[:, :-1], dim=-1)  # (B, T - 1, V)
    return logp.gather(-1, tokens[:, 1:, None]).squeeze(-1).sum(dim=-1)


def averages_over_the_row(model: nn.Module, tokens: Tensor) -> Tensor:
    """you return the mean of each row; this function returns one number for each predicted token

    Prompt and filling are part of that mean, and cannot be masked away any more. Means are taken later, with the mask.
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

    gather keeps the axis along which it picks. Left there, (B, T - 1, 1) and a mask of (B, T - 1) broadcast to three
    axes, and each completion meets the masks of all the others.
    """
    logp = torch.log_softmax(model(tokens)[:, :-1], dim=-1)  # (B, T - 1, V)
    return logp.gather(-1, tokens[:, 1:, None])


def squeezes_every_axis(model: nn.Module, tokens: Tensor) -> Tensor:
    """you call squeeze without an axis, which takes a batch of one row away too; squeeze the last axis only

    Batches of several rows are right. With a single row, or rows of two tokens, the result has an axis less than
    promised, and the code after it stops or broadcasts.
    """
    logp = torch.log_softmax(model(tokens)[:, :-1], dim=-1)  # (B, T - 1, V)
    return logp.gather(-1, tokens[:, 1:, None]).squeeze()


def picks_for_each_row_the_tokens_of_all(model: nn.Module, tokens: Tensor) -> Tensor:
    """you index the positions and the tokens but not the rows, so each row gets the tokens of all rows

    The result has three axes, (B, B, T - 1), and what belongs together is on its diagonal. Index the rows as well,
    or use gather, which goes along with them.
    """
    logp = torch.log_softmax(model(tokens)[:, :-1], dim=-1)  # (B, T - 1, V)
    return logp[:, torch.arange(tokens.shape[1] - 1, device=tokens.device), tokens[:, 1:]]


def shows_the_model_one_token_at_a_time(model: nn.Module, tokens: Tensor) -> Tensor:
    """you give the model one token at a time; a prediction depends on all tokens before it and on where they are

    A table of letters does not mind, because it looks at the last letter only. A GPT then believes that every letter is
    the first one of a text.
    """
    logits = torch.cat([model(tokens[:, t : t + 1]) for t in range(tokens.shape[1] - 1)], dim=1)  # (B, T - 1, V)
    return torch.log_softmax(logits, dim=-1).gather(-1, tokens[:, 1:, None]).squeeze(-1)


def returns_float32(model: nn.Module, tokens: Tensor) -> Tensor:
    """you turn the logits into float32 whatever they are; this function keeps their dtype

    For logits in bfloat16 that is good practice, for float64 it throws half of the digits away. Here the result has the
    dtype of the logits, so that the caller decides.
    """
    logp = torch.log_softmax(model(tokens)[:, :-1].float(), dim=-1)  # (B, T - 1, V)
    return logp.gather(-1, tokens[:, 1:, None]).squeeze(-1)
