"""The simulation in numpy: golden vectors, random numbers, finite differences, the model answers, closed forms."""

import json
import math
import re

import numpy as np
import pytest
import torch

from grader.core import course
from grader.oracles import simulation
from grader.oracles.sfc32 import uniforms
from grader.oracles.simulation import Settings, policy_step, simulate
from grader.workshop import golden
from reference.bandit import grpo_step, reinforce_step
from reference.given.bandit_task import BanditConfig

GOLDEN = json.loads(golden.PATH.read_text("utf-8"))
PEAK = simulation.single_peak()


# Golden vectors


def test_random_numbers_advantages_and_tables_are_those_of_the_golden_vectors():
    for row in GOLDEN["rng"]:
        assert uniforms([row["seed"]], 1000)[0, np.array(row["draws"]) - 1].tolist() == row["values"]
    for row in GOLDEN["advantages"]:
        options = {"divide_by_std": row["divide_by_std"], "correction": row["correction"]}
        found = simulation.group_advantages(np.array(row["rewards"]), **options)
        assert found == pytest.approx(row["advantages"], abs=1e-12)
    for row in GOLDEN["tables"]:
        arguments = {name: value for name, value in row.items() if name not in ("table", "rewards")}
        assert list(getattr(simulation, row["table"])(**arguments)) == row["rewards"]


@pytest.mark.parametrize("row", GOLDEN["runs"], ids=lambda row: f"seed_{row['seed']}")
def test_a_run_is_that_of_the_golden_vectors(row):
    settings = Settings(**{**row["settings"], "reward_table": tuple(row["settings"]["reward_table"])})
    # Beside another run, which must not matter.
    runs = simulate(settings, seeds=[99, row["seed"]], steps=200)
    after = GOLDEN["after"]
    assert "".join(map(str, runs.actions[1].ravel())) == row["actions"]
    assert runs.probabilities[1, after] == pytest.approx(np.array(row["policy"]), abs=1e-9)
    assert runs.entropy[1, after] == pytest.approx(row["entropy"], abs=1e-9)
    assert runs.kl[1, after] == pytest.approx(row["kl"], abs=1e-9)
    steps = np.array(after[1:]) - 1
    assert runs.mean_reward[1, steps] == pytest.approx(row["mean_reward"], abs=1e-9)
    assert runs.clip_fraction[1, steps] == pytest.approx(row["clip_fraction"], abs=1e-9)


def test_the_golden_runs_cover_every_setting():
    default = Settings(reward_table=PEAK)
    runs = [row["settings"] for row in GOLDEN["runs"]]
    for name in Settings.__dataclass_fields__:
        assert any(settings[name] != getattr(default, name) for settings in runs), name
    assert {settings["algorithm"] for settings in runs} == set(simulation.ALGORITHMS)
    assert {1, 2, 8, 16, 64} <= {settings["group_size"] for settings in runs}
    assert sum(max(row["clip_fraction"]) > 0 for row in GOLDEN["runs"]) >= 3


# Random numbers


def scalar_sfc32(seed, count):
    """The generator once more, one word at a time in whole numbers without a size."""
    a, b, c, counter, words = 0, seed, 0x9E3779B9, 1, []
    for _ in range(12 + 2 * count):
        word = (a + b + counter) % 2**32
        a, b, c = b ^ (b >> 9), (c + (c << 3)) % 2**32, (((c << 21) | (c >> 11)) + word) % 2**32
        counter += 1
        words.append(word)
    pairs = zip(words[12::2], words[13::2], strict=True)
    return [((high >> 5) * 2**26 + (low >> 6)) / 2**53 for high, low in pairs]


@pytest.mark.parametrize("seed", [0, 0x9E3779B9, 2**32 - 1])
def test_random_numbers_are_bit_for_bit_those_of_another_implementation(seed):
    assert uniforms([5, seed], 2000)[1].tolist() == scalar_sfc32(seed, 2000)


