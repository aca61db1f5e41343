"""Correct answers to `grpo_step` in other styles than the model answer's.

The tool appends this file to the text of `reference/bandit.py`, binds `grpo_step` to one of the functions below and
runs the result like a submission. Every check must accept every one of them.
"""

# ruff: noqa: F821
# The names of the given code come from the module of the model answer, which stands before this text.

import math

import numpy as np
import torch
from torch import Tensor


def exact_gradient_with_one_hot(
    logits: Tensor, actions: Tensor, rewards: Tensor, ref_logits: Tensor, config: BanditConfig
) -> Tensor:
    """no autograd: mean of weight * (one_hot - pi), and the closed form of the KL's gradient"""
    checked_group(logits, actions, rewards)
    logits = logits.detach()
    chosen = torch.nn.functional.one_hot(actions, len(logits)).to(logits.dtype)  # (G, K)
    old_logp, ref_logp = logits.log_softmax(-1), ref_logits.detach().log_softmax(-1)
    advantages = group_advantages(rewards)
    for _ in range(config.inner_steps):
        logp = logits.log_softmax(-1)
        pi = logp.exp()
        ratio = (chosen @ (logp - old_logp)).exp()
        binds = ((ratio > 1 + config.clip_eps) & (advantages > 0)) | ((ratio < 1 - config.clip_eps) & (advantages < 0))
        weights = (ratio * advantages).masked_fill(binds, 0.0)
        log_ratio = logp - ref_logp
        kl_gradient = pi * (log_ratio - pi @ log_ratio)
        gradient = (weights[:, None] * (chosen - pi)).mean(dim=0) - config.kl_coef * kl_gradient
        logits = logits + config.lr * gradient
    return logits.clone()


def weights_summed_by_action(
    logits: Tensor, actions: Tensor, rewards: Tensor, ref_logits: Tensor, config: BanditConfig
) -> Tensor:
    """no autograd: index_add_ into a copy that is changed in place"""
    checked_group(logits, actions, rewards)
    new = logits.detach().clone()
    old_logp = torch.log_softmax(logits.detach(), dim=0)
    ref_logp = torch.log_softmax(ref_logits.detach(), dim=0)
    advantages = group_advantages(rewards)
    for _ in range(config.inner_steps):
        logp = torch.log_softmax(new, dim=0)
        pi = logp.exp()
        ratio = (logp - old_logp).exp()[actions]
        inside = torch.where(advantages > 0, ratio <= 1 + config.clip_eps, ratio >= 1 - config.clip_eps)
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
    checked_group(logits, actions, rewards)
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
    checked_group(logits, actions, rewards)
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
    checked_group(logits, actions, rewards)
    old_logp = torch.log_softmax(logits.detach(), dim=-1)[actions]
    advantages = group_advantages(rewards)
    ref_logp = torch.log_softmax(ref_logits.detach(), dim=-1)

    def objective(values: Tensor) -> Tensor:
        logp = torch.log_softmax(values, dim=-1)
        ratio = torch.exp(logp[actions] - old_logp)
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
    checked_group(logits, actions, rewards)
    old_logp = logits.detach().log_softmax(0)[actions]
    std, mean = torch.std_mean(rewards, correction=0)
    equal = bool((rewards == rewards[0]).all())
    advantages = torch.zeros_like(rewards) if equal else (rewards - mean) / (std + 1e-8)
    new = logits.detach().clone()
    for _ in range(config.inner_steps):
        new = new.detach().requires_grad_()
        ratio = (new.log_softmax(0)[actions] - old_logp).exp()
        low, high = 1 - config.clip_eps, 1 + config.clip_eps
        bounded = torch.where(advantages >= 0, ratio.clamp(max=high), ratio.clamp(min=low))
        objective = (bounded * advantages).mean() - config.kl_coef * categorical_kl(new, ref_logits)
        new = new + config.lr * torch.autograd.grad(objective, new)[0]
    return new.detach()


