"""Correct laws for `surrogate_holds` in other styles; a fair grader accepts them all.

Each public function takes the place of the model answer's `surrogate_holds` in a copy of its module.
"""

# The names of the given code come from the model answer's module, which is put in front of this file when it runs.
# ruff: noqa: F821

import torch


def the_gradient_is_a_switch(calls, results):
    """Divides by factor * A: the gradient is then 1 or 0, and the value is the ratio or an end of the band."""
    factor = results["unit"]["gradients"]["ratio"]
    if factor is None or factor.shape != (1,) or not factor.item() > 0:
        return False
    for name, call in calls.items():
        ratio, advantages = call["ratio"], call["advantages"].expand(call["ratio"].shape)
        value, gradient = results[name]["value"], results[name]["gradients"]["ratio"]
        if gradient is None or value.shape != ratio.shape or value.dtype != ratio.dtype:
            return False
        low, high = _band(call)
        some = advantages != 0
        if (value[~some] != 0).any() or (gradient[~some] != 0).any() or not value.isfinite().all():
            return False
        up = advantages[some] > 0
        sized = factor.to(ratio.dtype) * advantages[some]
        switch, height, given = gradient[some] / sized, value[some] / sized, ratio[some]
        inside = torch.where(up, given < high, given > low)
        outside = torch.where(up, given > high, given < low)
        ends = torch.where(up, torch.full_like(given, high), torch.full_like(given, low))
        if not near(switch[inside], torch.ones_like(switch[inside])) or not near(switch[outside], 0 * given[outside]):
            return False
        if not near(height[inside], given[inside]) or not near(height[outside], ends[outside]):
            return False
    return True


def _band(call):
    eps = call.get("clip_eps", 0.2)
    return 1.0 - eps, 1.0 + call.get("clip_eps_high", eps)


def three_inequalities_and_a_slope(calls, results):
    """The objective is under both lines, on one of them, and its gradient is the slope of that line."""
    factor = results["unit"]["value"].sum()
    for name, call in calls.items():
        ratio, answer = call["ratio"], results[name]
        low, high = _band(call)
        plain = factor.to(ratio.dtype) * ratio * call["advantages"]
        flat = factor.to(ratio.dtype) * ratio.clamp(low, high) * call["advantages"]
        value, gradient = answer["value"], answer["gradients"]["ratio"]
        if value.shape != ratio.shape or value.dtype != ratio.dtype or gradient is None or not factor > 0:
            return False
        if not value.isfinite().all() or (value > plain + 1e-4).any() or (value > flat + 1e-4).any():
            return False
        if not near(torch.minimum((value - plain).abs(), (value - flat).abs()), 0 * value, tolerance=1e-4):
            return False
        rising = plain < flat - 1e-4
        level = flat < plain - 1e-4
        within = (ratio > low + 1e-6) & (ratio < high - 1e-6)
        slope = factor.to(ratio.dtype) * call["advantages"].expand(ratio.shape)
        free = rising | within
        if not near(gradient[free], slope[free], tolerance=1e-4) or (gradient[level].abs() > 1e-6).any():
            return False
        if not near(value[free], plain[free]) or not near(value[level], flat[level]):
            return False
    return True


def element_by_element(calls, results):
    """Python numbers, one element after the other, as a table of four cases."""
    factor = float(results["unit"]["value"].sum())
    for name, call in calls.items():
        value, gradient = results[name]["value"], results[name]["gradients"]["ratio"]
        ratio = call["ratio"]
        if gradient is None or value.shape != ratio.shape or value.dtype != ratio.dtype or factor <= 0:
            return False
        low, high = _band(call)
        rows = (ratio, call["advantages"].expand(ratio.shape), value, gradient)
        for own, advantage, answer, slope in zip(*(each.flatten().tolist() for each in rows), strict=True):
            end = high if advantage > 0 else low
            beyond = advantage != 0 and (own > end if advantage > 0 else own < end)
            wanted = factor * advantage * (end if beyond else own)
            steep = 0.0 if beyond else factor * advantage
            if not abs(answer - wanted) <= 1e-4 * (1 + abs(wanted)):
                return False
            if own != end and not abs(slope - steep) <= 1e-4 * (1 + abs(steep)):
                return False
    return True


def through_the_loss(calls, results):
    """Turns everything into a loss first: where the clip binds, the loss is the larger of two."""
    unit = results["unit"]
    if unit["gradients"]["ratio"] is None or not bool((unit["value"] > 0).all()):
        return False

    def fits(name):
        call, answer = calls[name], results[name]
        low, high = _band(call)
        weight = -unit["value"].sum().to(call["ratio"].dtype) * call["advantages"]
        plain, clipped = weight * call["ratio"], weight * call["ratio"].clip(low, high)
        loss, slope = -answer["value"], answer["gradients"]["ratio"]
        binds = clipped > plain
        wanted = torch.where(binds, torch.zeros_like(plain), weight.expand(plain.shape))
        at_an_end = ((call["ratio"] == low) | (call["ratio"] == high)) & (slope is not None)
        return (
            slope is not None
            and loss.dtype == plain.dtype
            and near(loss, torch.where(binds, clipped, plain))
            and near((-slope)[~at_an_end], wanted[~at_an_end])
        )

    return all(fits(name) for name in calls)
