"""Right answers to `grpo_step` in other styles."""

import numpy as np
import torch
from torch import Tensor


def weights_summed_by_action(
    logits: Tensor, actions: Tensor, rewards: Tensor, ref_logits: Tensor, config: BanditConfig
) -> Tensor:
    """no autograd: index_add_ into a copy that is changed in place"""
    new = logits.detach().clone()
    old_logp = torch.log_softmax(logits.detach(), dim=0)
    ref_logp = torch.log_softmax(ref_logits.detach(), dim=0)
    advantages = group_advantages(rewards)
    for _ in range(config.inner_steps):
        logp = torch.log_softmax(new, dim=0)
        pi = logp.exp()
        log_ratio = (logp - old_logp)[actions]
        ratio = log_ratio.exp()
        inside = torch.where(advantages > 0, ratio <= 1 + config.clip_eps, ratio >= 1 - config.clip_eps)
        inside = inside & (log_ratio.abs() <= 20)
        weights = ratio * advantages * inside / actions.numel()
        gradient = -weights.sum() * pi
        gradient.index_add_(0, actions, weights)
        kl = categorical_kl(new, ref_logits)
        gradient -= config.kl_coef * pi * (logp - ref_logp - kl)
        new += config.lr * gradient
    return new


def backward_on_a_loss(
    logits: Tensor, actions: Tensor, rewards: Tensor, ref_logits: Tensor, config: BanditConfig
) -> Tensor:
    """a loss that is minimized, `backward`, and a gradient that is reset by hand"""
    parameters = logits.detach().clone().requires_grad_(True)
    with torch.no_grad():
        old_logp = parameters.log_softmax(-1).gather(0, actions)
    advantages = group_advantages(rewards)
    for _ in range(config.inner_steps):
        ratio = importance_ratio(parameters.log_softmax(-1).gather(0, actions), old_logp)
        policy_loss = -clipped_surrogate(ratio, advantages, clip_eps=config.clip_eps).mean()
        loss = policy_loss + config.kl_coef * categorical_kl(parameters, ref_logits)
        loss.backward()
        with torch.no_grad():
            parameters -= config.lr * parameters.grad
        parameters.grad = None
    return parameters.detach()


def optimizer_made_anew(
    logits: Tensor, actions: Tensor, rewards: Tensor, ref_logits: Tensor, config: BanditConfig
) -> Tensor:
    """torch.optim.SGD with maximize=True, made in every call; Categorical.log_prob"""
    parameters = torch.nn.Parameter(logits.detach().clone())
    optimizer = torch.optim.SGD([parameters], lr=config.lr, maximize=True)
    old_logp = torch.distributions.Categorical(logits=logits.detach()).log_prob(actions)
    advantages = group_advantages(rewards)
    for _ in range(config.inner_steps):
        logp = torch.distributions.Categorical(logits=parameters).log_prob(actions)
        surrogate = clipped_surrogate(importance_ratio(logp, old_logp), advantages, clip_eps=config.clip_eps)
        optimizer.zero_grad()
        (surrogate.mean() - config.kl_coef * categorical_kl(parameters, ref_logits)).backward()
        optimizer.step()
    return parameters.detach()


def gradient_function(
    logits: Tensor, actions: Tensor, rewards: Tensor, ref_logits: Tensor, config: BanditConfig
) -> Tensor:
    """torch.func.grad of the objective as a function of the logits"""
    old_logp = torch.log_softmax(logits.detach(), dim=-1)[actions]
    advantages = group_advantages(rewards)
    ref_logp = torch.log_softmax(ref_logits.detach(), dim=-1)

    def objective(values: Tensor) -> Tensor:
        logp = torch.log_softmax(values, dim=-1)
        ratio = torch.exp((logp[actions] - old_logp).clamp(-20, 20))
        clipped = torch.clamp(ratio, 1 - config.clip_eps, 1 + config.clip_eps)
        surrogate = torch.min(ratio * advantages, clipped * advantages)
        return surrogate.mean() - config.kl_coef * (logp.exp() * (logp - ref_logp)).sum()

    new = logits.detach().clone()
    for _ in range(config.inner_steps):
        new = new + config.lr * torch.func.grad(objective)(new)
    return new


def bound_by_sign_of_advantage(
    logits: Tensor, actions: Tensor, rewards: Tensor, ref_logits: Tensor, config: BanditConfig
) -> Tensor:
    """clips the ratio on the one side that the sign of A asks for; own advantages with correction=0"""
    old_logp = logits.detach().log_softmax(0)[actions]
    std, mean = torch.std_mean(rewards, correction=0)
    equal = bool((rewards == rewards[0]).all())
    advantages = torch.zeros_like(rewards) if equal else (rewards - mean) / (std + 1e-8)
    new = logits.detach().clone()
    for _ in range(config.inner_steps):
        new = new.detach().requires_grad_()
        ratio = (new.log_softmax(0)[actions] - old_logp).clamp(-20, 20).exp()
        low, high = 1 - config.clip_eps, 1 + config.clip_eps
        bounded = torch.where(advantages >= 0, ratio.clamp(max=high), ratio.clamp(min=low))
        objective = (bounded * advantages).mean() - config.kl_coef * categorical_kl(new, ref_logits)
        new = new + config.lr * torch.autograd.grad(objective, new)[0]
    return new.detach()