def test_random_numbers_depend_on_their_own_seed_and_begin_with_the_same() -> None:
    together = uniforms([3, 9, 3], 50)
    assert together.shape == (3, 50)
    assert (together[0] == together[2]).all() and (together[0] != together[1]).all()
    assert (together[1] == uniforms([9], 50)[0]).all() and (together[:, :20] == uniforms([3, 9, 3], 20)).all()
    assert uniforms([3], 0).shape == (1, 0) and uniforms([], 3).shape == (0, 3)


def test_neighbouring_seeds_are_unrelated() -> None:
    numbers = uniforms(range(100), 1000)
    assert numbers.mean() == pytest.approx(1 / 2, abs=4 * math.sqrt(1 / 12 / numbers.size))
    assert abs(np.diagonal(np.corrcoef(numbers), offset=1)).max() < 4.5 / math.sqrt(1000)


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_seed_out_of_range_is_refused(seed):
    with pytest.raises(ValueError, match=f"{seed}"):
        uniforms([1, seed], 1)


# One step


def policy(logits, temperature):
    weights = np.exp(logits / temperature)
    return weights / weights.sum()


@pytest.mark.parametrize(("temperature", "inner_steps"), [(0.5, 1), (1.0, 3), (2.0, 3)])
def test_an_update_follows_the_gradient_of_the_objective(temperature, inner_steps):
    generator = np.random.default_rng(4)
    logits, reference = generator.normal(size=(2, 5))
    actions, weights = np.array([0, 3, 3, 1, 0]), np.array([1.2, -0.4, 0.3, -1.1, 0.0])
    low, high, kl_coef, lr = 0.9, 1.1, 0.3, 0.7

    def objective(now):
        pi, ref = policy(now, temperature), policy(reference, temperature)
        ratio = pi[actions] / policy(logits, temperature)[actions]
        surrogate = np.minimum(ratio * weights, np.clip(ratio, low, high) * weights)
        return surrogate.mean() - kl_coef * (pi * np.log(pi / ref)).sum()

    def after(steps):
        options = {"lr": lr, "clip_eps": 0.1, "kl_coef": kl_coef, "inner_steps": steps, "temperature": temperature}
        new, binding = policy_step(logits[None], actions[None], weights[None], reference, **options)
        return new[0], binding[0]

    before, (found, binding) = after(inner_steps - 1)[0], after(inner_steps)
    nudges = 1e-5 * np.eye(5)
    differences = [(objective(before + nudge) - objective(before - nudge)) / 2e-5 for nudge in nudges]
    assert (found - before) / lr == pytest.approx(differences, abs=1e-8)
    assert (binding > 0) == (inner_steps > 1)
    assert found.sum() == pytest.approx(logits.sum(), abs=1e-12)


# Runs


def test_a_run_depends_on_its_own_seed_only():
    settings = Settings(reward_table=PEAK, algorithm="reinforce_baseline", inner_steps=2)
    together = simulate(settings, seeds=[4, 5, 4], steps=20)
    alone = simulate(settings, seeds=[5], steps=30)
    # Not bit for bit: numpy adds in another order when there is a single run.
    assert together.probabilities[1] == pytest.approx(alone.probabilities[0, :21], abs=1e-14)
    assert (together.actions[1] == alone.actions[0, :20]).all()
    assert (together.probabilities[0] == together.probabilities[2]).all()
    assert (together.actions[0] != together.actions[1]).any()


