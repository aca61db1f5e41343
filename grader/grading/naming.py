"""Why the checks of one function failed: the differences from the model answer that its numbers show, or a pattern.

A set of known differences that makes exactly the submission's numbers is named (`smallest_set`). Only where there is
none does the report describe the numbers: what they have in common with the right ones (`patterns`), or which calls are
wrong (`which_calls`). A description must hold for the call that is shown, and for other wrong answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from ..core.result import NamedMistake
from . import differences, patterns, which_calls
from .check import Check
from .observations import HEADINGS, PAGE
from .patterns import CAUSES, PLACES, common_pattern
from .plugin import Failure
from .recorded_answers import Observation, RecordedAnswer, agree, is_random
from .smallest_set import Explanation, Key, Search

Observed = Sequence[tuple[RecordedAnswer, Observation]]
"""Worked examples of a function, each with what a submission makes of it."""


@dataclass(frozen=True)
class Reasons:
    """What the report says of a function.

    Attributes:
        mistakes: What is named, check by check.
        shown: Check to the place of the worked example that shows it.
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
) -> Reasons:
    """What explains the failing checks of a function.

    Args:
        checks: The checks of the grading by id.
        observed: Every worked example of the function with the submission's observation.
        known: The function's known mistakes by name.
        failing: Ids of the failing checks, in order.
        failures: The calls that checks failed for, by id of the check.
    """
    by_key = dict(_keyed(observed))
    if not by_key:
        return Reasons()
    explanation, wrong = _explanation(by_key)
    found = Reasons(exact=explanation is not None and explanation.exact)
    for check in failing:
        wrong_here = [key for key in by_key if key[0] == check and key in wrong]
        mistakes: list[NamedMistake] = []
        if explanation:
            mistakes = list(_named(explanation, known, check, wrong_here, is_first=not found.mistakes))
            place = _most_telling(explanation, wrong_here)
        if not mistakes:
            pattern, place = _pattern(checks, by_key, check, wrong_here, failures.get(check))
            mistakes = [_observation(checks[check], *pattern)] if pattern else []
        found.mistakes.extend(mistakes)
        if place is not None:
            found.shown[check] = place
    return found


def _explanation(
    by_key: Mapping[Key, tuple[RecordedAnswer, Observation]],
) -> tuple[Explanation | None, Set[Key]]:
    """The smallest set of known differences that makes a function's answers, and the examples with a wrong answer."""
    (recorded, _), *_ = by_key.values()
    table = differences.load(recorded.check.split(".")[0]).get(recorded.function)
    answers = {key: observation for key, (_, observation) in by_key.items()}
    right = {key: recorded.expected for key, (recorded, _) in by_key.items()}
    if table is None:
        return None, {key for key in answers if not agree(answers[key], right[key])}
    search = Search(table, answers, right)
    return search.best(), search.wrong_keys


def _keyed(observed: Observed) -> Iterator[tuple[Key, tuple[RecordedAnswer, Observation]]]:
    places: dict[str, int] = {}
    for recorded, observation in observed:
        place = places.get(recorded.check, 0)
        places[recorded.check] = place + 1
        yield (recorded.check, place), (recorded, observation)


def _named(
    explanation: Explanation,
    known: Mapping[str, NamedMistake],
    check: str,
    wrong_here: Sequence[Key],
    *,
    is_first: bool,
) -> Iterator[NamedMistake]:
    """The differences that a check shows, those in the shown call first; the first check also gets all others."""
    explained = [key for key in wrong_here if key in explanation.explains]
    if not explained and (wrong_here or not (is_first and explanation.exact)):
        return
    if explanation.exact or explained == list(wrong_here):
        place = _most_telling(explanation, wrong_here)
        here = explanation.shows.get((check, place), ()) if place is not None else ()
        of_check = {name for key in wrong_here for name in explanation.shows.get(key, ())}
        for name in sorted(explanation.names, key=lambda name: name not in here):
            if name in here or (explanation.exact and (name in of_check or is_first)):
                is_shown = name in here or place is None
                yield replace(known[name], check=check, everywhere=explanation.exact, shown=is_shown)


def _most_telling(explanation: Explanation, wrong_here: Sequence[Key]) -> int | None:
    """The place of the worked example of a check in which most of the differences show."""
    explained = [key for key in wrong_here if key in explanation.explains]
    best = max(explained, key=lambda key: (len(explanation.shows.get(key, ())), -key[1]), default=None)
    return None if best is None else best[1]


def _pattern(
    checks: Mapping[str, Check],
    by_key: Mapping[Key, tuple[RecordedAnswer, Observation]],
    check: str,
    wrong_here: Sequence[Key],
    failure: Failure | None,
) -> tuple[tuple[str, str] | None, int | None]:
    """What a check's wrong numbers have in common, and the place of the worked example that shows it.

    Runs get no description, because a right one may draw other numbers.
    """
    if failure and failure.observation:
        return failure.observation, None
    answers = {key: _wrong_answer(checks[key[0]], key, *by_key[key]) for key in by_key if key[0] in checks}
    certain = {
        key: answer for key, answer in answers.items() if answer and not is_random(checks[key[0]].examples[key[1]])
    }
    here = [certain[key] for key in wrong_here if key in certain]
    if not here:
        return None, None
    place = next(key[1] for key in wrong_here if key in certain)
    everywhere = [*certain.values()]
    pattern = common_pattern(everywhere, CAUSES) if len(everywhere) > 1 else None
    pattern = pattern or common_pattern(here, CAUSES, numbers=3) or common_pattern(here, PLACES)
    if pattern is None:
        calls = [
            (checks[key[0]].call(checks[key[0]].examples[key[1]]), agree(observation, recorded.expected))
            for key, (recorded, observation) in by_key.items()
            if key[0] in checks
        ]
        sentence = which_calls.which_are_wrong(calls)
        pattern = ("calls", sentence) if sentence else None
    return pattern, place


def _wrong_answer(
    check: Check, key: Key, recorded: RecordedAnswer, observation: Observation
) -> patterns.WrongAnswer | None:
    if agree(observation, recorded.expected) and not observation.get("left"):
        return None
    return patterns.wrong_answer(check.call(check.examples[key[1]]).handed_over, observation, recorded.expected)


def _observation(check: Check, heading: str, sentence: str) -> NamedMistake:
    """What is seen in the numbers, explained under a heading of the page of general observations."""
    page, (_, explanation) = f"{PAGE}#seen-{heading}", HEADINGS[heading]
    return NamedMistake(check.id, False, page, check.function, heading, sentence, explanation, observed=True)


def earlier_calls(check: Check) -> NamedMistake:
    """The answer to a call depends on earlier ones."""
    sentence = "different if this call is made alone in a new process: they depend on earlier calls"
    return replace(_observation(check, "earlier_calls", sentence), everywhere=True)
