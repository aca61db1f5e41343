"""Why the checks of one function failed: the differences from the model answer that its numbers show, or a pattern.

A set of known differences that makes exactly the submission's numbers is named (`smallest_set`). Only where there is
none does the report describe the numbers: what they have in common with the right ones (`patterns`), or which calls are
wrong (`which_calls`). A description must hold for the call that is shown, and for other wrong answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from ..core.result import NEVER_COMPUTED, NamedMistake
from . import differences, patterns, which_calls
from .check import Check
from .findings import Failure
from .meanings import HEADINGS, PAGE, Meaning, Pattern
from .patterns import CAUSES, CONDITIONS, common_pattern
from .recorded_answers import Observation, RecordedAnswer, agree, is_random
from .smallest_set import Explanation, Key, Search

Observed = Sequence[tuple[RecordedAnswer, Observation]]
"""Worked examples of a function, each with how a submission answers it."""
_ByKey = Mapping[Key, tuple[RecordedAnswer, Observation]]


@dataclass(frozen=True)
class Reasons:
    """What the report says of a function.

    Attributes:
        mistakes: What is named, check by check.
        shown: Check to the index of the worked example that shows it.
        exact: Whether a set of known differences makes all answers to the worked examples.
    """

    mistakes: list[NamedMistake] = field(default_factory=list)
    shown: dict[str, int] = field(default_factory=dict)
    exact: bool = False


def reasons(
    checks: Mapping[str, Check],
    observed: Observed,
    known: Mapping[str, NamedMistake],
    failing: Sequence[str],
    failures: Mapping[str, Failure],
    raised: Set[str] = frozenset(),
) -> Reasons:
    """What explains the failing checks of a function.

    Args:
        checks: The checks of the grading by id.
        observed: Every worked example of the function with the submission's observation.
        known: The function's known mistakes by name.
        failing: Ids of the failing checks, in order.
        failures: The calls that checks failed for, by id of the check.
        raised: Ids of checks that show an error with its meaning, so that their numbers need no description.
    """
    by_key = dict(_keyed(observed))
    if not by_key:
        return Reasons()
    explanation, wrong = _explanation(by_key)
    found = Reasons(exact=explanation is not None and explanation.exact)
    for check in failing:
        wrong_here = [key for key in by_key if key.check == check and key in wrong]
        shown = _most_telling(explanation, wrong_here)
        mistakes = list(_named(explanation, known, check, wrong_here, shown, is_first=not found.mistakes))
        if not mistakes and check not in raised:
            pattern, shown = _pattern(checks, by_key, wrong_here, failures.get(check))
            mistakes = [_described(checks[check], *pattern)] if pattern else []
        found.mistakes.extend(mistakes)
        if shown is not None:
            found.shown[check] = shown.example
    return found


def _keyed(observed: Observed) -> Iterator[tuple[Key, tuple[RecordedAnswer, Observation]]]:
    counts: Counter[str] = Counter()
    for recorded, observation in observed:
        yield Key(recorded.check, counts[recorded.check]), (recorded, observation)
        counts[recorded.check] += 1


def _explanation(by_key: _ByKey) -> tuple[Explanation | None, Set[Key]]:
    """The smallest set of known differences that makes a function's answers, and the examples with a wrong answer."""
    (recorded, _), *_ = by_key.values()
    table = differences.load(recorded.check.split(".")[0]).get(recorded.function)
    answers = {key: observation for key, (_, observation) in by_key.items()}
    right = {key: recorded.expected for key, (recorded, _) in by_key.items()}
    if table is None:
        return None, {key for key in answers if not agree(answers[key], right[key])}
    search = Search(table, answers, right)
    best = search.best()
    raised = {key for key, observation in answers.items() if "raises" in observation}
    return best and _without_vague_errors(best, raised), search.wrong_keys


def _without_vague_errors(explanation: Explanation, raised: Set[Key]) -> Explanation:
    """A set that does not explain all answers, without the errors that may have another cause.

    Many lines raise the same error of torch, such as one about shapes. So a set explains errors only if each of its
    differences also shows in numbers.
    """
    numbers = explanation.explains - raised
    shown = {name for key in numbers for name in explanation.shows.get(key, ())}
    if explanation.exact or shown.issuperset(explanation.names):
        return explanation
    return replace(explanation, explains=numbers)


