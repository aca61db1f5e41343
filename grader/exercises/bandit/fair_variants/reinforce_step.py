"""Right answers to `reinforce_step` in other styles."""

import numpy as np
import torch
from torch import Tensor


def backward_on_a_loss(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """a loss with a minus sign, `backward`, and descent on it"""
    parameters = logits.detach().clone().requires_grad_(True)
    logp = parameters.log_softmax(-1).gather(0, actions)
    loss = -(logp * (rewards - baseline)).mean()
    loss.backward()
    with torch.no_grad():
        return parameters - config.lr * parameters.grad


def optimizer_made_anew(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """torch.optim.SGD with maximize=True on a parameter of its own, Categorical.log_prob"""
    parameters = torch.nn.Parameter(logits.detach().clone())
    optimizer = torch.optim.SGD([parameters], lr=config.lr, maximize=True)
    logp = torch.distributions.Categorical(logits=parameters).log_prob(actions)
    torch.mean((rewards - baseline) * logp).backward()
    optimizer.step()
    return parameters.detach()


def exact_gradient_with_one_hot(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """no autograd: mean of (reward - baseline) * (one_hot - pi)"""
    logits = logits.detach()
    score = torch.nn.functional.one_hot(actions, len(logits)) - logits.softmax(-1)  # (G, K)
    weights = (rewards - baseline).to(logits.dtype)
    return logits + config.lr * (weights[:, None] * score).mean(dim=0)


def one_sample_at_a_time(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """a python loop over the samples that adds lr / G of each score to a copy"""
    probs = torch.softmax(logits.detach(), dim=-1)
    new = logits.detach().clone()
    for action, reward in zip(actions.tolist(), rewards.tolist(), strict=True):
        step = config.lr / len(actions) * (reward - baseline)
        new -= step * probs
        new[action] += step
    return new


def numpy_add_at(
    logits: Tensor, actions: Tensor, rewards: Tensor, config: BanditConfig, *, baseline: float = 0.0
) -> Tensor:
    """numpy in float64 with np.add.at, cast back at the end"""
    values = logits.detach().cpu().numpy().astype(np.float64)
    gains = (rewards.cpu().numpy() - baseline) / len(rewards)
    probs = np.exp(values - values.max())
    probs /= probs.sum()
    gradient = -gains.sum() * probs
    np.add.at(gradient, actions.cpu().numpy(), gains)
    return torch.from_numpy(values + config.lr * gradient).to(logits)
