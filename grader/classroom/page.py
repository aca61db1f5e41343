"""The class report as one HTML page, in the order of an instructor's questions.

How did it go, what did they misunderstand, where did they stop, which checks are good, how long did it take. The page
names nobody. What names students, the list of submissions and the similar pairs, is added only if it is given.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from .. import __version__
from ..core import course
from ..core.html import page, prose, text
from ..reports.svg_chart import STYLE as CHARTS
from ..reports.svg_chart import Bar, column_chart, data_table, number, small_bar
from .report import BINS, FEW, WEAK, CheckStatistics, ClassReport, Distribution, Named, NamedSubmission
from .similarity import Pair, Similarity

_SHOWN = 20
"""Mistakes that are seen at once; the rarer ones are folded."""

_SLOW = 15
"""Checks whose seconds are seen at once; the faster ones are folded."""


def class_page(
    report: ClassReport, *, named: Named | None = None, similarity: Similarity | None = None, site: str | None = None
) -> str:
    """The whole file.

    Args:
        report: The numbers.
        named: Submissions by name, for a page that is for instructors only.
        similarity: Similar pairs, which name students too.
        site: Address of the published pages, with a slash at its end; None if the course does not say it itself.
    """
    sections = [_summary(report)]
    if report.graded:
        sections.append(_grades(report))
    if named:
        sections.append(_submissions(named))
    if report.graded:
        sections += [_misconceptions(report, site), _stops(report), _checks(report), _seconds(report)]
    if named:
        sections.append(_equal(named))
    if similarity:
        sections.append(_similarity(similarity))
    title = "Class report with names" if named or similarity else "Class report"
    return page(title=title, main="\n".join(section for section in sections if section), style=CHARTS + _STYLE)


def remark(check: CheckStatistics) -> str:
    """What an instructor should look at in a check; empty if there is nothing."""
    if check.passed == check.count:
        return "all passed"
    if not check.passed:
        return "nobody passed"
    if check.discrimination is None:
        return "all have the same other points"
    if check.count < FEW:
        return ""
    if check.discrimination < 0:
        return "look at it: those who pass it earn less elsewhere"
    return "look at it: it hardly separates" if check.discrimination < WEAK else ""


def decimals(value: float | None) -> str:
    """A difficulty or discrimination."""
    return "-" if value is None else f"{value + 0.0:.2f}"


def _summary(report: ClassReport) -> str:
    """What was graded, and everything that makes the numbers doubtful."""
    doubts = []
    if not report.graded:
        doubts.append("Nothing is graded yet, so there is nothing to report.")
    elif report.graded < FEW:
        doubts.append(
            f"There are fewer than {FEW} results. A number may point at a person: think before you share this page. "
            "Discrimination is mostly chance."
        )
    if report.failed:
        doubts.append(f"Could not be graded, and in no number below: {_submissions_of(report.failed)}.")
    if report.waiting:
        doubts.append(f"Not graded yet, and in no number below: {_submissions_of(report.waiting)}.")
    if report.without_walls:
        doubts.append(
            f"Graded at isolation level 0, without walls: {_submissions_of(report.without_walls)}. "
            "That is a self-check and no mark."
        )
    if len(report.versions) > 1:
        doubts.append(
            f"The results are of different versions of the course ({', '.join(report.versions)}). "
            "Grade the class again before you compare."
        )
    marks = "".join(f"<li>{text(doubt)}</li>" for doubt in doubts)
    version = report.versions[0] if len(report.versions) == 1 else __version__
    return (
        f"<p>Written by <code>course report</code> of the GRPO course {text(version)}. "
        f"Submissions: {report.handed_in}. Graded: {report.graded}.</p>"
        + (f'<div class="doubts"><h2>Know before you read</h2><ul>{marks}</ul></div>' if doubts else "")
    )


def _grades(report: ClassReport) -> str:
    all_points = report.totals
    low, lower, median, upper, high = map(number, all_points.quartiles)
    rows = [_distribution_row(each.title, each.distribution) for each in report.exercises]
    rows.append(_distribution_row("All", all_points))
    header = (
        *("Exercise", "Points", "Results", "Mean", "", "Lower quartile", "Median", "Upper quartile"),
        *("All points", "Nothing written"),
    )
    charts = [_histogram(all_points, "All points", "total")]
    charts += [_histogram(each.distribution, each.title, each.name) for each in report.exercises]
    return f"""<section>
