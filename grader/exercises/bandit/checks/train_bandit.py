"""Checks of `train_bandit`."""

import math
from dataclasses import replace

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from grader.grading.calls import Example
from grader.grading.check import check
from grader.grading.compare import Mismatch, close, no_global_randomness, record, require, show, tensor, untouched
from grader.oracles import simulation
from grader.oracles.recorded import NoRecord

from . import config, grpo_oracle, reinforce_oracle, setting, softmax

HISTORY = (
    "probabilities", "entropy", "kl", "max_probability", "actions", "mean_reward", "zero_signal", "clip_fraction",
)  # fmt: skip
TABLE = np.array([0.25, 1.0, 0.0, 0.5])
PEAK = np.array(simulation.single_peak()).round(1)


def history(answer, table, settings):
    """The fields of a history as arrays, after checking their types, dtypes and shapes."""
    steps, group, actions = setting(settings, "steps"), setting(settings, "group_size"), len(table)
    parts = record(answer, "BanditHistory", HISTORY)
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(HISTORY, (steps,))
    shapes |= {"probabilities": (steps + 1, actions), "actions": (steps, group)}
    shapes |= dict.fromkeys(("entropy", "kl", "max_probability"), (steps + 1,))
    # A clip fraction may be any float, because an earlier exercise's function computes it and promises no more.
    dtypes: dict[str, str | None] = dict.fromkeys(HISTORY, table.dtype.name)
    dtypes |= {"actions": "int64", "zero_signal": "bool", "clip_fraction": None}
    found = {}
    for name in HISTORY:
        try:
            found[name] = tensor(parts[name], shape=shapes[name], dtype=dtypes[name])
        except Mismatch as problem:
            message = "it is None" if parts[name].value is None else problem.message
            problem.message = f"the field {name} of the history: {message}"
            if getattr(parts[name].value, "shape", ())[:1] not in ((), shapes[name][:1]):
                first = "one at the start and " if shapes[name][0] > steps else ""
                problem.message += f", {first}one for each of {steps} steps; does the loop append in every step?"
            raise
    drawn = found["actions"].astype(np.int64)
    inside = bool(((drawn >= 0) & (drawn < actions)).all())
    message = f"actions are counted from 0 to {actions - 1}"
    require(inside, answer, [("actions", show(drawn))], message, shows="value.actions")
    return found | {"actions": drawn}


def curves_by_oracle(found, table, settings):
    """What follows from the recorded groups: policies, entropy, KL, and clip fractions."""
    logits = start = np.zeros(len(table))
    seen: list[float] = []
    clip_fraction, visited = [], [logits]
    for actions in found["actions"]:
        rewards = table[actions]
        if setting(settings, "algorithm") == "grpo":
            logits, binding = grpo_oracle(logits, actions, rewards, start, settings)
        else:
            with_baseline = setting(settings, "algorithm") == "reinforce_baseline" and seen
            baseline, binding = float(np.mean(seen)) if with_baseline else 0.0, 0.0
            logits = reinforce_oracle(logits, actions, rewards, setting(settings, "lr"), baseline)
        seen += [*rewards]
        clip_fraction.append(binding)
        visited.append(logits)
    logp = np.log(found["probabilities"])
    entropy, kl = simulation.entropy(logp), simulation.kl_divergence(logp, logp[:1])
    return softmax(np.stack(visited)), entropy, kl, np.array(clip_fraction)


