"""Hidden checks for `laws.py`: the laws against the wrong answers to exercises 1 to 3 that the grader knows.

The known answers are the texts in `misconceptions/` and `variants/` of those exercises, put into the model answer's
module all at once: one worker for each law runs them, and no line of a submission is in it. What the law is shown
is the same for each of them: numbers, in an order that is drawn. Besides the variants, answers that are mistakes in
their own exercise and keep the law are right here, and so are sums of right ones with drawn weights, which are in no
file.

A law that says no to a right one is shown the smallest call that it refuses. Where it can be, that is one of the calls
for the seeds of the practice runs, in which nothing comes from the secret of a class.

Left out: wrong answers that keep the law (`KEEPS`): of other options, of rounding below any tolerance, in place.
"""

from __future__ import annotations

import ast
import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from grader.core import course
from grader.core.contents import read_submission
from grader.core.submission import Submission
from grader.exercises.laws.checks import (
    ESTIMATE,
    LAWS,
    SEEDS,
    Calls,
    Law,
    Run,
    caught,
    drawn_calls,
    no_to_a_right_one,
    require_caught,
    smallest_refused,
)
from grader.grading.check import check
from grader.grading.student import Answer, Call, Example, StudentError, Tensor

DRAWS = 2
"""As many times calls are drawn."""
BLENDS = 2
"""As many sums of right answers are drawn."""
HALF, MOST, ALL = 0.5, 0.75, 0.95
"""Shares of the wrong answers that earn points. The model laws catch them all; of twenty, one may be missed."""


@dataclass(frozen=True)
class Known:
    """How a known answer is called, and what it is for a law.

    Attributes:
        name: Of the function in `misconceptions/`; empty for the model answer.
        kind: Of its mistake, in words that tell a student where to look; for a right one, what is special about it.
        options: Of the call, where it takes another than the usual one.
    """

    name: str
    kind: str
    options: tuple[tuple[str, object], ...] = ()


RIGHT = {
    "advantages": [
        Known("divides_by_group_size_minus_one", "divides by the sample standard deviation"),
        Known("never_divides", "only subtracts the mean"),
        Known("leave_one_out_baseline", "compares with the mean of the others"),
        Known("divides_by_the_variance", "divides by the variance"),
        Known("copies_the_eps_of_a_library", "adds a larger epsilon"),
    ],
    "surrogate": [],
    "divergence": [
        Known("swaps_the_two_policies", "measures in the other direction"),
        Known("measures_in_bits", "measures in bits"),
        Known("averages_over_the_actions", "divides by the number of actions"),
    ],
    "estimate": [Known("", "is k1", (("kind", "k1"),))],
}
"""Answers to exercises 1 to 3 that keep a law, beside the model answer and its variants."""

_CENTRED_ONLY = (("divide_by_std", False),)
_K1 = (("kind", "k1"),)

