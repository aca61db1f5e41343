"""The page that an instructor reads: for every question the answer key, then all submissions side by side.

One HTML file that needs nothing else and may load nothing: no script, no picture, no address. Everything that came from
a submission is escaped, and characters that would hide or reorder text are written out. Verdicts are words and signs,
never colours alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .. import __version__
from ..core.html import page as whole_page
from ..core.html import text
from ..core.result import PASSED, CheckResult, ExerciseResult
from ..worksheet.questions import QUANTITIES, QUESTIONS, RUNS, Run
from ..worksheet.reader import Worksheet
from ..worksheet.replay import Cell, Replay


@dataclass(frozen=True)
class KeyEntry:
    """One entry of the answer key; see `answer_key.Answer`."""

    id: str
    question: str
    answer: str
    holds: bool
    instead: str


@dataclass(frozen=True)
class HandedIn:
    """One submission.

    Attributes:
        name: As the page calls it.
        result: What the grader found.
        worksheet: What it holds; empty if it cannot be read.
        replays: Its runs beside what their seeds give.
        problem: Why it cannot be read.
    """

    name: str
    result: ExerciseResult
    worksheet: Worksheet
    replays: Mapping[str, Replay]
    problem: str = ""


def page(key: Sequence[KeyEntry], handed_in: Sequence[HandedIn]) -> str:
    """The whole file. What the key has beside the worksheet's questions is left out."""
    asked = {question.id for question in QUESTIONS} | {run.question for run in RUNS}
    entries = [entry for entry in key if entry.id in asked]
    readable = [each for each in handed_in if not each.problem]
    links = "".join(f'<li><a href="#{_anchor(entry)}">{text(entry.id)}</a></li>' for entry in entries)
    sections = "\n".join(_question(entry, readable) for entry in entries)
    main = f"""<p>Submissions: {len(handed_in)}.
Written by <code>course worksheet</code> of the GRPO course {__version__}. Recorded numbers were compared
with a replay of their seeds. What the written answers say is for you to judge: a point there means an attempt, nothing
more.</p>
<nav aria-label="Questions"><ul>{links}</ul></nav>
{_summary(handed_in)}
{_lost(readable)}
{sections}"""
    return whole_page(title="Worksheets side by side", main=main, style=_STYLE)


def _summary(handed_in: Sequence[HandedIn]) -> str:
    """Points of every submission, step by step."""
    steps = list(dict.fromkeys(check.function for each in handed_in for check in each.result.checks if check.points))
    heads = "".join(f'<th scope="col">{step.removeprefix("step_").upper()}</th>' for step in steps)
    rows = []
    for each in handed_in:
        if each.problem:
            rest = f'<td colspan="{len(steps) + 1}">{_sign(False)} not graded: {text(each.problem)}</td>'
        else:
            of_step = (_points([check for check in each.result.checks if check.function == step]) for step in steps)
            rest = "".join(f"<td>{points}</td>" for points in of_step)
            rest += f"<td><strong>{each.result.earned} of {each.result.points}</strong></td>"
        rows.append(f'<tr><th scope="row">{text(each.name)}</th>{rest}</tr>')
    head = f'<tr><th scope="col">Submission</th>{heads}<th scope="col">All</th></tr>'
    return f"<section>\n<h2>Points</h2>\n{_table('points', 'Points by step of the worksheet', head, rows)}\n</section>"


def _points(checks: Sequence[CheckResult]) -> str:
    return f"{sum(check.earned for check in checks)} of {sum(check.points for check in checks)}"


def _lost(readable: Iterable[HandedIn]) -> str:
    """What the grader said of everything that did not pass."""
    parts = []
    for each in readable:
        failed = [check for check in each.result.checks if check.outcome != PASSED]
        lines = [f"<li>{text(sentence)}</li>" for check in failed for sentence in _said(check)]
        if lines:
            parts.append(f"<h3>{text(each.name)}</h3>\n<ul>{''.join(lines)}</ul>")
    nothing = "<p>Nothing: all checks of all submissions that can be read have passed.</p>"
    return f"<section>\n<h2>What did not pass</h2>\n{''.join(parts) or nothing}\n</section>"


def _said(check: CheckResult) -> list[str]:
    return [f"{where}: {what}" for where, what in check.rows] or [check.story]