def curves_by_own_steps(student, found, table, settings):
    """The same by the submission's own steps, in a handout, which has no oracle: each policy from the one before."""
    grpo, inner_steps = setting(settings, "algorithm") == "grpo", setting(settings, "inner_steps")
    start, rewards = np.zeros(len(table)), table[found["actions"]]
    logp = np.log(np.maximum(found["probabilities"].astype(np.float64), 1e-300))
    means = [0.0, *(rewards.mean(axis=1).cumsum() / np.arange(1, len(rewards) + 1))]
    with_baseline = setting(settings, "algorithm") == "reinforce_baseline"

    def stepped(config):
        steps = [*zip(logp[:-1], found["actions"], rewards, strict=True)]
        examples = [Example(*step, start, config) for step in steps]
        if not grpo:
            baselines = means if with_baseline else [0.0] * len(steps)
            pairs = zip(steps, baselines, strict=False)
            examples = [Example(*step, config, baseline=float(baseline)) for step, baseline in pairs]
        answers = student.each("grpo_step" if grpo else "reinforce_step", *examples) if examples else []
        return softmax(np.array([start, *(tensor(each, shape=start.shape, dtype=None) for each in answers)]))

    clip_fraction = np.zeros(len(rewards))
    with student.aside():
        expected = stepped(settings)
        entropy = tensor(student.policy_entropy(logp), shape=logp.shape[:1], dtype=None)
        if grpo and inner_steps > 1:
            before_the_last = stepped(config(**{**settings.fields, "inner_steps": inner_steps - 1}))[1:]
            ratio = np.take_along_axis(before_the_last / np.exp(logp[:-1]), found["actions"], axis=1)
            gain = rewards - rewards.mean(axis=1, keepdims=True)
            outside = np.abs(ratio - 1.0) > setting(settings, "clip_eps")
            clip_fraction = (outside & (gain * (ratio - 1.0) > 0)).mean(axis=1)
    return expected, entropy, math.log(len(table)) - entropy, clip_fraction


def replay(student, answer, found, table, settings, *, atol=1e-6):
    """Require that every policy of the history follows from the previous one and its recorded group."""
    table = table.astype(np.float64)
    try:
        expected, entropy, kl, clip_fraction = curves_by_oracle(found, table, settings)
    except NoRecord:
        expected, entropy, kl, clip_fraction = curves_by_own_steps(student, found, table, settings)
    wrong = ~(np.abs(found["probabilities"] - expected).max(axis=1) <= atol)
    if wrong.any():
        row = int(wrong.argmax())
        rows = [(f"policy {row}, yours", found["probabilities"][row]), ("expected", expected[row])]
        if row:
            rows.insert(0, ("its group", f"actions {show(found['actions'][row - 1])} counted from 0"))
        start_message = "the run must start from the uniform policy"
        message = (
            f"policy {row} does not follow from policy {row - 1} and the group between them" if row else start_message
        )
        group = f"value.actions[{row - 1}], " if row else ""
        require(False, answer, rows, message, shows=f"{group}value.probabilities[{row}]")
    rewards = table[found["actions"]]
    curves = {
        "entropy": entropy,
        "kl": kl,
        "max_probability": found["probabilities"].max(axis=1),
        "mean_reward": rewards.mean(axis=1),
        "zero_signal": (np.ptp(rewards, axis=1) == 0) if rewards.size else np.zeros(len(rewards), dtype=bool),
        "clip_fraction": clip_fraction,
    }
    # Rounding of the group's mean decides whether the clip binds for a reward at that mean.
    may_bind = setting(settings, "algorithm") == "grpo" and setting(settings, "inner_steps") > 1
    from_mean, spread = np.abs(rewards - rewards.mean(axis=1, keepdims=True)), np.ptp(rewards, axis=1, keepdims=True)
    doubtful = np.where(may_bind, (from_mean < 1e-6 * spread).mean(axis=1), 0.0)
    apart = np.abs(found["clip_fraction"] - curves["clip_fraction"])
    curves["clip_fraction"] = np.where(apart <= doubtful, found["clip_fraction"], curves["clip_fraction"])
    for name, curve in curves.items():
        part = replace(answer, part=f".{name}")
        close(part, found[name], curve.astype(np.float64), yours_label=f"your {name}", rtol=10 * atol, atol=atol)