<h2>How did it go?</h2>
<p>The median is {median} of {all_points.points} points. Half of the results lie between {lower} and {upper}, all
between {low} and {high}. All points: {_submissions_of(all_points.full)}. Nothing written:
{_submissions_of(all_points.untouched)}.</p>
{_table("grades", "Points by exercise", header, rows)}
<div class="charts">{"".join(charts)}</div>
</section>"""


def _distribution_row(title: str, each: Distribution) -> list[str]:
    quartiles = [number(value) for value in each.quartiles[1:-1]]  # the chart shows the lowest and the highest
    bar = small_bar(each.mean, each.points)
    return [
        *(text(title), str(each.points), str(each.count), f"{each.mean:.1f}", bar, *quartiles),
        *(str(each.full), str(each.untouched)),
    ]


def _histogram(each: Distribution, title: str, name: str) -> str:
    edges = [each.points * place / BINS for place in range(BINS + 1)]
    labels = [f"{number(low)} to {number(high)}" for low, high in itertools.pairwise(edges)]
    bars = [Bar(f"{100 * place // BINS}%", count) for place, count in enumerate(each.bins)]
    caption = f"{title}: submissions by points"
    chart = column_chart(
        bars,
        name=f"histogram-{name}",
        title=caption,
        x_label=f"from this share of {each.points} points",
        y_label="submissions",
        description=f"Median {number(each.quartiles[2])} of {each.points} points; {each.full} earned all.",
    )
    rows = [[label, str(count)] for label, count in zip(labels, each.bins, strict=True)]
    numbers = data_table(["Points", "Submissions"], rows, name=f"histogram-{name}", caption=caption)
    return f"<figure><figcaption>{text(title)}</figcaption>{chart}{numbers}</figure>"


def _misconceptions(report: ClassReport, site: str | None) -> str:
    rows = [
        [
            *(prose(each.sentence), f"<code>{text(each.function)}</code>", str(each.count)),
            *(f"{each.count / report.graded:.1%}", small_bar(each.count, report.graded)),
            _page(each.page, site),
        ]
        for each in report.misconceptions
    ]
    header = ("The numbers are what you get if ...", "Function", "Submissions", "Share", "", "Page")
    found = _table("mistakes", "Mistakes that were seen", header, rows[:_SHOWN]) if rows else "<p>No known mistake.</p>"
    if rows[_SHOWN:]:
        most = _submissions_of(report.misconceptions[_SHOWN].count)
        rest = _table("rare-mistakes", "The rarer mistakes", header, rows[_SHOWN:])
        found += _folded(f"{len(rows) - _SHOWN} more, in at most {most} each", rest)
    return f"""<section>
<h2>What did they misunderstand?</h2>
<p>A mistake is named if the numbers of a submission are those of a known wrong answer. Each submission counts once for
each mistake. A wrong answer that nobody foresaw is in no line here; the checks below count it.</p>
{found}
</section>"""


def _page(page: str, site: str | None) -> str:
    """Where the mistake is explained: a link if the pages are published, else the file."""
    path = page.partition("#")[0]
    name = path.removeprefix("docs/").removesuffix(".md")
    address = course.page_address(page, site or "")
    if not address.startswith(("https://", "http://")):  # neither a path nor anything that would run is a link
        return text(path)
    return f'<a href="{text(address)}">{text(name)}</a>'


def _stops(report: ClassReport) -> str:
    if not report.functions:
        return ""
    rows = [
        [
            *(f"{text(each.exercise)}: <code>{text(each.function)}</code>", str(each.started), str(each.passed)),
            *(str(each.reached - each.stopped), small_bar(each.reached - each.stopped, report.graded)),
            *(str(each.stopped), str(each.stopped_unwritten)),
        ]
        for each in report.functions
    ]
    header = (
        *("Function", "Wrote it", "Passed it", "Passed it and all before it", "", "Stopped here"),
        "Of these, have not written it",
    )
    return f"""<section>