def bound_on_the_product(
    logits: Tensor, actions: Tensor, rewards: Tensor, ref_logits: Tensor, config: BanditConfig
) -> Tensor:
    """min(ratio * A, g(eps, A)) with g = A + eps * |A|, and the sum over the group divided by G"""
    checked_group(logits, actions, rewards)
    old_logp = torch.log_softmax(logits, dim=-1).detach()[actions]
    advantages = group_advantages(rewards)
    bound = advantages + config.clip_eps * advantages.abs()
    new = logits.detach()
    for _ in range(config.inner_steps):
        current = new.clone().requires_grad_()
        ratio = importance_ratio(torch.log_softmax(current, dim=-1)[actions], old_logp)
        objective = torch.minimum(ratio * advantages, bound).sum() / len(rewards)
        objective = objective - config.kl_coef * categorical_kl(current, ref_logits)
        objective.backward()
        new = torch.add(new, current.grad, alpha=config.lr)
    return new.clone()


def ratio_as_a_weight(
    logits: Tensor, actions: Tensor, rewards: Tensor, ref_logits: Tensor, config: BanditConfig
) -> Tensor:
    """detached ratio times log-probability, left out where the clip binds: the same gradient"""
    checked_group(logits, actions, rewards)
    logits = logits.detach().clone()
    old_logp = torch.log_softmax(logits, dim=-1)[actions]
    advantages = group_advantages(rewards)
    for _ in range(config.inner_steps):
        logits.requires_grad_()
        logp = torch.log_softmax(logits, dim=-1)[actions]
        ratio = importance_ratio(logp.detach(), old_logp)
        counts = torch.where(advantages > 0, ratio < 1 + config.clip_eps, ratio > 1 - config.clip_eps)
        objective = (counts * ratio * advantages * logp).mean() - config.kl_coef * categorical_kl(logits, ref_logits)
        (gradient,) = torch.autograd.grad(objective, logits)
        logits = (logits + config.lr * gradient).detach()
    return logits


def first_update_without_a_ratio(
    logits: Tensor, actions: Tensor, rewards: Tensor, ref_logits: Tensor, config: BanditConfig
) -> Tensor:
    """in the first update the ratio is 1, so it is left out there: A * log pi has the same gradient"""
    checked_group(logits, actions, rewards)
    logits = logits.detach().clone()
    old_logp = torch.log_softmax(logits, dim=-1)[actions]
    advantages = group_advantages(rewards)
    for update in range(config.inner_steps):
        logits.requires_grad_()
        logp = torch.log_softmax(logits, dim=-1)[actions]
        if update == 0:
            surrogate = advantages * logp
        else:
            surrogate = clipped_surrogate(importance_ratio(logp, old_logp), advantages, clip_eps=config.clip_eps)
        objective = surrogate.mean() - config.kl_coef * categorical_kl(logits, ref_logits)
        logits = logits.detach() + config.lr * torch.autograd.grad(objective, logits)[0]
    return logits


def one_sample_at_a_time(
    logits: Tensor, actions: Tensor, rewards: Tensor, ref_logits: Tensor, config: BanditConfig
) -> Tensor:
    """a python loop over the samples inside every update, with a branch for each sign of A"""
    checked_group(logits, actions, rewards)
    new = logits.detach().clone()
    old_logp = torch.log_softmax(new, dim=-1)
    advantages = group_advantages(rewards)
    for _ in range(config.inner_steps):
        new = new.clone().requires_grad_()
        logp = torch.log_softmax(new, dim=-1)
        total = -config.kl_coef * categorical_kl(new, ref_logits)
        for action, advantage in zip(actions, advantages, strict=True):
            ratio = torch.exp(logp[action] - old_logp[action])
            if advantage > 0:
                total = total + torch.clamp(ratio, max=1 + config.clip_eps) * advantage / len(actions)
            elif advantage < 0:
                total = total + torch.clamp(ratio, min=1 - config.clip_eps) * advantage / len(actions)
        total.backward()
        new = new.detach() + config.lr * new.grad
    return new