WRONG = {
    "advantages": [
        Known("subtracts_the_wrong_way_round", "the sign"),
        Known("first_sample_as_baseline", "a mean that is not 0"),
        Known("divides_only_the_mean", "a mean that is not 0"),
        Known("raw_rewards_when_not_dividing", "a mean that is not 0", _CENTRED_ONLY),
        Known("whole_batch_statistics", "other groups count"),
        Known("group_mean_but_batch_std", "other groups count"),
        Known("statistics_over_the_first_axis", "another axis"),
        Known("forgets_keepdim", "another axis"),
        Known("flattens_the_groups", "another shape"),
        Known("group_of_one_becomes_nan", "a group of one"),
        Known("group_of_one_keeps_its_reward", "a group of one"),
        Known("equal_rewards_become_noise", "equal rewards"),
        Known("only_a_std_of_exactly_zero_is_safe", "equal rewards"),
        Known("leaves_rounding_error_undivided", "equal rewards", _CENTRED_ONLY),
        Known("equal_check_over_whole_batch", "equal rewards beside other groups"),
        Known("close_rewards_count_as_equal", "rewards that are nearly equal"),
        Known("one_pass_variance", "large rewards"),
        Known("clips_advantages_to_two", "one success among many"),
        Known("group_is_always_axis_one", "more or fewer axes"),
        Known("squeezes_axes_of_size_one", "a batch of one group"),
        Known("falls_to_float32", "the dtype"),
        Known("rises_to_float64", "the dtype"),
    ],
    "surrogate": [
        Known("minimum_before_advantage", "bad samples above the band"),
        Known("always_clipped", "a clip that lets a sample off"),
        Known("larger_of_the_two", "the larger product in place of the smaller"),
        Known("smaller_of_two_losses", "the larger product in place of the smaller"),
        Known("never_clipped", "no clip"),
        Known("upper_bound_only", "no clip below the band"),
        Known("lower_bound_only", "no clip above the band"),
        Known("loss_instead_of_objective", "the sign"),
        Known("band_around_zero", "where the band lies"),
        Known("clips_the_product", "advantages of other sizes"),
        Known("advantage_inside_the_band", "advantages of other sizes"),
        Known("drops_negative_advantages", "bad samples"),
        Known("mean_over_all_elements", "another shape"),
        Known("one_eps_for_both_sides", "clip_eps_high"),
        Known("swaps_the_two_eps", "clip_eps_high"),
        Known("upper_eps_zero_means_unset", "clip_eps_high of 0"),
        Known("hard_coded_band", "another clip_eps"),
        Known("eps_zero_switches_clip_off", "clip_eps of 0"),
        Known("band_of_the_log_ratio", "where the band ends"),
        Known("takes_the_log_of_the_bounds", "a clip_eps above 1"),
        Known("dual_clip", "bad samples far above the band"),
        Known("divides_by_absolute_advantage", "an advantage of 0"),
        Known("one_advantage_per_row", "advantages that broadcast"),
        Known("gradient_through_the_clip", "the gradient where the clip binds"),
        Known("no_gradient_outside_the_band", "the gradient outside the band"),
        Known("detaches_the_ratio", "no gradient"),
        Known("surrogate_in_float64", "the dtype"),
        Known("rebuilt_from_python_numbers", "no gradient"),
        Known("clamps_the_ratio_in_place", "an argument that is changed"),
    ],
    "divergence": [
        Known("weights_with_the_reference", "below 0"),
        Known("weights_all_actions_alike", "below 0"),
        Known("assumes_a_uniform_reference", "equal policies"),
        Known("returns_the_cross_entropy", "equal policies"),
        Known("treats_logits_as_log_probabilities", "logits that are moved"),
        Known("normalises_only_the_weights", "logits that are moved"),
        Known("averages_over_the_first_axis", "another shape"),
        Known("sums_over_every_axis", "another shape"),
        Known("keeps_the_action_axis", "another shape"),
        Known("normalises_over_the_first_axis", "another axis"),
        Known("hard_codes_axis_one", "more or fewer axes"),
        Known("takes_the_log_of_softmax", "probabilities near 0"),
        Known("exponentiates_without_shifting", "large logits"),
        Known("gives_kl_div_plain_probabilities", "probabilities near 0"),
        Known("trusts_the_library_divergence", "probabilities near 0"),
        Known("detaches_the_weights", "a gradient that is not that of the value"),
        Known("computes_without_gradient", "no gradient"),
        Known("passes_gradient_to_ref_logits", "a gradient of the reference"),
        Known("returns_double_precision", "the dtype"),
        Known("shifts_the_logits_in_place", "an argument that is changed"),
    ],
    "estimate": [
        Known("reverses_the_ratio_in_k3", "biased"),
        Known("forgets_the_minus_of_k1", "the sign", _K1),
        Known("takes_the_magnitude_for_k1", "biased", _K1),
        Known("leaves_out_the_minus_one", "equal policies"),
        Known("adds_the_log_ratio", "biased"),
        Known("mixes_up_k2_and_k3", "biased"),
        Known("weights_by_probability_again", "biased"),
        Known("divides_log_probabilities", "biased"),
        Known("averages_over_the_samples", "another shape"),
        Known("sums_over_the_last_axis", "another shape"),
        Known("clamps_the_log_ratio", "policies that are far apart"),
        Known("clamps_the_estimate", "policies that are far apart"),
        Known("divides_probabilities", "long completions"),
        Known("passes_gradient_to_ref_logp", "a gradient of the reference"),
        Known("detaches_logp", "no gradient"),
        Known("detaches_the_ratio_in_k3", "a gradient that is not that of the value"),
        Known("gives_k3_the_gradient_of_k2", "a gradient that is not that of the value"),
        Known("falls_to_float32", "the dtype"),
        Known("computes_with_python_floats", "no gradient"),
    ],
}
"""Wrong answers that break a law, with the kind of their mistake."""