@check(
    "train_bandit",
    points=4,
    gate=True,
    seconds=30.0,
    hints=(
        "A step has four parts: draw a group, look up its rewards, make new logits, append both to the lists.",
        "Append the new logits, not the old ones: the start is already in the list.",
        "Which logits does the next group come from?",
    ),
    examples=[
        Example(TABLE, config(group_size=5, steps=3), seed=1),
        Example(TABLE, config(group_size=5, steps=4, lr=1.0), seed=2),
    ],
)
def test_every_step_of_a_run_is_a_step_of_its_own_group(student, worked, fresh):
    """A run starts uniform, and each policy follows from the previous one by a grpo_step with its own group.

    The history records the groups, so this check replays the whole run. Its entropies start at ln 4 = 1.3863 for four
    actions. Which actions are sampled is random; their effect on the policy is not.
    """
    cases = [(TABLE, case.arguments[1], case.options["seed"]) for case, _ in worked]
    table = fresh.uniform(size=7).round(2)
    cases.append((table, config(group_size=5, steps=12, lr=0.8), int(fresh.integers(1 << 31))))
    for rewards, settings, seed in cases:
        answer = student.train_bandit(rewards, settings, seed=seed)
        replay(student, answer, history(answer, rewards, settings), rewards, settings)


@check(
    "train_bandit",
    points=2,
    needs=("every_step_of_a_run_is_a_step_of_its_own_group",),
    seconds=30.0,
    hints=(
        "The reference policy is where the run started. Does yours move with the policy?",
        "The clip fraction is 0 with one inner step, because the ratio is 1 in the first update.",
    ),
    examples=[
        Example(TABLE, config(group_size=6, steps=4, kl_coef=1.0), seed=3),
        Example(TABLE, config(group_size=6, steps=4, inner_steps=5, lr=0.6), seed=4),
        Example(TABLE, config(group_size=3, steps=3, kl_coef=1.0), seed=18),  # the second group has no signal
    ],
)
@given(seed=st.integers(0, 10_000), kl_coef=st.integers(0, 6), inner_steps=st.integers(1, 6))
def test_the_reference_policy_is_the_start_of_the_run(student, seed, kl_coef, inner_steps):
    """In every step, the KL is measured against the uniform initial policy, with any number of inner updates.

    A reference that moves with the policy penalizes nothing.
    """
    settings = config(group_size=3, steps=8, lr=0.8, kl_coef=kl_coef / 4, inner_steps=inner_steps)
    answer = student.train_bandit(TABLE, settings, seed=seed)
    replay(student, answer, history(answer, TABLE, settings), TABLE, settings)


@check(
    "train_bandit",
    points=3,
    needs=("every_step_of_a_run_is_a_step_of_its_own_group",),
    seconds=30.0,
    hints=(
        "Which of the three algorithms does config ask for, and which baseline goes with it?",
        "The running mean is over all rewards of all earlier steps. There are none in the first step.",
        "The group that is being learned from is not part of its own baseline.",
    ),
    examples=[
        Example(TABLE, config(group_size=4, steps=3, algorithm="reinforce"), seed=5),
        Example(TABLE, config(group_size=4, steps=5, algorithm="reinforce_baseline"), seed=6),
    ],
)
@example(seed=0, algorithm="reinforce_baseline", offset=1, steps=160)
@example(seed=1, algorithm="reinforce", offset=0, steps=160)
@given(
    seed=st.integers(0, 10_000),
    algorithm=st.sampled_from(["reinforce", "reinforce_baseline"]),
    offset=st.integers(-2, 2),
    steps=st.integers(2, 8),
)
def test_reinforce_runs_with_and_without_a_baseline(student, seed, algorithm, offset, steps):
    """The algorithm comes from the config; the baseline is the mean of all rewards from earlier steps, 0 at first.

    A baseline computed from the group itself would change the mean gradient.
    """
    table, settings = TABLE + offset, config(group_size=3, steps=steps, algorithm=algorithm)
    answer = student.train_bandit(table, settings, seed=seed)
    replay(student, answer, history(answer, table, settings), table, settings)


