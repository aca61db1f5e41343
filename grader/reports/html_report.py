"""The report of one submission as one HTML file: everything that the terminal says, and how the training runs went.

The file loads nothing and runs nothing; see `html_page`. It is for the student and for whoever helps, so checks that
compare with the model answer are told in full: wait with it until after the due date. Left out: hints, which are asked
for one by one, and how long each check took.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from ..core import course
from ..core.html import page, prose, text
from ..core.result import (
    BROKEN,
    FAILED,
    GRADER_ERROR,
    NOT_RUN,
    NOT_WRITTEN,
    PASSED,
    WAITING,
    CheckResult,
    ExerciseResult,
    NamedMistake,
    Outcome,
    Result,
)
from ..grading import curves
from .feedback import notes, rows, runs_no_code, what_it_is
from .outcomes import SIGNS, file_name, problem_of_the_file, word
from .svg_chart import STYLE as CHARTS
from .svg_chart import Series, line_chart, number, series_table, small_bar

_TOLD_IN_FULL = (FAILED, BROKEN, GRADER_ERROR)


def export(result: Result, environment: Mapping[str, str]) -> str:
    """The whole file.

    Args:
        result: What the grading found, complete or not.
        environment: Not needed.
    """
    parts = [
        _notices(result),
        f'<p class="total">{result.earned} of {result.points} points</p>',
        _about(result),
        _summary(result.exercises),
        *map(_exercise, result.exercises),
        _learning_curves(result),
    ]
    return page(title=f"Report: {result.submission}", main="\n".join(filter(None, parts)), style=CHARTS + _STYLE)


def _notices(result: Result) -> str:
    """What must be known before the total is read."""
    lines = notes(result)
    if not result.grade:
        lines = ["Debug mode: this is no grade. Run `grade` for one.", *lines[:-1]]  # it is no self-check either
    if result.grade and result.exit_code == 0:
        lines.insert(0, "All checks passed.")
    return "\n".join(f'<p class="notice">{text(line)}</p>' for line in lines)


def _about(result: Result) -> str:
    level = f"{result.isolation_level} ({', '.join(result.walls) or 'a process of its own'})"
    if runs_no_code(result):
        level = "no code of the submission was run"
    elif not result.grade:
        level = "none: in the grader's own process"
    facts = {
        "Submission": result.submission,
        "Isolation level": level,
        "Seed of the generated inputs": str(result.seed),
        "Device": result.device,
        "Course version": result.course_version,
        "Digest of the graded files": result.sha256[:16],
    }
    lines = "\n".join(f"<div><dt>{text(name)}</dt><dd>{text(fact)}</dd></div>" for name, fact in facts.items())
    return f'<dl class="about">\n{lines}\n</dl>'


def _summary(exercises: Sequence[ExerciseResult]) -> str:
    """Points of every exercise, with a bar."""
    lines = [
        f'<tr><th scope="row"><a href="#{text(each.name)}">{text(each.title)}</a></th>'
        f"<td>{each.earned} of {each.points}</td><td>{small_bar(each.earned, each.points)}</td></tr>"
        for each in exercises
    ]
    head = '<tr><th scope="col">Exercise</th><th scope="col">Points</th><th scope="col">Share</th></tr>'
    body = "\n".join(lines)
    return f"<table>\n<caption>Points by exercise</caption>\n<thead>{head}</thead>\n<tbody>\n{body}\n</tbody>\n</table>"


# One exercise


def _exercise(exercise: ExerciseResult) -> str:
    points = f"{exercise.earned} of {exercise.points} points"
    parts = [
        f'<section id="{text(exercise.name)}">',
        f"<h2>{text(exercise.title)}</h2>",
        f"<p><strong>{points}</strong> for <code>{text(file_name(exercise))}</code></p>",
    ]
    problem = problem_of_the_file(exercise)
    if problem:
        first = exercise.checks[0]
        parts.append(f'<div class="check wrong"><p>{_sign(first.outcome)} {text(problem)}</p>{_failure(first)}</div>')
    for function in dict.fromkeys(check.function for check in exercise.checks):
        parts += [f"<h3><code>{text(function)}</code></h3>", _function(exercise, function, detailed=not problem)]
    if exercise.earned < exercise.points:
        parts.append(f"<p>To read: {_page(exercise.page)}</p>")
    return "\n".join([*parts, "</section>"])


def _function(exercise: ExerciseResult, function: str, *, detailed: bool) -> str:
    """All checks of one function; a misconception or a reason to wait is told once, where it shows first."""
    explained: set[str] = set()
    before = ""
    lines = []
    for check in exercise.checks:
        if check.function == function:
            named = [found for found in exercise.misconceptions if found.check == check.id]
            details = _failure(check, named, explained) if check.outcome in _TOLD_IN_FULL else _remark(check)
            explained |= {found.name for found in named}
            details, before = "" if details == before or not detailed else details, details
            lines.append(f'<li class="check {_kind(check.outcome)}">{_line(check)}{details}</li>')
    return "<ul>\n" + "\n".join(lines) + "\n</ul>"


def _line(check: CheckResult) -> str:
    points = f"{check.earned} of {check.points}"
    return f'<p>{_sign(check.outcome)} <span class="points">{points}</span> {prose(check.title)}</p>'


def _remark(check: CheckResult) -> str:
    """What is to be said of a check that did not go wrong."""
    said = check.story
    if check.outcome == WAITING and check.waits_for:
        said = f"It waits for: {'; '.join(check.waits_for)}"
    elif check.outcome == NOT_WRITTEN and check.frames:
        said = f"The `raise` is in line {check.frames[-1].line} of {check.frames[-1].file}."
    return f'<p class="faint">{prose(said)}</p>' if said else ""


def _failure(check: CheckResult, named: Sequence[NamedMistake] = (), explained: Set[str] = frozenset()) -> str:
    """What a student needs to find the mistake: where, what was asked, what came, and which mistake it is."""
    parts = []
    # A line without a label belongs to the one above it.
    lines = [
        f"<dt>{text(label)}</dt><dd>{text(row)}</dd>" if label else f"<dd>{text(row)}</dd>"
        for label, row in rows(check)
    ]
    if lines:
        parts.append(f'<dl class="rows">{"".join(lines)}</dl>')
    if check.story:
        parts.append(f'<p class="story">{prose(check.story)}</p>')
    for found in (found for found in named if found.name not in explained):
        said = f"<strong>{prose(what_it_is(check, found))}</strong> {prose(found.explanation)}"
        parts.append(f'<div class="mistake"><p>{said}</p><p>More: {_page(found.page)}</p></div>')
    if any(found.name in explained for found in named):
        parts.append('<p class="mistake">The same mistake as above.</p>')
    if check.may_come_from:
        parts.append(f'<p class="faint">This may come from: {prose("; ".join(check.may_come_from))}</p>')
    return "\n".join(parts)


def _sign(outcome: Outcome) -> str:
    return f'<span class="outcome"><span aria-hidden="true">{SIGNS[outcome]}</span> {word(outcome)}</span>'


def _kind(outcome: str) -> str:
    return "right" if outcome == PASSED else "wrong" if outcome in _TOLD_IN_FULL else "open"


def _page(page: str) -> str:
    """Where to read on. Printed paper has no links, so the address is the text of the link."""
    address = course.page_address(page)
    shown = text(address)
    is_link = address.startswith(("https://", "http://"))  # and neither a path nor anything that would run
    return f'<a href="{shown}">{shown}</a>' if is_link else f"<code>{shown}</code>"


# Training runs


def _learning_curves(result: Result) -> str:
    """The curves of the submission beside those of the model answer, where a check makes a training run."""
    checks = [check for check in result.checks if check.curves or check.id in curves.of_model_answers()]
    if not checks:
        return ""
    seed = "" if result.seed == 0 else " with the draws of seed 0, not those of this grading: curves differ by luck too"
    intro = f"The first training run that a check made, beside the same run of the model answer{seed}."
    parts = ["<section>", "<h2>Learning curves</h2>", f"<p>{intro}</p>"]
    for check in checks:
        parts += [
            f"<h3><code>{text(check.function)}</code></h3>",
            f"<p>{_sign(check.outcome)} {prose(check.title)}</p>",
        ]
        if check.curves:
            figures = "\n".join(_figures(check))
            parts.append(f'<div class="charts">\n{figures}\n</div>')
        else:
            parts.append(f"<p>{_why_no_run(check.outcome)}</p>")
    return "\n".join([*parts, "</section>"])


def _why_no_run(outcome: str) -> str:
    if outcome in (NOT_WRITTEN, WAITING, NOT_RUN):
        return "There is no run to draw yet: this check has not run."
    return "There is no run to draw: the check ended before a history came back that can be drawn."


def _figures(check: CheckResult) -> Iterator[str]:
    for place, shown in enumerate(check.curves, 1):
        model = [each for each in curves.of_model_answers().get(check.id, ()) if each.title == shown.title]
        series = [Series("yours", curves.steps(shown), shown.values)]
        series += [Series("model answer", curves.steps(each), each.values) for each in model]
        name, title = f"{check.id.replace('.', '-')}-{place}", str(shown.title)
        told = " ".join(map(_course_of, series))
        chart = line_chart(series, name=name, title=title, x_label=str(shown.x), y_label=str(shown.y), description=told)
        table = series_table(series, name=name, x_label=str(shown.x), caption=title)
        yield f"<figure>\n<figcaption>{text(title)}</figcaption>\n{chart}\n<p>{text(told)}</p>\n{table}\n</figure>"


def _course_of(series: Series) -> str:
    """A curve in a sentence: where it begins and where it ends."""
    known = [(place, value) for place, value in zip(series.x, series.values, strict=True) if value is not None]
    (first, begins), (last, ends) = known[0], known[-1]
    lost = len(series.values) - len(known)
    gap = f" {lost} values are no finite numbers." if lost else ""
    label = series.label[0].upper() + series.label[1:]
    return f"{label}: {number(begins)} at step {number(first)}, {number(ends)} at step {number(last)}.{gap}"


_STYLE = """
.total { font-size: 1.75rem; font-weight: bold; margin-block: .5rem; }
.notice { border: 2px solid currentColor; padding: .5rem .75rem; font-weight: bold; }
.about { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(18rem, 100%), 1fr)); gap: .25rem 1.5rem; }
.about dt { color: var(--faint); font-size: .875rem; }
.about dd, .rows dd { margin: 0; }
section ul { list-style: none; padding: 0; }
.check { border-left: .25rem solid var(--line); padding: .1rem .75rem; margin-block: .5rem; }
.check p { margin-block: .25rem; }
.check.right { border-color: var(--right); }
.check.wrong { border-color: var(--wrong); background: var(--soft); padding-block: .4rem; }
.outcome { font-weight: bold; }
.right > p > .outcome { color: var(--right); }
.wrong > p > .outcome { color: var(--wrong); }
.points { color: var(--faint); font-variant-numeric: tabular-nums; margin-inline: .25rem; }
.rows { display: grid; grid-template-columns: minmax(6rem, max-content) 1fr; gap: .2rem 1rem; margin-block: .5rem; }
.rows dt { grid-column: 1; color: var(--faint); max-width: 14rem; }
.rows dd { grid-column: 2; font-family: ui-monospace, monospace; font-size: .9rem; white-space: pre-wrap;
  unicode-bidi: isolate; }
.story { font-weight: bold; }
.mistake { border: 1px solid var(--line); padding: .1rem .75rem; margin-block: .5rem; background: var(--page); }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(24rem, 100%), 1fr)); gap: 1rem 2rem; }
figure { margin: 0; min-width: 0; break-inside: avoid; }
figcaption { font-weight: bold; }
@media (max-width: 40rem) {
  .rows { grid-template-columns: 1fr; gap: 0; }
  .rows dd { grid-column: 1; margin-bottom: .4rem; }
}
"""