<h2>Where did they stop?</h2>
<p>Passed every check of every function: {_submissions_of(report.finished)}. The others stopped at the first function,
in the order of the course, with a check that did not pass. The worksheet stands beside this order and is left out.</p>
{_table("stops", "How far submissions got", header, rows)}
</section>"""


def _checks(report: ClassReport) -> str:
    header = ("Check", "Points", "Passed", "", "Difficulty", "Discrimination", "Remark")
    rows = [
        [
            _titled(check),
            *(str(check.points), f"{check.passed} of {check.count}", small_bar(check.passed, check.count)),
            *(decimals(check.difficulty), decimals(check.discrimination), text(remark(check))),
        ]
        for check in report.checks
    ]
    outcomes = [
        [
            _titled(check),
            *map(str, (check.passed, check.failed, check.broken, check.not_written, check.waiting, check.other)),
        ]
        for check in report.checks
    ]
    names = ("Check", "Passed", "Failed", "Broken", "Not written", "Waiting", "Other")
    return f"""<section>
<h2>Which checks are good?</h2>
<p><strong>Difficulty</strong> is the share of results that passed: 1 is easy, 0 is hard.
<strong>Discrimination</strong> is the correlation between passing a check and the points for everything else, from -1
to 1. It is undefined (-) where all or none passed. Below {WEAK} a check hardly separates those who know more from those
who know less. Below 0 look for a fault in the check or in its words. Who has not written a function passes none of its
checks, so unfinished work alone makes discriminations high.</p>
{_table("checks", "All checks", header, rows)}
{_folded("What became of those who did not pass", _table("outcomes", "Outcomes of all checks", names, outcomes))}
</section>"""


def _folded(summary: str, content: str) -> str:
    return f"<details><summary>{text(summary)}</summary>{content}</details>"


def _titled(check: CheckStatistics) -> str:
    hidden = " hidden" if check.hidden else ""
    return f'{prose(check.title)} <span class="faint"><code>{text(check.function)}</code>{hidden}</span>'


def _seconds(report: ClassReport) -> str:
    timed = [
        (check.median_seconds, check.slow_seconds, check)
        for check in report.checks
        if check.median_seconds is not None and check.slow_seconds is not None
    ]
    if not timed:
        return ""
    timed.sort(key=lambda each: (-each[1], each[2].id))
    slowest = timed[0][1]
    rows = [[_titled(check), f"{median:.2f}", f"{slow:.2f}", small_bar(slow, slowest)] for median, slow, check in timed]
    header = ("Check", "Median", "90% took at most", "")
    found = _table("seconds", "Seconds of the slowest checks", header, rows[:_SLOW])
    if rows[_SLOW:]:
        rest = _table("fast", "Seconds of the faster checks", header, rows[_SLOW:])
        found += _folded(f"{len(rows) - _SLOW} faster ones", rest)
    return f"""<section>
<h2>How long did it take?</h2>
<p>Seconds for each check, of the submissions on which it ran; the slowest first. All medians together are
{sum(median for median, _, _ in timed):.1f} seconds for one submission.</p>
{found}
</section>"""


def _submissions(named: Named) -> str:
    rows = [_submission_row(each) for each in named.submissions]
    header = ("Submission", "Students", "Points", "Of", "Remarks")
    return f"""<section>