@check(
    "train_bandit",
    points=2,
    needs=("every_step_of_a_run_is_a_step_of_its_own_group",),
    seconds=30.0,
    hints=(
        "Is a group kept as it was drawn, whatever its rewards are?",
        "Every sample is drawn on its own, with replacement: what the others are, or were, does not matter.",
        "One generator for the whole run: a new generator in every step draws the same numbers again.",
    ),
    examples=[
        Example(TABLE, config(group_size=6, steps=4, lr=0.0), seed=8),
        Example(np.array([0.0, 0.0, 1.0]), config(group_size=2, steps=6, lr=0.0), seed=19),
    ],
)
def test_samples_are_independent_of_each_other(student, fresh):
    """A policy that does not learn draws evenly, and no sample depends on another one, in its group or in its run.

    Four seeds are tested together: groups of two, of which half carry no signal, and groups of four. A correct set of
    runs exceeds the limits of 32 and 48, of chi-square distributions with 4 and 9 degrees of freedom, or the 5 standard
    deviations of a count, once in 90,000 times; of 40,000 such sets, the farthest reached 28 and 42.
    """
    cases = [
        (np.array([0.0, 0.0, 1.0]), config(group_size=2, steps=80, lr=0.0), 32.0),
        (np.array([0.0, 0.2, 1.0, 0.4]), config(group_size=4, steps=30, lr=0.0), 48.0),
    ]
    seeds = [int(seed) for seed in fresh.integers(1 << 31, size=4)]
    for table, settings, most in cases:
        answers = student.each("train_bandit", *(Example(table, settings, seed=seed) for seed in seeds))
        drawn = np.stack([history(answer, table, settings)["actions"] for answer in answers])  # (seeds, steps, G)
        counts = np.bincount(drawn.reshape(-1), minlength=len(table))
        mean = drawn.size / len(table)
        rows = [("how often each was drawn with four seeds", show(counts)), ("expected, about", f"{mean:.0f} each")]
        even = np.abs(counts - mean) < 5 * math.sqrt(mean * (1 - 1 / len(table)))
        message = "a uniform policy draws evenly, and a group is kept as it was drawn"
        require(even.all(), answers[0], rows, message, shows="value.actions.unique(return_counts=True)")
        first, second = np.triu_indices(drawn.shape[-1], 1)
        pairs = {"samples of one group": (drawn[..., first], drawn[..., second])}
        pairs |= {f"samples {lag} step{'s' * (lag > 1)} apart": (drawn[:, :-lag], drawn[:, lag:]) for lag in (1, 2)}
        for what, (left, right) in pairs.items():
            distance = dependence(left, right, len(table))
            rows = [
                (f"share of equal pairs, {what}", f"{(left == right).mean():.3f}"),
                ("expected, about", f"{1 / len(table):.3f}"),
                ("chi-square of these pairs", f"{distance:.0f}; must be below {most:.0f}"),
            ]
            message = f"{what} must be independent, and a group is kept as it was drawn, with signal or without"
            require(distance < most, answers[0], rows, message, shows="value.actions[:8]")


def dependence(first, second, actions):
    """Pearson's chi-square of independence of two samples, from all pairs of them."""
    counts = np.zeros((actions, actions))
    np.add.at(counts, (first.reshape(-1), second.reshape(-1)), 1)
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0, keepdims=True) / counts.sum()
    return float(((counts - expected) ** 2 / np.maximum(expected, 1e-9)).sum())


