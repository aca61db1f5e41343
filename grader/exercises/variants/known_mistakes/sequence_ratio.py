"""Wrong answers to `sequence_ratio`, one per mistake."""

import torch
from torch import Tensor


def product_of_the_ratios():
    """you sum the log-ratios, which gives the product of the ratios; GSPO divides the sum by the length

    The product is the true ratio of the completion's two probabilities. It grows or shrinks exponentially with the
    length, so no clip range fits both short and long answers. That is why GSPO normalizes by the length.
    """
    """
    - means = [torch.where(mask, each, 0.0).sum(dim=-1) / length for each in (logp, old_logp)]
    + means = [torch.where(mask, each, 0.0).sum(dim=-1) for each in (logp, old_logp)]
    """


def mean_of_the_ratios(logp: Tensor, old_logp: Tensor, mask: Tensor) -> Tensor:
    """you take exp for each token and then the mean; take the mean of the log-ratios first, then exp

    The arithmetic mean is never below the geometric one, and a single token with a large ratio decides it.
    """
    logp, old_logp = (torch.where(mask, each, 0.0) for each in (logp, old_logp))
    ratio = torch.where(mask, importance_ratio(logp, old_logp), 0.0)
    length = mask.sum(dim=-1)
    return torch.where(length > 0, ratio.sum(dim=-1) / length.clamp(min=1), 1.0)


def divides_by_the_padded_length():
    """you divide by the length of the rows; each completion is divided by the number of its own tokens

    The more padding a short completion has, the nearer its ratio is to 1, and the smaller its gradient.
    """
    """
    - length = mask.sum(dim=-1).clamp(min=1)
    + length = mask.shape[-1]
    """


def divides_by_the_square_root_of_the_length():
    """you divide the sum by the root of the length; GSPO divides it by the length

    The ratio of a long completion is then further from 1 than that of a short one, although its tokens moved as far.
    """
    """
    - length = mask.sum(dim=-1).clamp(min=1)
    + length = mask.sum(dim=-1).clamp(min=1).sqrt()
    """


def takes_no_notice_of_the_mask():
    """you take the mean over all positions; only positions where the mask is True are tokens of the completion

    After its end comes padding, and before its start the prompt, which the policy did not write.
    """
    """
    + mask = torch.ones_like(mask)
      length = mask.sum(dim=-1).clamp(min=1)
    """


def takes_the_masked_positions():
    """you take the mean where the mask is False; True marks the tokens of the completion

    Some functions of torch, masked_fill among them, act where a mask is True, so the mask is easily inverted once too
    often.
    """
    """
    + mask = ~mask
      length = mask.sum(dim=-1).clamp(min=1)
    """


def one_ratio_for_each_position():
    """you return the ratio of the completion at each of its positions; this function returns one ratio per row

    A caller that needs it per token can expand it. With the shape (B, N), an advantage of shape (B,) no longer fits.
    """
    """
    - return importance_ratio(*means)
    + return importance_ratio(*means).unsqueeze(-1).expand_as(logp)
    """


def one_ratio_for_each_position_with_its_own_gradient():
    """you return GSPO-token, a ratio per position with its own gradient; this function returns one ratio per row

    GSPO-token has the value of the completion's ratio at each position, and each position trains only its own token. It
    is needed for advantages that differ within a completion.
    """
    """
    - return importance_ratio(*means)
    + return importance_ratio(*means).detach().unsqueeze(-1) * (logp - logp.detach()).exp()
    """


def keeps_the_last_axis():
    """you keep the last axis with size 1 (keepdim); this function returns shape (B,)

    The numbers are right, but multiplied by advantages of shape (B,) they broadcast to (B, B).
    """
    """
    - return importance_ratio(*means)
    + return importance_ratio(*means).unsqueeze(-1)
    """


def one_ratio_for_the_batch():
    """you take one mean over all tokens of the batch; each completion has its own mean

    A single completion that has moved far then makes the clip bind for all others.
    """
    """
    - length = mask.sum(dim=-1).clamp(min=1)
    - means = [torch.where(mask, each, 0.0).sum(dim=-1) / length for each in (logp, old_logp)]
    + length = mask.sum().clamp(min=1)
    + means = [(torch.where(mask, each, 0.0).sum() / length).expand(len(logp)) for each in (logp, old_logp)]
    """