def _most_telling(explanation: Explanation | None, wrong_here: Sequence[Key]) -> Key | None:
    """The explained wrong answer to an example of a check in which most of the differences show."""
    if explanation is None:
        return None
    explained = [key for key in wrong_here if key in explanation.explains]
    return max(explained, key=lambda key: (len(explanation.shows.get(key, ())), -key.example), default=None)


def _named(
    explanation: Explanation | None,
    known: Mapping[str, NamedMistake],
    check: str,
    wrong_here: Sequence[Key],
    shown: Key | None,
    *,
    is_first: bool,
) -> Iterator[NamedMistake]:
    """The differences that a check shows, those in the shown call first; the first check also gets all others."""
    if explanation is None or not _explains(explanation, wrong_here, is_first=is_first):
        return
    in_call = explanation.shows.get(shown, ()) if shown else ()
    in_check = {name for key in wrong_here for name in explanation.shows.get(key, ())}
    for name in sorted(explanation.names, key=lambda name: name not in in_call):
        if name in in_call or (explanation.exact and (name in in_check or is_first)):
            is_shown = name in in_call or (shown is None and bool(wrong_here))
            yield replace(known[name], check=check, everywhere=explanation.exact, shown=is_shown)


def _explains(explanation: Explanation, wrong_here: Sequence[Key], *, is_first: bool) -> bool:
    """Whether a set may be named next to a check: it makes the check's wrong answers, all of them if it is not exact.

    The first check that fails gets an exact set even if the check has no wrong answer to a worked example.
    """
    if not wrong_here:
        return is_first and explanation.exact
    explained = [key in explanation.explains for key in wrong_here]
    return any(explained) if explanation.exact else all(explained)


def _pattern(
    checks: Mapping[str, Check], by_key: _ByKey, wrong_here: Sequence[Key], failure: Failure | None
) -> tuple[Pattern | None, Key | None]:
    """What a check's wrong numbers have in common, and the worked example that shows it.

    Runs get no description, because a right one may draw other numbers.
    """
    if failure and failure.pattern:
        return failure.pattern, None
    answers = {key: _wrong_answer(checks[key.check], key, *by_key[key]) for key in by_key if key.check in checks}
    certain = {
        key: answer
        for key, answer in answers.items()
        if answer and not is_random(checks[key.check].examples[key.example])
    }
    here = [key for key in wrong_here if key in certain]
    if not here:
        return None, None
    everywhere, in_check = [*certain.values()], [certain[key] for key in here]
    pattern = common_pattern(everywhere, CAUSES) if len(everywhere) > 1 else None
    pattern = pattern or common_pattern(in_check, CAUSES, numbers=3) or common_pattern(in_check, CONDITIONS)
    return pattern or _wrong_calls(checks, by_key), here[0]


def _wrong_calls(checks: Mapping[str, Check], by_key: _ByKey) -> Pattern | None:
    """Which calls of a function are wrong."""
    calls = [
        (checks[key.check].call(checks[key.check].examples[key.example]), agree(observation, recorded.expected))
        for key, (recorded, observation) in by_key.items()
        if key.check in checks
    ]
    sentence = which_calls.which_are_wrong(calls)
    return ("calls", sentence) if sentence else None


def _wrong_answer(
    check: Check, key: Key, recorded: RecordedAnswer, observation: Observation
) -> patterns.WrongAnswer | None:
    if agree(observation, recorded.expected) and not observation.get("left"):
        return None
    return patterns.wrong_answer(check.call(check.examples[key.example]).handed_over, observation, recorded.expected)


def _described(check: Check, heading: str, sentence: str) -> NamedMistake:
    """A pattern, explained under its heading on the page of general patterns."""
    page, (_, explanation) = f"{PAGE}#seen-{heading}", HEADINGS[heading]
    return NamedMistake(check.id, False, page, check.function, heading, sentence, explanation, observed=True)


def about_error(check: Check, meaning: Meaning) -> NamedMistake:
    """What an error means that ended the call of a check, and what to type."""
    described = _described(check, "exception", f"{NEVER_COMPUTED}{meaning.means}")
    return replace(described, explanation=f"{meaning.fix[:1].upper()}{meaning.fix[1:]}.")


def dependence_on_earlier_calls(check: Check) -> NamedMistake:
    """The answer to a call depends on earlier ones."""
    sentence = "different if this call is made alone in a new process: they depend on earlier calls"
    return replace(_described(check, "earlier_calls", sentence), everywhere=True)