@check(
    "train_bandit",
    points=2,
    needs=("every_step_of_a_run_is_a_step_of_its_own_group",),
    seconds=30.0,
    call_seconds=25.0,  # four runs in one message: right answers with loops took more than 5 s on a busy machine
    hints=(
        "Which policy draws the group of step 20: the initial, the reference, or the current one?",
        "The most probable action is not always the one drawn, and an improbable one is drawn at times.",
        "Is the distribution exactly softmax(logits): no temperature, no floor, no exploration?",
    ),
    examples=[Example(np.array([0.0, 1.0, 0.0]), config(group_size=6, steps=4, lr=3.0), seed=7)],
)
def test_groups_come_from_the_present_policy(student, fresh):
    """Each group is sampled from the policy of its own step, with exactly its probabilities.

    Three seeds are tested together, with thresholds at 5 standard deviations. Of 800 correct sets of runs, the farthest
    reached 3.3, while samples at a temperature of 1.05 reach 10 on average, and those from the policy of the step
    before reach 15. The last test is not statistical: after a huge step the policy is certain and samples only one
    action.
    """
    moving = config(group_size=512, steps=20, lr=2.5, kl_coef=0.7)
    huge = config(group_size=16, steps=3, lr=100.0)
    table = np.array([0.0, 0.2, 1.0, 0.4])
    wide = np.array([0.0, 0.2, 1.0, 0.4, 0.1, 0.0, 0.3, 0.5])
    cases = [(wide, moving), (wide, moving), (wide, moving), (table, huge)]
    seeds = [int(seed) for seed in fresh.integers(1 << 31, size=4)]
    calls = [Example(*case, seed=seed) for case, seed in zip(cases, seeds, strict=True)]
    answers = student.each("train_bandit", *calls)
    found = [history(each, *case) for each, case in zip(answers, cases, strict=True)]
    for answer, run in zip(answers[:3], found, strict=False):
        replay(student, answer, run, wide, moving)
    many, brief = np.linspace(0.0, 1.0, 5000), config(group_size=64, steps=4, lr=0.0)  # each has a chance of 0.02 %
    answer = student.train_bandit(many, brief, seed=seeds[0])
    different = len(np.unique(history(answer, many, brief)["actions"]))
    rows = [("different actions among 256 of 5,000", str(different)), ("expected, about", "250; must be at least 200")]
    require(different >= 200, answer, rows, "improbable actions are never drawn", shows="value.actions.unique()")
    policies = np.concatenate([run["probabilities"][:-1] for run in found[:3]])
    actions = np.concatenate([run["actions"] for run in found[:3]])
    rare = (policies < 0.05).astype(np.float64)
    for what, values in (("surprise", -np.log(policies)), ("number of rare actions", rare)):
        z = deviation(values, policies, actions)
        label = f"{what} with three seeds, in standard deviations from what is expected"
        rows = [(label, f"{z:.1f}"), ("must be", "between -5 and 5")]
        few = "improbable actions are too rare: is the best one always taken, or the tail cut off?"
        message = "improbable actions are too common: another policy drew" if z > 0 else few
        require(abs(z) < 5, answers[0], rows, message, shows="value.actions[-3:], value.probabilities[-4:]")
    chances = np.take_along_axis(found[3]["probabilities"][:-1], found[3]["actions"], axis=1)
    impossible = int((chances < 1e-9).sum())
    rows = [("samples with a probability of 0", str(impossible)), ("expected", "0")]
    message = "a group was not drawn from the policy of its own step"
    require(impossible == 0, answers[3], rows, message, shows="value.actions, value.probabilities")


def deviation(values, policies, actions):
    """Distance of the sum of all samples' values from its expectation, in standard deviations."""
    mean = (policies * values).sum(axis=1, keepdims=True)  # (steps, 1)
    variance = (policies * (values - mean) ** 2).sum()
    found = np.take_along_axis(values, actions, axis=1) - mean
    return found.sum() / math.sqrt(actions.shape[1] * variance + 1e-12)


