"""The worksheet's model answers: what the numbers show for each question, measured over many seeds.

`course dev answer-key` runs the simulation and writes the answers for the reports (`worksheet/model_answers.json`) and
for the browser (`worksheet_answers.mjs`), which students read once they have handed in. The measurements alone go to
`reference/worksheet_key.json`, from which pages take their numbers.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ..core import course
from ..oracles import simulation
from ..oracles.simulation import Floats, Runs, Settings, simulate, single_peak, steps_until
from ..worksheet.model_answers import PATH as ANSWERS_PATH
from ..worksheet.questions import QUESTIONS

BROWSER_PATH = course.ROOT / "docs" / "assets" / "js" / "core" / "worksheet_answers.mjs"
MEASURED_PATH = course.MODEL_ANSWERS / "worksheet_key.json"
SEEDS = 1000
_BANNER = "Written by `course dev answer-key`; do not edit."
DEFAULT = Settings(reward_table=single_peak())
BEST = 6  # action 7, counted from 0


@dataclass(frozen=True)
class Answer:
    """What the numbers say to one question.

    Attributes:
        id: Of the question, as on the worksheet.
        question: In a few words.
        answer: What the numbers show, to a student; every number in it was measured.
        experiment: One that goes further, with its numbers; "" if none is needed.
        measured: Name of a quantity to its values, for the pages.
    """

    id: str
    question: str
    answer: str
    experiment: str = ""
    measured: Mapping[str, float | list[float]] = field(default_factory=dict)


class Measurements:
    """Runs by settings, made once each.

    Args:
        seeds: Runs of each setting, with the seeds 0, 1, 2, ...
    """

    def __init__(self, seeds: int) -> None:
        self.seeds = seeds
        self.runs = functools.cache(self._runs)

    def _runs(self, settings: Settings, steps: int) -> Runs:
        return simulate(settings, seeds=range(self.seeds), steps=steps)

    def best(self, settings: Settings, steps: int) -> Floats:
        """Probability of action 7 after every step, shape (seeds, steps + 1)."""
        curves: Floats = self.runs(settings, steps).probabilities[..., BEST]
        return curves


def first_look(runs: Measurements) -> list[Answer]:
    """Steps 1A and 1B: the start, and one step."""
    history = runs.runs(DEFAULT, 1)
    advantages = simulation.group_advantages(np.array(DEFAULT.reward_table)[history.actions[:, 0]])
    change = history.probabilities[:, 1] - history.probabilities[:, 0]  # (S, 10)
    drawn = (history.actions[:, 0, :, None] == np.arange(10)).any(axis=1)
    same_group = float((np.sort(history.actions[1:, 0]) == np.sort(history.actions[:1, 0])).all(axis=1).mean())
    summed = float(np.abs(advantages.sum(axis=1)).max())
    positive = float((advantages > 0).mean())
    up = [float((change[:, action] > 0).mean()) for action in range(10)]
    rises = float((change[~drawn] > 1e-12).mean())
    return [
        Answer(
            "1A.1",
            "Describe the initial policy.",
            f"Uniform: every action has probability 0.1, and the entropy is ln 10 = {history.entropy[0, 0]:.3f} nats.",
            measured={"probability": 0.1, "entropy": _short(history.entropy[0, 0])},
        ),
        Answer(
            "1A.2",
            "Which actions will gain probability in one step, and which will lose?",
            "Actions that were drawn and have a reward above the mean of the group gain; drawn ones below it lose. "
            f"What nobody drew never gains ({_share(rises)} of the cases). So action 7 gains in {_share(up[6])} of the "
            f"first steps, because it must be drawn, action 6 in {_share(up[5])}, and action 1 in {_share(up[0])}.",
            measured={"share of first steps in which each action gains": [_short(share) for share in up]},
        ),
        Answer(
            "1B.1",
            "Which samples got positive advantages? Do the advantages sum approximately to zero?",
            "Samples whose reward is above the mean of the group have a positive advantage, those below it a negative "
            f"one; {_share(positive)} are positive. The sum is zero, and that is no coincidence, because the mean is "
            f"subtracted from every reward: the largest of {runs.seeds} sums was {summed:.0e}, which is rounding.",
            measured={"share of samples with a positive advantage": _short(positive)},
        ),
        Answer(
            "1B.2",
            "How did the policy shift?",
            f"Little: one step moves the probability of action 7 by {_range(change[:, BEST], 3)}. What moved up "
            "was drawn and is above the mean of the group, as in the answer to 1A.2.",
            measured={"change of the probability of action 7": _quantiles(change[:, BEST])},
        ),
        Answer(
            "1B.3",
            "Reset and run one step again: the same samples?",
            "The samples are the same with the seed locked, and others with a new seed: they are random, and the seed "
            f"decides them. Another seed drew the same eight actions in {_share(same_group, 2)} of the cases.",
            measured={"share of seeds with the same group": _short(same_group)},
        ),
    ]


def convergence(runs: Measurements) -> list[Answer]:
    """Step 1C: fifty steps."""
    history, best = runs.runs(DEFAULT, 50), runs.best(DEFAULT, 50)
    first = steps_until(best, 0.5)
    rising = float((np.diff(history.entropy, axis=1) > 1e-9).mean())
    policy = np.quantile(history.probabilities[:, -1], (0.1, 0.5, 0.9), axis=0)
    return [
        Answer(
            "1C.1",
            "How many steps until pi(7) exceeds 0.5?",
            f"{_range(first, 0)}; 98 % of all runs are between {np.quantile(first, 0.01):.0f} and "
            f"{np.quantile(first, 0.99):.0f}.",
            measured={"steps": _quantiles(first, (0.01, 0.1, 0.5, 0.9, 0.99))},
        ),
        Answer(
            "1C.2",
            "Describe the entropy trend. What does it mean?",
            f"It falls from 2.303 nats to {_range(history.entropy[:, -1], 2)}: the policy becomes certain. It rose in "
            f"{_share(rising, 1)} of the steps, so most curves only fall.",
            measured={"entropy after 50 steps": _quantiles(history.entropy[:, -1])},
        ),
        Answer(
            "1C.3",
            "Record the final pi(a) after 50 steps.",
            f"pi(7) is {_range(best[:, -1], 3)}; the nine others together have less than {1 - policy[0, BEST]:.3f} in "
            "9 of 10 runs.",
            measured={
                "policy after 50 steps, low": [_short(p) for p in policy[0]],
                "policy after 50 steps, median": [_short(p) for p in policy[1]],
                "policy after 50 steps, high": [_short(p) for p in policy[2]],
            },
        ),
    ]


def group_size(runs: Measurements) -> list[Answer]:
    """Step 1D: groups of 2, 8 and 32."""
    ends = {size: runs.best(replace(DEFAULT, group_size=size), 50)[:, -1] for size in (2, 8, 32)}
    table = "; ".join(f"G = {size}: {_range(end, 3)}" for size, end in ends.items())
    spread = ", ".join(f"{np.ptp(end):.3f} for G = {size}" for size, end in ends.items())
    trials = {size: np.ptp(end[: len(end) // 3 * 3].reshape(-1, 3), axis=1) for size, end in ends.items()}
    apart = ", ".join(f"{np.median(each):.3f} for G = {size}" for size, each in trials.items())
    narrower = float((trials[32] < trials[2]).mean())
    ordered = float(((trials[32] < trials[8]) & (trials[8] < trials[2])).mean())
    low = float((ends[2] < 0.5).mean())
    return [
        Answer(
            "1D.1",
            "Record pi(7) after 50 steps for G = 2, 8 and 32.",
            f"{table}. Largest minus smallest of {runs.seeds} runs: {spread}.",
            measured={f"G = {size}": _quantiles(end, (0.01, 0.1, 0.5, 0.9, 0.99)) for size, end in ends.items()},
        ),
        Answer(
            "1D.2",
            "Which group size converges most consistently?",
            "The larger the group, the closer together they lie. Largest minus smallest of three trials (median): "
            f"{apart}. With G = 32 it is smaller than with G = 2 in {_share(narrower)} of the cases, and "
            f"{_share(ordered)} have all three in order. "
            "With G = 2 the yardstick is one other sample: the better of the two gets the advantage +1 and the other "
            f"-1, however good both are, and {_share(low)} of the runs are still below 0.5 after 50 steps. The mean of "
            "32 rewards is a steadier yardstick, and more samples average out.",
            measured={
                "range of G = 32 below that of G = 2": _short(narrower),
                "order 2, 8, 32": _short(ordered),
                "G = 2, pi(7) below 0.5": _short(low),
            },
        ),
    ]


def algorithms(runs: Measurements) -> list[Answer]:
    """Step 1E: GRPO beside REINFORCE."""
    settings = {
        "GRPO": DEFAULT,
        "GRPO without division by std": replace(DEFAULT, divide_by_std=False),
        "REINFORCE": replace(DEFAULT, algorithm="reinforce"),
        "REINFORCE + baseline": replace(DEFAULT, algorithm="reinforce_baseline"),
    }
    fast = {name: steps_until(runs.best(each, 200), 0.9) for name, each in settings.items()}
    rough = {name: _roughness(runs.runs(each, 200).entropy) for name, each in settings.items()}
    rising = {name: float((np.diff(runs.runs(each, 200).entropy) > 1e-9).mean()) for name, each in settings.items()}
    three = ("GRPO", "REINFORCE", "REINFORCE + baseline")
    smoothest = np.argmin(np.stack([rough[name] for name in three]), axis=0)
    share = {name: float((smoothest == place).mean()) for place, name in enumerate(three)}
    highest = _first_of([runs.runs(settings[name], 200).probabilities[:, -1].max(axis=1) for name in three])
    quickest = float((fast["GRPO"] < np.minimum(fast["REINFORCE"], fast["REINFORCE + baseline"])).mean())
    plus_5 = {
        name: replace(each, reward_table=tuple(r + 5 for r in each.reward_table)) for name, each in settings.items()
    }
    finds = {name: float((runs.best(each, 200)[:, -1] > 0.5).mean()) for name, each in plus_5.items()}
    noise = {name: _noise_to_signal(each) for name, each in settings.items()}
    noise_5 = {name: _noise_to_signal(each) for name, each in plus_5.items() if name != "REINFORCE + baseline"}
    return [
        Answer(
            "1E.1",
            "Which algorithm reaches the highest maximum probability fastest?",
            f"GRPO is the first in {_share(quickest)} of the comparisons, and after 200 steps it has the largest "
            f"probability in {_share(highest)}. Median number of steps until pi(7) is over 0.9: "
            f"{_listed({name: _median_steps(values) for name, values in fast.items()})}. The reason is the division by "
            "the standard deviation: as the policy improves, rewards differ less, and the division makes the "
            "differences large again, and so the steps. Without it GRPO is not faster than REINFORCE.",
            measured={name: _quantiles(values) for name, values in fast.items()},
        ),
        Answer(
            "1E.2",
            "Which has the smoothest entropy curve?",
            "Not that of GRPO. Measured by the second differences of the "
            f"entropy, the smoothest of the three is GRPO in {_share(share['GRPO'])}, REINFORCE in "
            f"{_share(share['REINFORCE'])} and REINFORCE with a baseline in {_share(share['REINFORCE + baseline'])} of "
            "the comparisons: the faster a policy moves, the rougher its curve. But the entropy of GRPO almost never "
            f"rises. Share of steps in which it rises: {_listed({name: _share(rising[name], 1) for name in three})}. "
            "Noisy updates undo each other and may push the policy towards a wrong action, so training takes longer or "
            "ends in the wrong place.",
            experiment="Add 5 to each reward and compare again. Share of runs with pi(7) over 0.5 after 200 steps: "
            f"{_listed({name: _share(value) for name, value in finds.items()})}.",
            measured={f"smoothest: {name}": _short(value) for name, value in share.items()}
            | {f"rewards + 5, finds the peak: {name}": _short(value) for name, value in finds.items()},
        ),
        Answer(
            "1E.3",
            "Why does GRPO have lower variance than vanilla REINFORCE?",
            "The mean does. The division by the standard deviation makes the updates of a sure policy larger and "
            "hardly changes their noise. Noise of one update at the uniform policy (variance over squared mean, lower "
            "is better): "
            f"{_listed({name: f'{value:.2f}' for name, value in noise.items() if name != 'REINFORCE + baseline'})}. "
            f"With 5 added to each reward: {_listed({name: f'{value:.3g}' for name, value in noise_5.items()})}.",
            measured={f"noise to signal: {name}": _short(value) for name, value in noise.items()}
            | {f"noise to signal, rewards + 5: {name}": _short(value) for name, value in noise_5.items()},
        ),
    ]


def reflection(_: Measurements) -> list[Answer]:
    """Step 1F: two questions without numbers."""
    return [
        Answer(
            "1F.1",
            "Why does group normalization replace the need for a critic network?",
            "A critic estimates how good a state is on average, so that a sample can be called better or worse than "
            "that. The mean of the rewards of a group of samples for the same prompt estimates the same number, and "
            "nothing has to be trained for it.",
        ),
        Answer(
            "1F.2",
            "How does this connect to language models?",
            "An action is a token, and a sample is a whole completion. The group is several completions of one prompt "
            "(DeepSeekMath sampled 64 for each question). The reward says how good a completion is: that of "
            "DeepSeek-R1-Zero checked by rules whether the answer was correct and had the right format. A critic would "
            "be a second model of about the same size, which must be kept in memory and trained.",
        ),
    ]


def kl_penalty(runs: Measurements) -> list[Answer]:
    """The bonus: a KL penalty of 0.30."""
    with_kl = replace(DEFAULT, kl_coef=0.3)
    plain, pulled = runs.best(DEFAULT, 50)[:, -1], runs.best(with_kl, 50)[:, -1]
    lower = float((pulled < plain).mean())
    long = runs.best(with_kl, 500)[:, -1]
    strong = runs.best(replace(DEFAULT, kl_coef=1.0), 500)[:, -1]
    no_std = replace(DEFAULT, divide_by_std=False, kl_coef=0.3, group_size=32)
    gibbs = np.exp(simulation.log_softmax(np.array(DEFAULT.reward_table) * (1 - 1 / 32) / 0.3))[BEST]
    settled = runs.best(no_std, 500)[:, -1]
    return [
        Answer(
            "bonus",
            "Set kl_coef to 0.30 and run 50 steps. What happens to convergence?",
            f"pi(7) after 50 steps is {_range(pulled, 3)} instead of {_range(plain, 3)}, lower in {_share(lower)} of "
            "the pairs of runs. But the policy is only slowed down, not held near its start: after 500 steps pi(7) is "
            f"{_range(long, 3)}, because the standard deviation of the rewards shrinks faster than the penalty grows. "
            "In a language model a KL penalty keeps the text fluent while the reward is being learned.",
            experiment=f"With beta = 1, pi(7) is {_range(strong, 3)} after 500 steps. Or switch the division by the "
            f"standard deviation off: with beta = 0.30 and G = 32 the policy settles at pi(7) = {_range(settled, 3)}; "
            f"theory for this group size, pi proportional to exp(r (1 - 1/G) / beta), says {gibbs:.3f}.",
            measured={
                "kl_coef 0, 50 steps": _quantiles(plain),
                "kl_coef 0.3, 50 steps": _quantiles(pulled),
                "lower with kl_coef 0.3": _short(lower),
                "kl_coef 0.3, 500 steps": _quantiles(long),
                "kl_coef 1, 500 steps": _quantiles(strong),
                "kl_coef 0.3, no division by std, G = 32, 500 steps": _quantiles(settled),
            },
        )
    ]


def local_optimum(runs: Measurements) -> list[Answer]:
    """Not on the worksheet: the experiment that shows what a group is good for."""
    biased = Settings(reward_table=simulation.double_peak(), start_action=3, start_logit=3.0, lr=0.3)
    sizes = (2, 4, 8, 16, 32, 64)
    ends = {size: runs.runs(replace(biased, group_size=size), 200).probabilities[:, -1, 7] for size in sizes}
    uniform = runs.runs(Settings(reward_table=simulation.double_peak()), 200).probabilities[:, -1, 7]
    found = {f"G = {size}": _share((end > 0.5).mean()) for size, end in ends.items()}
    return [
        Answer(
            "extra",
            "Does a larger group help to leave a local optimum?",
            "From the uniform policy nobody gets stuck: the higher peak is found in "
            f"{_share((uniform > 0.5).mean(), 1)} of the runs with G = 8, so the double peak alone does not show it.",
            experiment="Start biased to action 3 (logit 3, so pi(3) = 0.69), lr = 0.3, 200 steps. Share of runs that "
            f"find action 8: {_listed(found)}.",
            measured={f"G = {size}": _short((end > 0.5).mean()) for size, end in ends.items()},
        )
    ]


PARTS: tuple[Callable[[Measurements], list[Answer]], ...] = (
    first_look, convergence, group_size, algorithms, reflection, kl_penalty, local_optimum,
)  # fmt: skip


def texts(answers: list[Answer], seeds: int) -> dict[Path, str]:
    """Every file that the command writes, with its text."""
    return {
        ANSWERS_PATH: _as_json(answers, seeds),
        BROWSER_PATH: _for_the_browser(answers, seeds),
        MEASURED_PATH: _measurements(answers, seeds),
    }


def _as_json(answers: list[Answer], seeds: int) -> str:
    """The answers for reports."""
    entries = [{name: getattr(each, name) for name in ("id", "question", "answer", "experiment")} for each in answers]
    document = {"generated": _BANNER, "seeds": seeds, "answers": entries}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _for_the_browser(answers: list[Answer], seeds: int) -> str:
    """The answers to the written questions, with the signs of the page."""
    asked = {question.id for question in QUESTIONS}
    lines = [
        f"{json.dumps(each.id)}: {json.dumps(_as_on_the_page([each.answer, each.experiment]), ensure_ascii=False)},"
        for each in answers
        if each.id in asked
    ]
    return "\n".join(
        [
            f"// {_BANNER}",
            "// What the numbers show for each written question of the worksheet: an answer, and an experiment that",
            f'// goes further ("" if there is none). Measured over {seeds} seeds; loaded only after handing in.',
            "export const ANSWERS = {",
            *lines,
            "};",
            "",
        ]
    )


def _as_on_the_page(sentences: list[str]) -> list[str]:
    return [re.sub(r"\bpi\b", "\u03c0", re.sub(r"\bbeta\b", "\u03b2", text)) for text in sentences]


def _measurements(answers: list[Answer], seeds: int) -> str:
    """The numbers alone, with a line for each question."""
    lines = [f"{json.dumps(each.id)}: {json.dumps(each.measured)}" for each in answers if each.measured]
    numbers = ",\n".join(lines)
    return f'{{\n"generated": {json.dumps(_BANNER)},\n"seeds": {seeds},\n"measured": {{\n{numbers}\n}}\n}}\n'


def _roughness(entropy: Floats) -> Floats:
    """Root mean square of the second differences, for each run."""
    result: Floats = np.sqrt((np.diff(entropy, 2, axis=1) ** 2).mean(axis=1))
    return result


def _noise_to_signal(settings: Settings, groups: int = 20_000) -> float:
    """Variance of the first update over the squared length of its mean, at the uniform policy."""
    table = np.array(settings.reward_table)
    actions = np.random.default_rng(0).integers(0, len(table), size=(groups, settings.group_size))
    weights = table[actions]
    if settings.algorithm == "grpo":
        weights = simulation.group_advantages(weights, divide_by_std=settings.divide_by_std)
    start = np.zeros((groups, len(table)))
    updates, _ = simulation.policy_step(start, actions, weights, start, lr=1.0)
    mean = updates.mean(axis=0)
    return float(((updates - mean) ** 2).sum(axis=1).mean() / (mean**2).sum())


def _median_steps(values: Floats) -> str:
    middle = float(np.median(values))
    return "never" if math.isinf(middle) else f"{middle:.0f}"


def _listed(values: dict[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _range(values: Floats, digits: int) -> str:
    low, middle, high = np.quantile(values, (0.1, 0.5, 0.9), method="nearest").round(digits) + 0.0  # no -0.000
    return f"{middle:.{digits}f} ({low:.{digits}f} to {high:.{digits}f} in 8 of 10 runs)"


def _share(value: float, digits: int = 0) -> str:
    return f"{value * 100:.{digits}f} %"


def _first_of(values: list[Floats]) -> float:
    """Share of the runs in which the first of some algorithms has the largest value."""
    return float((np.argmax(np.stack(values), axis=0) == 0).mean())


def _quantiles(values: Floats, at: tuple[float, ...] = (0.1, 0.5, 0.9)) -> list[float]:
    return [_short(value) for value in np.quantile(values, at, method="nearest")]


def _short(value: float) -> float:
    """Four digits; a million stands for infinity, which JSON lacks."""
    return float(f"{min(float(value), 1e6):.4g}")