def plain_python(logits: Tensor, actions: Tensor, rewards: Tensor, ref_logits: Tensor, config: BanditConfig) -> Tensor:
    """lists and python floats, and a tensor of the right dtype at the end"""
    checked_group(logits, actions, rewards)

    def log_softmax(values: list[float]) -> list[float]:
        largest = max(values)
        log_total = largest + math.log(sum(math.exp(value - largest) for value in values))
        return [value - log_total for value in values]

    new, drawn = logits.tolist(), actions.tolist()
    advantages = group_advantages(rewards).tolist()
    old_logp, ref_logp = log_softmax(new), log_softmax(ref_logits.tolist())
    for _ in range(config.inner_steps):
        logp = log_softmax(new)
        pi = [math.exp(value) for value in logp]
        kl = sum(p * (own - ref) for p, own, ref in zip(pi, logp, ref_logp, strict=True))
        gradient = [-config.kl_coef * p * (own - ref - kl) for p, own, ref in zip(pi, logp, ref_logp, strict=True)]
        for action, advantage in zip(drawn, advantages, strict=True):
            ratio = math.exp(logp[action] - old_logp[action])
            if (advantage > 0 and ratio > 1 + config.clip_eps) or (advantage < 0 and ratio < 1 - config.clip_eps):
                continue
            for other, p in enumerate(pi):
                gradient[other] += ratio * advantage * ((other == action) - p) / len(drawn)
        new = [value + config.lr * slope for value, slope in zip(new, gradient, strict=True)]
    return torch.tensor(new, dtype=logits.dtype, device=logits.device)


def numpy_inside(logits: Tensor, actions: Tensor, rewards: Tensor, ref_logits: Tensor, config: BanditConfig) -> Tensor:
    """numpy in float64 with np.add.at, cast back at the end"""
    checked_group(logits, actions, rewards)

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
        gradient = np.zeros_like(new)
        np.add.at(gradient, drawn, active * ratio * advantages / len(drawn))
        gradient -= gradient.sum() * pi
        log_ratio = np.log(pi / ref_pi)
        gradient -= config.kl_coef * pi * (log_ratio - (pi * log_ratio).sum())
        new = new + config.lr * gradient
    return torch.from_numpy(new).to(logits)


def float64_inside(
    logits: Tensor, actions: Tensor, rewards: Tensor, ref_logits: Tensor, config: BanditConfig
) -> Tensor:
    """computes in float64 and casts the result back to the dtype of logits"""
    checked_group(logits, actions, rewards)
    old = logits.detach().double()
    new, ref = old.clone(), ref_logits.detach().double()
    advantages = group_advantages(rewards.double())
    select = torch.nn.functional.one_hot(actions, len(old)).double()  # (G, K)
    for _ in range(config.inner_steps):
        new = new.detach().requires_grad_()
        ratio = importance_ratio(select @ new.log_softmax(-1), select @ old.log_softmax(-1))
        objective = clipped_surrogate(ratio, advantages, clip_eps=config.clip_eps).mean()
        (gradient,) = torch.autograd.grad(objective - config.kl_coef * categorical_kl(new, ref), new)
        new = new + config.lr * gradient
    return new.detach().to(logits.dtype)


def nothing_to_do_without_signal(
    logits: Tensor, actions: Tensor, rewards: Tensor, ref_logits: Tensor, config: BanditConfig
) -> Tensor:
    """returns a copy at once when the rewards are equal and there is no KL; recursion instead of a loop"""
    checked_group(logits, actions, rewards)
    advantages = group_advantages(rewards)
    if config.kl_coef == 0 and not advantages.any():
        return logits.detach().clone()
    old_logp = torch.log_softmax(logits.detach(), dim=-1)[actions]

    def updated(values: Tensor, updates: int) -> Tensor:
        if updates == 0:
            return values
        values.requires_grad_()
        ratio = importance_ratio(torch.log_softmax(values, dim=-1)[actions], old_logp)
        objective = clipped_surrogate(ratio, advantages, clip_eps=config.clip_eps).mean()
        if config.kl_coef > 0:
            objective = objective - config.kl_coef * categorical_kl(values, ref_logits)
        (gradient,) = torch.autograd.grad(objective, values)
        return updated(values.detach() + config.lr * gradient, updates - 1)

    return updated(logits.detach().clone(), config.inner_steps)


def old_policy_by_its_own_graph(
    logits: Tensor, actions: Tensor, rewards: Tensor, ref_logits: Tensor, config: BanditConfig
) -> Tensor:
    """remembers the old log-probabilities in the first update; the change is added up apart from the logits"""
    checked_group(logits, actions, rewards)
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