@check(
    "train_bandit",
    points=2,
    seconds=30.0,
    hints=(
        "Where do your random numbers come from, and does other code in the process use the same generator?",
        "A generator of your own, made from the seed, leaves the global one alone.",
    ),
    examples=[Example(TABLE, config(group_size=4, steps=2), seed=9), Example(TABLE, config(steps=1), seed=10)],
)
def test_the_seed_decides_and_nothing_global_does(student, fresh):
    """The same seed gives the same history, a different seed a different one; global random state is not used.

    A result that cannot be repeated cannot be checked. A function that seeds the global generator changes the random
    numbers of all other code. If each step made a generator from seed + step, two neighboring seeds would share groups.
    """
    settings, (one, other) = config(steps=10), (int(seed) for seed in fresh.integers(1 << 31, size=2))
    calls = [
        Example(TABLE, settings, seed=seed, watch_random=True, return_arguments=True) for seed in (one, one, other)
    ]
    answer, again, different = student.each("train_bandit", *calls)
    untouched(answer)
    first, second, third = (history(each, TABLE, settings) for each in (answer, again, different))
    changed = answer.random_changed or again.random_changed or different.random_changed
    own = "use a generator of your own"
    for name in HISTORY:
        rows = [(f"{name}, first time", first[name].reshape(-1)[:12]), ("again", second[name].reshape(-1)[:12])]
        message = "the same seed gave another history" + (
            f"; the global random state of {changed} was changed: {own}" if changed else ""
        )
        same_again = (first[name] == second[name]).all()
        require(same_again, again, rows, message, shows=f"value.{name}", beside=[answer])
    rows = [("actions with one seed", first["actions"][:2]), ("with another", third["actions"][:2])]
    others = (first["actions"] != third["actions"]).any()
    require(others, different, rows, "two seeds gave the same groups", shows="value.actions", beside=[answer])
    still, neighbors = config(group_size=16, steps=4, lr=0.0), (one, one + 1)
    runs = student.each("train_bandit", *(Example(TABLE, still, seed=seed) for seed in neighbors))
    drawn, next_drawn = (history(each, TABLE, still)["actions"] for each in runs)
    shared = (drawn[:, None] == next_drawn[None]).all(axis=-1)
    rows = [("groups that the seeds n and n + 1 share", str(int(shared.sum()))), ("expected", "0")]
    message = "the seeds n and n + 1 drew the same groups: make one generator for the whole run, not one per step"
    require(not shared.any(), runs[1], rows, message, shows="value.actions", beside=runs[:1])
    one, brief = one % (1 << 20), config(group_size=24, steps=1, lr=0.0)
    all_to_20 = math.lcm(*range(1, 21))  # the rest of a division by any of these is the same
    apart = [0, all_to_20, *(1 << power for power in range(1, 31)), *(10**power for power in range(1, 10))]
    runs = student.each("train_bandit", *(Example(TABLE, brief, seed=one + step) for step in apart))
    drawn = [tuple(history(each, TABLE, brief)["actions"][0]) for each in runs]
    twins = [step for step, group in enumerate(drawn) if step and group == drawn[0]]
    twin = twins[0] if twins else 0
    rows = [("these seeds draw the same", f"{one} and {one + apart[twin]}"), ("expected", "different actions")]
    require(
        not twins, runs[twin], rows, "the history must depend on the whole seed", shows="value.actions", beside=runs[:1]
    )
    for each in (answer, again, different):
        no_global_randomness(each, own)