<h2>Who has which grade?</h2>
<p>This page names students. Keep it to yourself.</p>
{_table("submissions", "All submissions", header, rows)}
</section>"""


def _submission_row(each: NamedSubmission) -> list[str]:
    people = ", ".join(_name(person) for person in each.people)
    points = "-" if each.earned is None else str(each.earned)
    return [_name(each.name), people, points, str(each.points or "-"), _name("; ".join(each.remarks))]


def _equal(named: Named) -> str:
    groups = "".join(f"<li>{', '.join(map(_name, group))}</li>" for group in named.equal)
    found = f"<ul>{groups}</ul>" if groups else "<p>None.</p>"
    return f"""<section>
<h2>Equal contents</h2>
<p>Submissions of different students whose graded files are the same, letter by letter. Groups that forgot to say so
look like this too.</p>
{found}
</section>"""


def _similarity(similarity: Similarity) -> str:
    rows = [_pair_row(pair) for pair in similarity.pairs]
    header = ("Share", "Submission", "Submission", "Share by file")
    count = (
        f"{similarity.found} pairs of {similarity.compared} submissions reach a share of {similarity.threshold:.0%}."
    )
    if similarity.found > len(similarity.pairs):
        count += f" The first {len(similarity.pairs)} are listed."
    small = ", ".join(map(_name, similarity.too_small))
    not_compared = f"<p>Too little text of their own to be compared: {small}.</p>" if small else ""
    return f"""<section>
<h2>Similar submissions</h2>
<p><strong>A high share is no proof of copying.</strong> Short functions have few natural answers, and two students who
work alone write them alike. Read both texts, and talk to the students before you decide anything. The share says how
many passages of the smaller submission the other one has too. Comments, names that students chose, and what the starter
gives do not count.</p>
<p>{count}</p>
{_table("pairs", "Similar pairs", header, rows) if rows else ""}
{not_compared}
</section>"""


def _pair_row(pair: Pair) -> list[str]:
    files = ", ".join(f"{file} {share:.0%}" for file, share in pair.files.items())
    return [f"{pair.share:.0%}", _name(pair.first), _name(pair.second), text(files)]


def _table(name: str, caption: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of HTML cells that scrolls by itself where it is too wide; an empty head is a column of bars."""
    head = "".join(
        f'<th scope="col">{text(cell)}</th>' if cell else '<th scope="col"><span class="unseen">Bar</span></th>'
        for cell in header
    )
    body = "\n".join(
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in rest)}</tr>' for first, *rest in rows
    )
    return (
        f'<div class="wide" role="region" aria-labelledby="{name}" tabindex="0">\n<table>\n'
        f'<caption id="{name}">{text(caption)}</caption>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n</div>"
    )


def _name(words: str) -> str:
    """A name that must not turn the direction of what stands beside it."""
    return f"<bdi>{text(words)}</bdi>"


def _submissions_of(count: int) -> str:
    return "1 submission" if count == 1 else f"{count} submissions"


_STYLE = """
main { max-width: 80rem; }
.doubts { border: 2px solid var(--wrong); border-radius: .4rem; padding: .25rem 1rem; margin-block: 1rem; }
.doubts h2 { border: 0; margin-block: .5rem; font-size: 1.1rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(22rem, 100%), 1fr)); gap: 1rem; }
figure { margin: 1rem 0; break-inside: avoid; }
figcaption { font-weight: bold; }
table { font-size: .9rem; }
th, td { overflow-wrap: normal; }
bdi { overflow-wrap: anywhere; }
tbody th { font-weight: normal; min-width: min(20rem, 45vw); }
.wide { position: relative; }
.wide .small-bar { min-width: 5rem; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
@media print {
  table { font-size: .6rem; }
  th, td { padding: .1rem .3rem; overflow-wrap: anywhere; }
  tbody th { min-width: 9rem; }
  .wide .small-bar { width: 2rem; min-width: 2rem; }
}
"""
