"""Correct laws for `advantages_hold` in other styles; a fair grader accepts them all.

Each public function takes the place of the model answer's `advantages_hold` in a copy of its module.
"""

# The names of the given code come from the model answer's module, which is put in front of this file when it runs.
# ruff: noqa: F821

import torch


def all_pairs_of_a_group(calls, results):
    """The differences of all pairs of advantages, in proportion to those of the rewards: no length, no mean."""
    values = {name: each["value"] for name, each in results.items()}
    for name, call in calls.items():
        rewards, value = call["rewards"], values[name]
        if (value.shape, value.dtype) != (rewards.shape, rewards.dtype) or not value.isfinite().all():
            return False
        if not near(value.sum(dim=-1), torch.zeros_like(value[..., 0]), tolerance=1e-4):
            return False
        gaps = rewards[..., :, None] - rewards[..., None, :]
        answered = value[..., :, None] - value[..., None, :]
        if (answered[gaps > 0] <= 0).any():
            return False
        # Of two gaps the larger one is as many times larger in the answer.
        scale = answered.amax(dim=(-1, -2), keepdim=True) / gaps.amax(dim=(-1, -2), keepdim=True).clamp(min=1e-30)
        if not near(answered, scale * gaps, tolerance=1e-4):
            return False
        if (value[(gaps == 0).all(dim=-1).all(dim=-1)] != 0).any():
            return False
    return (
        near(values["alone"], values["together"][:1])
        and near(values["one axis"], values["together"][0])
        and near(values["three axes"], values["together"].unsqueeze(1))
        and near(values["moved"], values["together"], tolerance=1e-4)
    )


def group_by_group_in_python(calls, results):
    """Python numbers and loops over the groups; a slope from the best and the worst sample."""

    def is_right(group, answer):
        best, worst = group.index(max(group)), group.index(min(group))
        if group[best] == group[worst]:
            return all(number == 0 for number in answer)
        slope = (answer[best] - answer[worst]) / (group[best] - group[worst])
        mean = sum(group) / len(group)
        wanted = [slope * (reward - mean) for reward in group]
        largest = max(map(abs, wanted))
        return slope > 0 and all(abs(a - b) <= 1e-4 * largest for a, b in zip(answer, wanted, strict=True))

    for name, call in calls.items():
        rewards, value = call["rewards"], results[name]["value"]
        if value.shape != rewards.shape or value.dtype != rewards.dtype:
            return False
        size = rewards.shape[-1]
        groups = zip(rewards.reshape(-1, size).tolist(), value.reshape(-1, size).tolist(), strict=True)
        if not all(is_right(group, answer) for group, answer in groups):
            return False
    together = results["together"]["value"].tolist()
    others = [results["alone"]["value"][0], results["one axis"]["value"], results["three axes"]["value"][0, 0]]
    others.append(results["moved"]["value"][0])
    return all(abs(a - b) < 1e-4 for other in others for a, b in zip(other.tolist(), together[0], strict=True))


def correlation_of_one(calls, results):
    """A correlation of 1 between rewards and advantages in each group, which is what a positive multiple means."""
    for name, call in calls.items():
        rewards, value = call["rewards"].double(), results[name]["value"]
        if value.shape != rewards.shape or value.dtype != call["rewards"].dtype:
            return False
        centred = rewards - rewards.mean(dim=-1, keepdim=True)
        signal = (rewards != rewards[..., :1]).any(dim=-1)
        if not (value[~signal] == 0).all():
            return False
        own, theirs = value.double()[signal], centred[signal]
        cosine = torch.nn.functional.cosine_similarity(own, theirs, dim=-1, eps=1e-30)
        sums = own.sum(dim=-1) / own.abs().sum(dim=-1)
        if not (near(cosine, torch.ones_like(cosine), tolerance=1e-7) and near(sums, 0 * sums)):
            return False
    first = results["together"]["value"][0]
    return all(near(results[name]["value"].reshape(-1)[:5], first, tolerance=1e-4) for name in _OTHER_CALLS)


_OTHER_CALLS = ("alone", "one axis", "three axes", "moved")


def one_helper_for_each_sentence(calls, results):
    """A list of small functions, one for each sentence of the docstring; all of them must agree."""
    sentences = [_same_kind, _mean_of_zero, _zeros_where_due, _in_proportion]
    pairs = [(calls[name]["rewards"], results[name]["value"]) for name in calls]
    return all(sentence(rewards, value) for rewards, value in pairs for sentence in sentences) and all(
        near(results[name]["value"].flatten()[:5], results["together"]["value"].flatten()[:5], tolerance=1e-4)
        for name in _OTHER_CALLS
    )


def _same_kind(rewards, value):
    return value.shape == rewards.shape and value.dtype == rewards.dtype


def _mean_of_zero(_, value):
    return near(value.mean(dim=-1), torch.zeros(value.shape[:-1], dtype=value.dtype))


def _zeros_where_due(rewards, value):
    equal = rewards.amax(dim=-1) == rewards.amin(dim=-1)
    return bool(((value != 0).any(dim=-1) == ~equal).all())


def _in_proportion(rewards, value):
    spread = rewards.amax(dim=-1, keepdim=True) - rewards.amin(dim=-1, keepdim=True)
    height = (rewards - rewards.amin(dim=-1, keepdim=True)) / torch.where(spread > 0, spread, 1)
    least, most = value.amin(dim=-1, keepdim=True), value.amax(dim=-1, keepdim=True)
    return near(value, least + height * (most - least), tolerance=1e-4)