@check(
    "train_bandit",
    points=1,
    needs=("the_seed_decides_and_nothing_global_does",),
    seconds=30.0,
    hints=(
        "The advantages have no unit. Does anything else in your loop look at the rewards?",
        "REINFORCE has no such protection: is it really REINFORCE that runs?",
    ),
    examples=[
        Example(4096 * TABLE + 4096, config(group_size=4, steps=3), seed=11),
        Example(TABLE + 1.0, config(group_size=4, steps=3, algorithm="reinforce"), seed=11),
    ],
)
def test_rewards_in_another_unit_give_the_same_run(student, fresh):
    """With one seed, GRPO makes the same run for rewards r and a * r + b; REINFORCE does not.

    This is the strongest test of a loop that needs no threshold: a shift changes every reward but no advantage.
    """
    seed, grpo = int(fresh.integers(1 << 31)), config(group_size=6, steps=20)
    reinforce = config(group_size=6, steps=20, algorithm="reinforce")
    table = 1024 * TABLE  # in this unit, the 1e-8 added to the std is negligible
    first, other = student.each(
        "train_bandit", Example(table, grpo, seed=seed), Example(4 * table + 2048, grpo, seed=seed)
    )
    before, after = history(first, table, grpo), history(other, table, grpo)
    rows = [("last policy, yours", after["probabilities"][-1]), ("with rewards r", before["probabilities"][-1])]
    same_run = np.abs(before["probabilities"] - after["probabilities"]).max() < 1e-6
    message = "GRPO made another run for a * r + b than for r"
    require(same_run, other, rows, message, shows="value.probabilities[-1]", beside=[first])
    first, other = student.each(
        "train_bandit", Example(TABLE, reinforce, seed=seed), Example(TABLE + 1.0, reinforce, seed=seed)
    )
    before, after = history(first, TABLE, reinforce), history(other, TABLE, reinforce)
    moved = np.abs(before["probabilities"] - after["probabilities"]).max() > 1e-3
    rows = [("last policy", after["probabilities"][-1]), ("with rewards 1 less", "the same, and must be another")]
    message = "REINFORCE must notice a shift of the rewards"
    require(moved, other, rows, message, shows="value.probabilities[-1]", beside=[first])


@check(
    "train_bandit",
    points=1,
    seconds=30.0,
    hints=("With equal rewards, or with one sample, what are the advantages?",),
    examples=[
        Example(np.full(3, 0.7), config(group_size=3, steps=2), seed=12),
        Example(TABLE, config(group_size=1, steps=3), seed=13),
        Example(TABLE, config(group_size=2, steps=0), seed=14),
    ],
    refuses=[
        Example(table, config(group_size=2, steps=1), seed=0)
        for table in (TABLE[None], np.array([1.0, np.nan]), np.array([1.0, np.inf]))
    ],
)
@given(seed=st.integers(0, 10_000), single=st.booleans())
def test_a_run_without_signal_stays_uniform(student, seed, single):
    """Equal rewards, or groups of one, never move the policy; every step is marked as without signal.

    Entropy stays at ln K. REINFORCE can learn with G = 1, GRPO cannot. The given code in the stub rejects an invalid
    reward table with a ValueError.
    """
    table = TABLE if single else np.full(4, 0.7)
    settings, none = config(group_size=1 if single else 5, steps=6), config(steps=0)
    answer, empty = student.each("train_bandit", Example(table, settings, seed=seed), Example(table, none, seed=seed))
    history(empty, table, none)
    found = history(answer, table, settings)
    rows = [("last policy, yours", found["probabilities"][-1]), ("expected", "uniform")]
    still = np.abs(found["probabilities"] - 0.25).max() < 1e-9
    require(still, answer, rows, "a run without signal moved", shows="value.probabilities[-1]")
    rows = [("zero_signal, yours", show(found["zero_signal"])), ("expected", "True in every step")]
    require(found["zero_signal"].all(), answer, rows, "all are without signal", shows="value.zero_signal")