def ratio_as_a_weight(
    logits: Tensor, actions: Tensor, rewards: Tensor, ref_logits: Tensor, config: BanditConfig
) -> Tensor:
    """detached ratio times log-probability, left out where the clip binds: the same gradient"""
    logits = logits.detach().clone()
    old_logp = torch.log_softmax(logits, dim=-1)[actions]
    advantages = group_advantages(rewards)
    for _ in range(config.inner_steps):
        logits.requires_grad_()
        logp = torch.log_softmax(logits, dim=-1)[actions]
        ratio = importance_ratio(logp.detach(), old_logp)
        counts = torch.where(advantages > 0, ratio < 1 + config.clip_eps, ratio > 1 - config.clip_eps)
        counts &= (logp - old_logp).abs() <= 20
        objective = (counts * ratio * advantages * logp).mean() - config.kl_coef * categorical_kl(logits, ref_logits)
        (gradient,) = torch.autograd.grad(objective, logits)
        logits = (logits + config.lr * gradient).detach()
    return logits


def one_sample_at_a_time(
    logits: Tensor, actions: Tensor, rewards: Tensor, ref_logits: Tensor, config: BanditConfig
) -> Tensor:
    """a python loop over the samples inside every update, with a branch for each sign of A"""
    new = logits.detach().clone()
    old_logp = torch.log_softmax(new, dim=-1)
    advantages = group_advantages(rewards)
    for _ in range(config.inner_steps):
        new = new.clone().requires_grad_()
        logp = torch.log_softmax(new, dim=-1)
        total = -config.kl_coef * categorical_kl(new, ref_logits)
        for action, advantage in zip(actions, advantages, strict=True):
            ratio = torch.exp(torch.clamp(logp[action] - old_logp[action], -20, 20))
            if advantage > 0:
                total = total + torch.clamp(ratio, max=1 + config.clip_eps) * advantage / len(actions)
            elif advantage < 0:
                total = total + torch.clamp(ratio, min=1 - config.clip_eps) * advantage / len(actions)
        total.backward()
        new = new.detach() + config.lr * new.grad
    return new


def numpy_inside(logits: Tensor, actions: Tensor, rewards: Tensor, ref_logits: Tensor, config: BanditConfig) -> Tensor:
    """numpy in float64 with np.add.at, cast back at the end"""

    def probabilities(values: np.ndarray) -> np.ndarray:
        powers = np.exp(values - values.max())
        return powers / powers.sum()

    new = logits.detach().cpu().numpy().astype(np.float64)
    old_pi = probabilities(new)
    ref_pi = probabilities(ref_logits.detach().cpu().numpy().astype(np.float64))
    advantages = group_advantages(rewards.double()).cpu().numpy()
    drawn = actions.cpu().numpy()
    for _ in range(config.inner_steps):
        pi = probabilities(new)
        ratio = pi[drawn] / old_pi[drawn]
        low, high = 1.0 - config.clip_eps, 1.0 + config.clip_eps
        active = ratio * advantages <= np.clip(ratio, low, high) * advantages
        active &= np.abs(np.log(ratio)) <= 20
        gradient = np.zeros_like(new)
        np.add.at(gradient, drawn, active * ratio * advantages / len(drawn))
        gradient -= gradient.sum() * pi
        log_ratio = np.log(pi / ref_pi)
        gradient -= config.kl_coef * pi * (log_ratio - (pi * log_ratio).sum())
        new = new + config.lr * gradient
    return torch.from_numpy(new).to(logits)


def old_policy_by_its_own_graph(
    logits: Tensor, actions: Tensor, rewards: Tensor, ref_logits: Tensor, config: BanditConfig
) -> Tensor:
    """remembers the old log-probabilities in the first update; the change is added up apart from the logits"""
    start, change = logits.detach(), torch.zeros_like(logits)
    advantages = group_advantages(rewards)
    old_logp = None
    for _ in range(config.inner_steps):
        change = change.detach().requires_grad_()
        logp = torch.log_softmax(start + change, dim=-1)[actions]
        old_logp = logp.detach() if old_logp is None else old_logp
        surrogate = clipped_surrogate(importance_ratio(logp, old_logp), advantages, clip_eps=config.clip_eps)
        objective = surrogate.mean() - config.kl_coef * categorical_kl(start + change, ref_logits)
        change = change + config.lr * torch.autograd.grad(objective, change)[0]
    return start + change.detach()