def averages_the_ratios_of_the_batch():
    """you return the mean over the completions; this function returns one ratio per completion

    Each completion's ratio is multiplied by its own advantage and clipped on its own.
    """
    """
    - return importance_ratio(*means)
    + return importance_ratio(*means).mean()
    """


def returns_the_mean_log_ratio():
    """you return the mean log-ratio; the ratio is exp of it

    For an unchanged policy it is 0 instead of 1, and a band around 1 makes no sense for it.
    """
    """
    - return importance_ratio(*means)
    + return importance_ratio(*means).log()
    """


def swaps_the_two_policies():
    """you call importance_ratio with the old policy first; the current one comes first, the second is a constant

    The ratio is then old over current. And because `importance_ratio` detaches its second argument, the policy gets no
    gradient.
    """
    """
    - means = [torch.where(mask, each, 0.0).sum(dim=-1) / length for each in (logp, old_logp)]
    + means = [torch.where(mask, each, 0.0).sum(dim=-1) / length for each in (old_logp, logp)]
    """


def gradient_not_divided_by_the_length(logp: Tensor, old_logp: Tensor, mask: Tensor) -> Tensor:
    """you give each token a gradient of ratio, as GSPO-token does before its mean; here it is ratio / n

    A completion of n tokens then has n times the gradient that it should have, and long answers dominate the update.
    """
    length = mask.sum(dim=-1).clamp(min=1)
    log_ratio = torch.where(mask, logp - old_logp.detach(), 0.0)
    mean = (log_ratio.sum(dim=-1) / length).clamp(-20.0, 20.0).detach()
    own = log_ratio.clamp(-20.0, 20.0).sum(dim=-1)
    return mean.exp() * (1 + own - own.detach())


def old_policy_moves_too():
    """you leave the old policy in the graph; it is a constant, and no gradient reaches it

    If both log-probabilities come from the same model, the two gradients cancel, and the policy never moves.
    """
    """
    - return importance_ratio(*means)
    + return importance_ratio(means[0] - means[1], torch.zeros_like(means[0]))
    """


def clamps_each_token():
    """you clamp the log-ratio of each token; clamp the mean of the completion

    A token far from the old policy then counts as nearer than it is. The mean needs no clamp as long as it is small.
    """
    """
    + logp = old_logp + (logp - old_logp).clamp(-20.0, 20.0)
      length = mask.sum(dim=-1).clamp(min=1)
    """


def clamps_only_above_at_10():
    """you clamp the mean log-ratio at 10 and not from below; clamp it to [-20, 20], as importance_ratio does

    `importance_ratio` has the limits that this exercise asks for.
    """
    """
    + def importance_ratio(logp, old_logp):
    +     return (logp - old_logp.detach()).clamp(max=10.0).exp()
      length = mask.sum(dim=-1).clamp(min=1)
    """


def does_not_clamp():
    """you take exp of a mean log-ratio of any size; clamp it to [-20, 20] first, as in importance_ratio

    exp overflows float32 at 88.7, and an infinity in a loss becomes a NaN in the gradient.
    """
    """
    + def importance_ratio(logp, old_logp):
    +     return (logp - old_logp.detach()).exp()
      length = mask.sum(dim=-1).clamp(min=1)
    """


def empty_completions_have_ratio_0():
    """you give a completion without tokens a ratio of 0; its mean log-ratio is 0, and its ratio is 1

    A ratio of 0 is outside every band and counts as clipped, although nothing has changed.
    """
    """
    - return importance_ratio(*means)
    + return importance_ratio(*means) * mask.any(dim=-1)
    """


def takes_the_first_positions():
    """you take as many tokens from the start of the row as the mask counts; take those where the mask is True

    This is right for completions that start at the first position. With a prompt before them, it takes the tokens of
    the prompt and leaves out the last ones of the answer.
    """
    """
      length = mask.sum(dim=-1).clamp(min=1)
    + mask = torch.arange(mask.shape[-1], device=mask.device) < mask.sum(dim=-1, keepdim=True)
    """


def root_of_the_product(logp: Tensor, old_logp: Tensor, mask: Tensor) -> Tensor:
    """you multiply the ratios of all tokens and take the root of the product; take the mean of the logarithms instead

    On paper both are the geometric mean. But the product for a long completion overflows or underflows float32, so its
    root is infinity or 0; and this clamps the logarithms token by token.
    """
    ratio = torch.where(mask, importance_ratio(logp, old_logp), 1.0)
    return ratio.prod(dim=-1) ** (1.0 / mask.sum(dim=-1).clamp(min=1))