@check(
    "train_bandit",
    points=2,
    needs=("every_step_of_a_run_is_a_step_of_its_own_group", "groups_come_from_the_present_policy"),
    seconds=60.0,
    hints=(
        "Plot it: `python -m starter.run_bandit`. Where does the probability go?",
        "If every step is right and the run is not, look at which policy draws the groups.",
    ),
    examples=[],
)
def test_it_finds_the_peak(student, fresh, show_curve):
    """With G = 16 and three seeds, pi(7) is over 0.5 within 40 steps and over 0.8 after 50, with entropy below 0.6.

    Of 1,000,000 correct runs, 14 missed one of the three thresholds, so three runs fail by bad luck 4 times in 100,000.
    """
    settings = config(group_size=16)
    for seed in fresh.integers(1 << 31, size=3):
        answer = student.train_bandit(PEAK, settings, seed=int(seed))
        found = history(answer, PEAK, settings)
        best, entropy = found["probabilities"][:, 6], found["entropy"]
        show_curve("Probability of the best action", best, y="probability")
        show_curve("Mean reward of the group", found["mean_reward"], y="mean reward", first=1)
        replay(student, answer, found, PEAK, settings)
        over = np.flatnonzero(best > 0.5)
        first = f"after {over[0]} steps" if len(over) else "never"
        rows = [
            ("pi(7) over 0.5", f"{first}; must be within 40 steps"),
            ("pi(7) after 50", f"{best[-1]:.3f}; must be over 0.8"),
            ("entropy", f"{entropy[0]:.3f} at the start, {entropy[-1]:.3f} at the end; must be 2.303 and below 0.6"),
        ]
        starts = abs(entropy[0] - math.log(10)) < 1e-6
        good = len(over) > 0 and over[0] <= 40 and best[-1] > 0.8 and entropy[-1] < 0.6 and starts
        require(good, answer, rows, "the run does not find the peak", shows="value.probabilities[:, 6]")


@check(
    "train_bandit",
    points=2,
    dtype=True,
    needs=("it_finds_the_peak",),
    seconds=60.0,
    hints=("Is the best action, the number of actions, or a reward hard-coded?",),
    examples=[
        Example(np.array([1.0, 0.0], dtype=np.float32), config(group_size=3, steps=2), seed=15),
        Example(np.array([0, 3, 1]), config(group_size=3, steps=2), seed=16),
    ],
)
def test_it_learns_on_other_tables_too(student, fresh):
    """Other peaks, two peaks, few actions, four inner updates: the best action ends over 0.5 (G = 16, 50 steps).

    Float32 tables and whole numbers give float32 histories. Chance hardly matters on these tables: of 100,000 correct
    runs on each, 3 with four inner updates failed, and no others. So two good runs are enough there, of three at most.
    """
    peak = int(fresh.integers(4, 9))
    cases = [
        (np.array(simulation.single_peak(peak)).round(1), peak, 1, 1),
        (np.array(simulation.double_peak(), dtype=np.float32), 8, 1, 1),
        (np.array([1, 0, 3]), 3, 1, 1),
        (PEAK, 7, 4, 2),
    ]
    for table, best, inner_steps, needed in cases:
        settings = config(group_size=16, inner_steps=inner_steps)
        floats = table.astype(np.float32) if table.dtype == np.int64 else table
        ends: list[float] = []
        while sum(end > 0.5 for end in ends) < needed:
            answer = student.train_bandit(table, settings, seed=int(fresh.integers(1 << 31)))
            found = history(answer, floats, settings)
            replay(student, answer, found, floats, settings, atol=1e-6 if floats.dtype == np.float64 else 1e-3)
            ends.append(found["probabilities"][-1, best - 1])
            of_runs = "over 0.5 in two of three runs" if needed > 1 else "over 0.5"
            rows = [(f"probability of action {best} at the end", np.array(ends)), ("expected", of_runs)]
            learns = sum(end <= 0.5 for end in ends) < needed
            require(learns, answer, rows, "it does not learn", shows="value.probabilities[-1]")
    settings = config(group_size=16, steps=200, lr=2.0)  # long after the policy is nearly certain
    answer = student.train_bandit(PEAK, settings, seed=int(fresh.integers(1 << 31)))
    replay(student, answer, history(answer, PEAK, settings), PEAK, settings)