@pytest.mark.parametrize(
    "settings",
    [
        Settings(reward_table=PEAK, inner_steps=4, clip_eps=0.1, lr=2.0),
        Settings(reward_table=simulation.double_peak(), inner_steps=3, kl_coef=0.5, clip_eps=0.05),
        Settings(reward_table=simulation.linear(), group_size=64, inner_steps=2),
        Settings(reward_table=PEAK, algorithm="reinforce", group_size=16),
        Settings(reward_table=PEAK, algorithm="reinforce_baseline", group_size=2),
    ],
)
def test_the_model_answers_make_the_same_policies_from_the_same_actions(settings):
    runs = simulate(settings, seeds=[6], steps=60)
    names = ("group_size", "lr", "clip_eps", "kl_coef", "inner_steps", "algorithm")
    config = BanditConfig(**{name: getattr(settings, name) for name in names})
    table = torch.tensor(settings.reward_table, dtype=torch.float64)
    logits = start = torch.zeros(10, dtype=torch.float64)
    earlier: list[float] = []
    for step, group in enumerate(torch.tensor(runs.actions[0])):
        if settings.algorithm == "grpo":
            logits = grpo_step(logits, group, table[group], start, config)
        else:
            has_baseline = earlier and settings.algorithm == "reinforce_baseline"
            baseline = float(np.mean(earlier)) if has_baseline else 0.0
            logits = reinforce_step(logits, group, table[group], config, baseline=baseline)
        earlier += table[group].tolist()
        assert torch.softmax(logits, -1).numpy() == pytest.approx(runs.probabilities[0, step + 1], abs=1e-9)


@pytest.mark.parametrize(
    "settings",
    [
        Settings(reward_table=PEAK, group_size=1, inner_steps=3),
        Settings(reward_table=PEAK, group_size=1, divide_by_std=False, correction=1),
        Settings(reward_table=(0.7,) * 10),  # the mean of eight 0.7s is not 0.7
        Settings(reward_table=(0.7,) * 10, divide_by_std=False, correction=1, start_action=2, start_logit=1.0),
    ],
)
def test_groups_without_signal_never_move_the_policy(settings):
    runs = simulate(settings, seeds=[0, 1], steps=30)
    assert runs.zero_signal.all()
    assert (runs.probabilities == runs.probabilities[:, :1]).all()
    assert (runs.kl == 0).all() and (runs.clip_fraction == 0).all()


def test_without_division_the_first_step_is_the_centred_rewards_of_each_action():
    settings = Settings(reward_table=PEAK, divide_by_std=False, lr=0.8)
    runs = simulate(settings, seeds=range(5), steps=1)
    rewards = np.array(PEAK)[runs.actions[:, 0]]  # (R, G)
    chosen = runs.actions[:, 0, :, None] == np.arange(10)
    centred = (rewards - rewards.mean(axis=1, keepdims=True))[..., None]
    expected = np.exp(0.8 * (centred * chosen).mean(axis=1))
    assert runs.probabilities[:, 1] == pytest.approx(expected / expected.sum(axis=1, keepdims=True), abs=1e-12)


def test_a_critic_that_never_learns_equals_reinforce():
    critic = Settings(reward_table=PEAK, algorithm="actor_critic", critic_lr=0.0, clip_eps=None)
    reinforce = Settings(reward_table=PEAK, algorithm="reinforce")
    first, second = (simulate(settings, seeds=[1, 2], steps=50) for settings in (critic, reinforce))
    assert (first.actions == second.actions).all()
    assert first.probabilities == pytest.approx(second.probabilities, abs=1e-12)


def replay(settings, runs, baselines):
    """The policies that the recorded groups make when these baselines are subtracted from the rewards."""
    logits, start = np.zeros((1, 10)), np.zeros(10)
    for step, baseline in enumerate(baselines):
        actions = runs.actions[:, step]
        advantages = np.array(PEAK)[actions] - baseline
        logits, _ = policy_step(logits, actions, advantages, start, lr=settings.lr)
        yield policy(logits[0], 1.0)


