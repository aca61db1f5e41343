"""Wrong answers to `sequence_ratio`, one per mistake."""

import torch
from torch import Tensor


def product_of_the_ratios(logp: Tensor, old_logp: Tensor, mask: Tensor) -> Tensor:
    """you sum the log-ratios, which gives the product of the ratios; GSPO divides the sum by the length

    The product is the true ratio of the completion's two probabilities. It grows or shrinks exponentially with the
    length, so no clip range fits both short and long answers. That is why GSPO normalizes by the length.
    """
    sums = [torch.where(mask, each, 0.0).sum(dim=-1) for each in (logp, old_logp)]
    return importance_ratio(*sums)


def mean_of_the_ratios(logp: Tensor, old_logp: Tensor, mask: Tensor) -> Tensor:
    """you take exp for each token and then the mean; take the mean of the log-ratios first, then exp

    The arithmetic mean is never below the geometric one, and a single token with a large ratio decides it.
    """
    logp, old_logp = (torch.where(mask, each, 0.0) for each in (logp, old_logp))
    ratio = torch.where(mask, importance_ratio(logp, old_logp), 0.0)
    length = mask.sum(dim=-1)
    return torch.where(length > 0, ratio.sum(dim=-1) / length.clamp(min=1), 1.0)


def divides_by_the_padded_length(logp: Tensor, old_logp: Tensor, mask: Tensor) -> Tensor:
    """you divide by the length of the rows; each completion is divided by the number of its own tokens

    The more padding a short completion has, the nearer its ratio is to 1, and the smaller its gradient.
    """
    means = [torch.where(mask, each, 0.0).sum(dim=-1) / mask.shape[-1] for each in (logp, old_logp)]
    return importance_ratio(*means)


def takes_no_notice_of_the_mask(logp: Tensor, old_logp: Tensor, mask: Tensor) -> Tensor:
    """you take the mean over all positions; only positions where the mask is True are tokens of the completion

    After its end comes padding, and before its start the prompt, which the policy did not write.
    """
    return importance_ratio(logp.mean(dim=-1), old_logp.mean(dim=-1))


def one_ratio_for_each_position(logp: Tensor, old_logp: Tensor, mask: Tensor) -> Tensor:
    """you return the ratio of the completion at each of its positions; this function returns one ratio per row

    A caller that needs it per token can expand it. With the shape (B, N), an advantage of shape (B,) no longer fits.
    """
    length = mask.sum(dim=-1).clamp(min=1)
    means = [torch.where(mask, each, 0.0).sum(dim=-1) / length for each in (logp, old_logp)]
    return importance_ratio(*means).unsqueeze(-1).expand_as(logp)


def one_ratio_for_the_batch(logp: Tensor, old_logp: Tensor, mask: Tensor) -> Tensor:
    """you take one mean over all tokens of the batch; each completion has its own mean

    A single completion that has moved far then makes the clip bind for all others.
    """
    length = mask.sum().clamp(min=1)
    means = [torch.where(mask, each, 0.0).sum() / length for each in (logp, old_logp)]
    return importance_ratio(*means).expand(len(logp))


def gradient_not_divided_by_the_length(logp: Tensor, old_logp: Tensor, mask: Tensor) -> Tensor:
    """you give each token a gradient of ratio, as GSPO-token does before its mean; here it is ratio / n

    A completion of n tokens then has n times the gradient that it should have, and long answers dominate the update.
    """
    length = mask.sum(dim=-1).clamp(min=1)
    log_ratio = torch.where(mask, logp - old_logp.detach(), 0.0)
    mean = (log_ratio.sum(dim=-1) / length).clamp(-20.0, 20.0).detach()
    own = log_ratio.clamp(-20.0, 20.0).sum(dim=-1)
    return mean.exp() * (1 + own - own.detach())


def old_policy_moves_too(logp: Tensor, old_logp: Tensor, mask: Tensor) -> Tensor:
    """you leave the old policy in the graph; it is a constant, and no gradient reaches it

    If both log-probabilities come from the same model, the two gradients cancel, and the policy never moves.
    """
    length = mask.sum(dim=-1).clamp(min=1)
    return (torch.where(mask, logp - old_logp, 0.0).sum(dim=-1) / length).clamp(-20.0, 20.0).exp()


def clamps_each_token(logp: Tensor, old_logp: Tensor, mask: Tensor) -> Tensor:
    """you clamp the log-ratio of each token; clamp the mean of the completion

    A token far from the old policy then counts as nearer than it is. The mean needs no clamp as long as it is small.
    """
    log_ratio = torch.where(mask, logp - old_logp.detach(), 0.0).clamp(-20.0, 20.0)
    return (log_ratio.sum(dim=-1) / mask.sum(dim=-1).clamp(min=1)).exp()


def empty_completions_have_ratio_0(logp: Tensor, old_logp: Tensor, mask: Tensor) -> Tensor:
    """you give a completion without tokens a ratio of 0; its mean log-ratio is 0, and its ratio is 1

    A ratio of 0 is outside every band and counts as clipped, although nothing has changed.
    """
    length = mask.sum(dim=-1)
    means = [torch.where(mask, each, 0.0).sum(dim=-1) / length.clamp(min=1) for each in (logp, old_logp)]
    return torch.where(length > 0, importance_ratio(*means), 0.0)


def takes_the_first_positions(logp: Tensor, old_logp: Tensor, mask: Tensor) -> Tensor:
    """you count the tokens in the mask and take as many from the start of the row; take those where the mask is True

    This is right for completions that start at the first position. With a prompt before them, it takes the tokens of
    the prompt and leaves out the last ones of the answer.
    """
    length = mask.sum(dim=-1)
    first = torch.arange(mask.shape[-1], device=mask.device) < length[:, None]
    means = [torch.where(first, each, 0.0).sum(dim=-1) / length.clamp(min=1) for each in (logp, old_logp)]
    return importance_ratio(*means)


def does_not_clamp(logp: Tensor, old_logp: Tensor, mask: Tensor) -> Tensor:
    """you take exp of a mean log-ratio of any size; clamp it to [-20, 20] first, as in importance_ratio

    exp overflows float32 at 88.7, and an infinity in a loss becomes a NaN in the gradient.
    """
    log_ratio = torch.where(mask, logp - old_logp.detach(), 0.0).sum(dim=-1) / mask.sum(dim=-1).clamp(min=1)
    return log_ratio.exp()


def root_of_the_product(logp: Tensor, old_logp: Tensor, mask: Tensor) -> Tensor:
    """you multiply the ratios of all tokens and take the root of the product; take the mean of the logarithms instead

    On paper both are the geometric mean. But the product for a long completion overflows or underflows float32, so its
    root is infinity or 0; and this clamps the logarithms token by token.
    """
    ratio = torch.where(mask, importance_ratio(logp, old_logp), 1.0)
    return ratio.prod(dim=-1) ** (1.0 / mask.sum(dim=-1).clamp(min=1))