KEEPS = {
    "advantages": {
        *("divides_although_told_not_to", "ignores_std_eps", "larger_of_std_and_eps", "eps_as_threshold"),
        *("eps_inside_the_root", "adds_eps_after_dividing"),
        *("integer_rewards_give_integers", "changes_rewards_in_place"),
    },
    "surrogate": set(),
    "divergence": {"adds_a_constant_inside_the_log"},
    "estimate": {
        *("forgets_the_half_of_k2", "ignores_kind", "writes_exp_minus_one", "clamps_the_rounding_error_away"),
        "overwrites_ref_logp",
    },
}
"""Wrong answers of exercises 1 to 3 that no law can tell, and that are neither right nor wrong here."""


def known_answers(law: Law, ours):
    """All known answers to the function of a law, in one worker, and the names of the variants among them."""
    name, function = law.of.split(".")
    exercise, model = course.exercise(name), read_submission(course.MODEL_ANSWERS)
    text, names = model.files[exercise.file_name], {}
    for folder in ("misconceptions", "variants"):
        own = (exercise.folder / folder / f"{function}.py").read_text("utf-8")
        names[folder] = [
            node.name for node in ast.parse(own).body if isinstance(node, ast.FunctionDef) and node.name[0] != "_"
        ]
        # Each file in a scope of its own: they have helpers of the same name.
        taken = "".join(f"    globals()[{each!r}] = {each}\n" for each in names[folder])
        text += f"\n\ndef _{folder}():\n{textwrap.indent(own, '    ')}\n{taken}\n_{folder}()\n"
    tail = exercise.signature(function).removeprefix(function)
    all_of_them = (function, *names["misconceptions"], *names["variants"])
    called = replace(exercise, functions=tuple(f"{each}{tail}" for each in all_of_them))
    submission = Submission("known answers", Path("known"), {**model.files, exercise.file_name: text}, {})
    return ours(called, submission), names["variants"]


def run_of(student, law: Law, calls: Sequence[Calls], known: Known) -> Run:
    """What a known answer makes of the calls of a law."""
    examples = [
        Example(
            *(call[name] for name in law.tensors),
            gradients_of=law.gradients,
            **_options(law, call, known),
        )
        for each in calls
        for call in each.values()
    ]
    try:
        answers = iter(student.each(known.name or law.of.split(".")[1], *examples))
    except StudentError:
        return None
    return [{name: _result(law, next(answers)) for name in each} for each in calls]


def _options(law: Law, call, known: Known):
    return {name: call[name] for name in law.numbers if name in call} | dict(known.options)


def _result(law: Law, answer: Answer) -> dict[str, object]:
    gradients = {name: answer.gradients[name] for name in law.gradients}
    return {
        "value": answer.value.array if isinstance(answer.value, Tensor) else np.array(np.nan),
        "gradients": {name: None if each is None else each.array for name, each in gradients.items()},
    }


def blend(law: Law, runs: Sequence[Sequence[Calls]], weights: Sequence[float]) -> Run:
    """The sum of runs of right answers, each times its weight: what a right function in no file would answer."""

    def total(parts):
        if any(part is None for part in parts):
            return None
        return sum(weight * part for weight, part in zip(weights, parts, strict=True)).astype(parts[0].dtype)

    def result(parts):
        gradients = {name: total([part["gradients"][name] for part in parts]) for name in law.gradients}
        return {"value": np.asarray(total([part["value"] for part in parts])), "gradients": gradients}

    return [{name: result([run[place][name] for run in runs]) for name in calls} for place, calls in enumerate(runs[0])]


def right_ones(law: Law, variants: Sequence[str]) -> dict[str, Known]:
    """The known right answers, by what is special about them."""
    model = {"is the model answer": Known("", "")}
    relatives = {each.kind: each for each in RIGHT[law.name]}
    return model | relatives | {f"is written in another way ({name})": Known(name, "") for name in variants}


def right_runs(student, law: Law, variants: Sequence[str], calls: Sequence[Calls], fresh) -> dict[str, Run]:
    """Runs of right functions, by what is special about them."""
    found = {name: run_of(student, law, calls, known) for name, known in right_ones(law, variants).items()}
    parts = [run for run in [*found.values()][: 1 + len(RIGHT[law.name])] if run is not None]
    for number in range(BLENDS if parts else 0):
        weights = fresh.uniform(0.1, 2.0, size=len(parts))
        weights /= weights.sum() if law is ESTIMATE else 1.0
        found[f"mixes right ones, number {number + 1}"] = blend(law, parts, weights)
    return found