def test_the_baselines_of_a_critic_and_of_a_running_mean() -> None:
    critic = Settings(reward_table=PEAK, algorithm="actor_critic", critic_lr=0.25, clip_eps=None)
    runs = simulate(critic, seeds=[3], steps=30)
    values = [0.0]
    for reward in runs.mean_reward[0, :-1]:
        values.append(0.75 * values[-1] + 0.25 * reward)  # lags one step
    assert list(replay(critic, runs, values)) == pytest.approx(runs.probabilities[0, 1:], abs=1e-12)
    running = Settings(reward_table=PEAK, algorithm="reinforce_baseline")
    runs = simulate(running, seeds=[3], steps=30)
    means = [runs.mean_reward[0, :step].mean() if step else 0.0 for step in range(30)]
    assert list(replay(running, runs, means)) == pytest.approx(runs.probabilities[0, 1:], abs=1e-12)


def test_samples_follow_the_policy_at_its_temperature():
    settings = Settings(reward_table=(0.0, 0.0, 0.0), temperature=2.0, start_action=2, start_logit=3.0, group_size=64)
    runs = simulate(settings, seeds=range(10), steps=100)
    expected = policy(np.array([0.0, 3.0, 0.0]), 2.0)
    assert runs.probabilities[0, 0] == pytest.approx(expected, abs=1e-15)
    shares = np.bincount(runs.actions.ravel(), minlength=3) / runs.actions.size
    assert shares == pytest.approx(expected, abs=4 * 0.5 / math.sqrt(runs.actions.size))


def test_the_recorded_quantities_agree_with_each_other():
    settings = Settings(reward_table=PEAK, group_size=2, start_action=7, start_logit=2.0)
    runs = simulate(settings, seeds=[1, 2], steps=40)
    pi, start = runs.probabilities, runs.probabilities[:, :1]
    assert runs.entropy == pytest.approx(-(pi * np.log(pi)).sum(axis=-1), abs=1e-12)
    assert runs.kl == pytest.approx((pi * np.log(pi / start)).sum(axis=-1), abs=1e-12)
    rewards = np.array(PEAK)[runs.actions]
    assert (runs.mean_reward == rewards.mean(axis=-1)).all()
    assert (runs.zero_signal == (rewards[..., 0] == rewards[..., 1])).all()
    assert runs.zero_signal.any() and not runs.zero_signal.all()


def test_the_first_step_above_a_threshold():
    curves = np.array([[0.1, 0.6, 0.4], [0.5, 0.5, 0.5], [0.9, 0.0, 0.0]])
    assert simulation.steps_until(curves, 0.5).tolist() == [1, math.inf, 0]


@pytest.mark.parametrize(
    "changes",
    [
        {"algorithm": "ppo"}, {"group_size": 0}, {"inner_steps": -1}, {"temperature": 0.0}, {"correction": 2},
        {"start_action": 0}, {"start_action": 11},
    ],
    ids=str,
)  # fmt: skip
def test_settings_out_of_range_are_refused(changes):
    with pytest.raises(ValueError, match=r"algorithm|out of range|start_action"):
        Settings(reward_table=PEAK, **changes)


def test_the_probabilities_on_the_page_are_those_of_a_run_with_seed_7() -> None:
    page = (course.ROOT / "docs/simulation.md").read_text("utf-8")
    rows = re.findall(r"^\| \w[\w ]+ \| (0\.[\d. |]+) \|$", page, re.M)
    run = simulate(Settings(reward_table=PEAK), seeds=[7], steps=20).probabilities[0]
    for numbers in (PEAK, run[0], run[20]):
        assert " | ".join(f"{number:.3f}" for number in numbers) in rows


@pytest.mark.parametrize(("size", "least", "most"), [(2, 0.5, 1.0), (64, 0.0, 0.02)])
def test_luck_decides_in_small_groups_only(size: int, least: float, most: float) -> None:
    settings = Settings(reward_table=PEAK, group_size=size)
    best = simulate(settings, seeds=range(100), steps=50).probabilities[:, 50, 6]
    low, high = np.quantile(best, (0.1, 0.9))
    assert least < high - low < most