def _question(entry: KeyEntry, readable: Sequence[HandedIn]) -> str:
    note = ""
    if entry.instead:
        lead = "Note." if entry.holds else "The numbers do not show the lesson that the question suggests. What does:"
        note = f"<p><strong>{lead}</strong> {text(entry.instead)}</p>"
    parts = [
        f'<section id="{_anchor(entry)}">',
        f"<h2>{text(entry.id)}: {text(entry.question)}</h2>",
        *(f"<p>{text(each.text)}</p>" for each in QUESTIONS if each.id == entry.id),
        f'<div class="key"><h3>Answer key</h3><p>{text(entry.answer)}</p>{note}</div>',
    ]
    runs = [run for run in RUNS if run.question == entry.id]
    if runs and readable:
        parts += ["<h3>Recorded runs</h3>", _runs(entry, runs, readable)]
    if readable and any(question.id == entry.id for question in QUESTIONS):
        articles = "\n".join(_answer(each, entry.id) for each in readable)
        parts += ["<h3>Written answers</h3>", f'<div class="answers">\n{articles}\n</div>']
    return "\n".join([*parts, "</section>"])


def _answer(each: HandedIn, question: str) -> str:
    answer = each.worksheet.answers.get(question, "").strip()
    body = f'<p class="written" dir="auto">{text(answer)}</p>' if answer else "<p><em>No answer.</em></p>"
    if question in each.worksheet.problems:
        body = f"<p><em>{text(each.worksheet.problems[question])}</em></p>"
    return f"<article><h4>{text(each.name)}</h4>{body}</article>"


def _runs(entry: KeyEntry, runs: Sequence[Run], readable: Sequence[HandedIn]) -> str:
    """A row for each submission, a column for each run."""
    heads = "".join(f'<th scope="col">{text(run.name)}</th>' for run in runs)
    rows = [
        f'<tr><th scope="row">{text(each.name)}</th>'
        + "".join(f"<td>{_replay(each.replays[run.id])}</td>" for run in runs)
        + "</tr>"
        for each in readable
    ]
    head = f'<tr><th scope="col">Submission</th>{heads}</tr>'
    return _table(f"runs-{_anchor(entry)}", f"Runs recorded for {entry.id}, compared with their seeds", head, rows)


def _replay(replay: Replay) -> str:
    lines = [] if replay.seed is None else [f"seed {replay.seed}"]
    lines += [text(replay.problem)] if replay.problem else []
    for name in dict.fromkeys(cell.quantity for cell in replay.cells):
        lines.append(_quantity(name, [cell for cell in replay.cells if cell.quantity == name]))
    return "<br>".join(lines)


def _quantity(name: str, cells: Sequence[Cell]) -> str:
    wrong = sum(not cell.right for cell in cells)
    label = QUANTITIES[name].words if len(cells) == 1 else name
    verdict = "right" if not wrong else "wrong" if len(cells) == 1 else f"{wrong} of {len(cells)} wrong"
    return f"{text(label)}: {', '.join(map(_cell, cells))} {_sign(not wrong)} {verdict}"


def _cell(cell: Cell) -> str:
    recorded, replayed = map(text, cell.shown)
    return recorded if cell.right else f"<mark>{recorded} (the seed gives {replayed})</mark>"


def _table(name: str, caption: str, head: str, rows: Iterable[str]) -> str:
    """A table that may be wider than the window: it scrolls by itself, with the keyboard too."""
    body = "\n".join(rows)
    return (
        f'<div class="wide" role="region" aria-labelledby="{name}" tabindex="0">\n<table>\n'
        f'<caption id="{name}">{text(caption)}</caption>\n'
        f"<thead>{head}</thead>\n<tbody>\n{body}\n</tbody>\n</table>\n</div>"
    )


def _sign(right: bool) -> str:
    kind, sign = ("right", "✓") if right else ("wrong", "✗")
    return f'<span class="{kind}" aria-hidden="true">{sign}</span>'


def _anchor(entry: KeyEntry) -> str:
    return "q-" + entry.id.lower().replace(".", "-")


_STYLE = """
@media (prefers-color-scheme: dark) { mark { background: #5c2b2b; color: #fff; } }
main { max-width: 80rem; overflow-wrap: break-word; }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1rem; padding: 0; list-style: none; }
section { margin-block: 2.5rem; }
h2 { margin-top: 0; }
.key { background: var(--soft); border-left: .3rem solid var(--line); padding: .1rem 1rem; }
.answers { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(22rem, 100%), 1fr)); gap: 1rem; }
article { border: 1px solid var(--line); border-radius: .4rem; padding: 0 1rem; overflow: hidden; }
article { overflow-wrap: anywhere; }
h4 { margin-block: .75rem 0; }
.written { white-space: pre-wrap; unicode-bidi: isolate; }
th, td { min-width: 4.5rem; }
.right { color: var(--right); }
.wrong { color: var(--wrong); }
@media print {
  nav { display: none; }
  article, .key { break-inside: avoid; }
  table { font-size: .8rem; }
}
"""