@dataclass(frozen=True)
class Refusal:
    """A right function that a law says no to.

    Attributes:
        name: What is special about it.
        call: In which the law says no.
        is_public: Whether nothing in the call is drawn from the secret of a class.
    """

    name: str
    call: Call
    is_public: bool


@dataclass(frozen=True)
class Tally:
    """What became of a law.

    Attributes:
        asked: The call that asked for its calls, for a seed that everybody knows.
        refusal: A right function that it says no to; None if there is none.
        found: Names of the wrong ones that it says no to.
    """

    asked: Call
    refusal: Refusal | None
    found: set[str]


def tally(student, law: Law, ours, fresh) -> Tally:
    """Show a law the runs of all known answers."""
    seeds = [int(seed) for seed in fresh.integers(0, 1_000_000, size=DRAWS)]
    drawn, asked = drawn_calls(student, law, [*SEEDS, *seeds])
    public, calls = drawn[: len(SEEDS)], drawn[len(SEEDS) :]
    answers, variants = known_answers(law, ours)
    right = right_runs(answers, law, variants, calls, fresh)
    wrong = {f"wrong: {each.name}": run_of(answers, law, calls, each) for each in WRONG[law.name]}
    found = caught(student, law, calls, {**right, **wrong}, asked, fresh)
    refusal = None
    if found & right.keys():
        student.apart()  # what it has seen shall not decide which calls are shown
        others = {name: run_of(answers, law, public, known) for name, known in right_ones(law, variants).items()}
        refusal = _refusal(student, law, public, others, found, is_public=True)
        refusal = refusal or _refusal(student, law, calls, right, found, is_public=False)
        refusal = refusal or Refusal(next(name for name in right if name in found), asked, is_public=True)
    return Tally(asked, refusal, {*wrong} & found)


def _refusal(student, law: Law, calls: Sequence[Calls], right, found: set[str], *, is_public: bool) -> Refusal | None:
    """The first right function, of those that a law says no to, for which it does so with these calls, too."""
    accepted = next((run for name, run in right.items() if name not in found), None)
    for name, run in right.items():
        if name in found:
            try:
                refused = smallest_refused(student, law, calls, run, accepted)
            except StudentError as error:  # a no, too
                refused = error.call
            if refused:
                return Refusal(name, refused, is_public)
    return None


def require_share(student, law: Law, share: float, ours, once) -> None:
    """Require that a law says yes to all right functions, and catches a share of the wrong ones."""
    found = once(lambda fresh: tally(student, law, ours, fresh))
    if refusal := found.refusal:
        told = {"may_be_told": True} if refusal.is_public else {"story_may_be_told": True}
        raise no_to_a_right_one(law, refusal.call, refusal.name, **told)
    kinds = {f"wrong: {each.name}": each.kind for each in WRONG[law.name]}
    require_caught(found.asked, found.found, kinds, enough=math.ceil(share * len(kinds)), may_be_told=True)


_SHARES = {
    "half": (
        HALF,
        """`{holds}` catches half of the wrong answers that the grader knows.

    These are answers to exercises 1 to 3 that graders have seen, by name. Each is run on your calls. The law must
    also say yes to the model answer, to right answers in other styles, and to right functions that are in no file:
    a law with a false alarm counts for nothing.
    """,
    ),
    "most": (
        MOST,
        """`{holds}` catches three quarters of the wrong answers that the grader knows.

    What is left after the first half is wrong in corners only: where something is 0, equal, alone, large, or not at
    its default.
    """,
    ),
    "as_many_as_the_model_law": (
        ALL,
        """`{holds}` catches 95 of 100 wrong answers that the grader knows, as the model law does.

    The last ones have the right numbers: their gradient, dtype or shape is wrong, and a plot of the values shows
    nothing.
    """,
    ),
}


def _declare(law: Law, name: str, share: float, words: str) -> None:
    """The check of one share, with the words that all laws have for it."""

    def test(student, ours, once) -> None:
        require_share(student, law, share, ours, once)

    test.__name__, test.__doc__ = f"test_{law.name}_law_catches_{name}", words.format(holds=law.holds)
    globals()[test.__name__] = check(law.holds, points=2)(test)


for _law in LAWS.values():
    for _name, (_share, _words) in _SHARES.items():
        _declare(_law, _name, _share, _words)
