"""Whatever text a submission or a platform hands us, it stays text on every screen, sheet and build machine.

A table of hostile texts, a table of ways in, a table of ways out. For each way out an independent reader says what is
in it besides text: elements and attributes, cells that are formulas, commands, escape sequences. The same output made
with harmless words must have the same of all that, so nothing was added, closed or commanded by a text.
"""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from command import call
from exports_readers import CLASSROOM
from grading_here import graded_by_hand
from hostile_texts import (
    BENIGN,
    HOSTILE,
    INVENTORIES,
    Tags,
    csv_inventory,
    formulas,
    html_inventory,
    is_text,
    on_disk,
    page_text,
    terminal_inventory,
)
from rich.console import Console

from grader.classroom.class_files import _ENDINGS
from grader.classroom.diff import compare
from grader.classroom.grades_csv import grades_csv
from grader.classroom.page import class_page
from grader.classroom.report import class_report, named
from grader.classroom.report_csv import checks_csv, misconceptions_csv
from grader.classroom.results import Entry, Person, each_entry, file_name, result_path, write_entries
from grader.classroom.similarity import Pair, Similarity
from grader.classroom.submissions import METADATA, find_submissions
from grader.commands import course as course_command
from grader.commands import grade as cli
from grader.commands.diff import as_csv
from grader.core.result import (
    BROKEN,
    FAILED,
    GRADER_ERROR,
    NOT_RUN,
    NOT_WRITTEN,
    PASSED,
    WAITING,
    CheckResult,
    ExerciseResult,
    Frame,
    NamedMistake,
    Outcome,
    Result,
)
from grader.core.text import one_line, plain, spreadsheet_safe, visible
from grader.reports import FORMATS, export, terminal
from grader.worksheet.questions import FILE_NAME as WORKSHEET_FILE
from grader.worksheet.questions import NAME as WORKSHEET_NAME
from grader.worksheet.questions import QUESTIONS, VERSION

OUTCOMES = (FAILED, PASSED, BROKEN, NOT_WRITTEN, WAITING, NOT_RUN, GRADER_ERROR)


@pytest.mark.parametrize("name", HOSTILE)
def test_text_that_was_made_plain_is_text_and_stays_it(name: str) -> None:
    for made in (plain(HOSTILE[name]), one_line(HOSTILE[name])):
        assert not is_text(made)
        assert plain(made, limit=10**6) == made
    assert len(one_line(HOSTILE[name]).splitlines()) <= 1
    assert not is_text(page_text(visible(HOSTILE[name])))


@pytest.mark.parametrize("name", [name for name in HOSTILE if name.startswith(("formula", "minus"))])
def test_a_spreadsheet_takes_no_text_for_a_formula(name: str) -> None:
    assert not formulas(spreadsheet_safe(HOSTILE[name]))
    assert not formulas(spreadsheet_safe(one_line(HOSTILE[name])))


@pytest.mark.parametrize(
    "words", ["Ada Öz", "o'neil; and others", "kl.py is missing; a - b", "日本 花子", "2026-01-01"]
)
def test_ordinary_text_keeps_its_letters(words: str) -> None:
    assert spreadsheet_safe(words) == plain(words) == one_line(words) == visible(words) == words
    stacked = unicodedata.normalize("NFD", "ệ") + "שָּׁ" + "नि" + "ག྄ྷྲ"
    assert plain(stacked) == visible(stacked) == stacked


# ---------------------------------------------------------------- every text x every format


def result_of(text: str, outcomes: Sequence[Outcome] = OUTCOMES) -> Result:
    """Checks with these outcomes, and the text wherever a submission has a hand in it."""
    checks = []
    for outcome in outcomes:
        for hidden in (False, True):
            frame = Frame(text, 3, text, text)
            identity = f"kl.{outcome.replace(' ', '_')}_{hidden}"
            check = CheckResult(identity, "kl_estimate", "A rule.", "Because.", 1, hidden, False, outcome, text, text)
            check.rows, check.frames, check.printed = [("yours", text), ("expected", text)], [frame], text
            checks.append(check)
    words = ("kl_estimate", "no_mean", "the sign is wrong", "So it drifts.")
    found = NamedMistake(checks[0].id, True, "docs/mistakes/kl.md", *words)
    exercises = [ExerciseResult("kl", "KL", "docs/exercises/kl.md", checks, [found])]
    bad_file = CheckResult("clip.a", "importance_ratio", "A rule.", "", 1, False, True, BROKEN, text)
    bad_file.frames, bad_file.printed = [frame], text
    exercises.append(ExerciseResult("clip", "Clipping", "docs/exercises/clip.md", [bad_file]))
    result = Result(text, "ab" * 32, 0, "cpu", exercises, "0.1.0", isolation_level=1, complete=True)
    return replace(result, problem=text and f"the grader said {text}")


def test_every_format_has_a_reader_here() -> None:
    assert set(INVENTORIES) == set(FORMATS)


@pytest.mark.parametrize("format_name", FORMATS)
def test_no_text_is_more_than_text_in_any_format(format_name: str) -> None:
    inventory = INVENTORIES[format_name]
    few = OUTCOMES[:1]  # for the texts of megabytes
    expected = {size: inventory(export(result_of(BENIGN, size), format_name, CLASSROOM)) for size in (OUTCOMES, few)}
    for name, text in HOSTILE.items():
        size = OUTCOMES if len(text) < 2_000 else few
        written = export(result_of(text, size), format_name, CLASSROOM)
        written.encode("utf-8")
        found = inventory(written)
        assert found == expected[size] or not one_line(text), name  # nothing to show has no row of its own


@pytest.mark.parametrize(
    ("width", "colours"),
    [(40, True), (200, False), *(pytest.param(*each, marks=pytest.mark.proof) for each in ((40, False), (200, True)))],
)
def test_no_text_is_more_than_text_in_the_terminal(width: int, colours: bool) -> None:
    def shown(text: str) -> str:
        file = io.StringIO()
        console = Console(file=file, width=width, force_terminal=colours, color_system="standard" if colours else None)
        terminal.show(result_of(text), console)
        return file.getvalue()

    allowed = terminal_inventory(shown(BENIGN))
    assert bool(allowed) == colours
    for name, text in HOSTILE.items():
        if len(text) < 10_000:
            assert terminal_inventory(shown(text)) <= allowed, name


def test_a_label_is_no_markup() -> None:
    """Labels are the grader's own words; were one not, it must neither style nor stop a report."""
    result = result_of(BENIGN)
    for check in result.checks:
        check.rows = [("[/] [red]x :skull:", "[/]")]
    file = io.StringIO()
    terminal.show(result, Console(file=file, width=200, color_system=None))
    assert "[/] [red]x :skull:" in file.getvalue()


# ---------------------------------------------------------------- a class of such names


def class_of(text: str, *, earned: bool = True) -> list[Entry]:
    """One entry with a result and one without, with the text in every place that a platform or a student fills."""
    result = result_of(text)
    result.problem = ""
    for check in result.checks:
        if check.outcome in (NOT_RUN, GRADER_ERROR) or (check.outcome == PASSED and not earned):
            check.outcome = FAILED
    people = (Person(text, text, text, text, "canvas", text), Person(name="Ada", platform="canvas"))
    graded = Entry(text, people, key="1" * 64, notes=(text, text), result=result)
    equal = replace(graded, name=f"{text} ", people=people[1:], key="1" * 64)
    return [graded, equal, Entry(f"{text}  ", people, key="2" * 64, notes=(text,), problem=f"it died: {text}")]


_TABLES: Mapping[str, Callable[[str], str]] = {
    "grades": lambda text: grades_csv(class_of(text), ["kl", "clip"], {}),
    "checks": lambda text: checks_csv(class_report(class_of(text))),
    "misconceptions": lambda text: misconceptions_csv(class_report(class_of(text))),
    "changes": lambda text: as_csv(compare(class_of(text), class_of(text, earned=False))),
}


@pytest.mark.parametrize("table", _TABLES)
def test_no_text_is_a_formula_or_a_cell_more_in_any_table(table: str) -> None:
    expected = csv_inventory(_TABLES[table](BENIGN))
    for name, text in HOSTILE.items():
        assert csv_inventory(_TABLES[table](text)) == expected, name


def test_no_text_is_more_than_text_in_the_class_page() -> None:
    def written(text: str) -> str:
        entries = class_of(text)
        pair = Pair(first=text, second=text, share=1.0, files={"kl.py": 1.0})
        similar = Similarity(threshold=0.5, compared=2, too_small=(text,), pairs=(pair,), found=1)
        return class_page(
            class_report(entries), named=named(entries, {each.key: 1.0 for each in entries}), similarity=similar
        )

    expected = html_inventory(written(BENIGN))
    for name, text in HOSTILE.items():
        assert html_inventory(written(text)) == expected or not one_line(text), name


def write_files(folder: Path, entries: list[Entry]) -> Path:
    for entry in entries:
        if entry.result:
            path = result_path(folder, entry.key)
            path.parent.mkdir(parents=True, exist_ok=True)
            entry.result.write(path)
    write_entries(folder, entries, {"course_version": "0.1.0", "settings": {"seed": 0}})
    return folder


@pytest.fixture(scope="module")
def graded_class(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graded class with all texts in all places of `submissions.json`."""
    texts = {name: text for name, text in HOSTILE.items() if len(text) < 10_000}
    entries = [
        replace(entry, key=f"{number:064x}")
        for number, entry in enumerate(entry for text in texts.values() for entry in class_of(text))
    ]
    return write_files(tmp_path_factory.mktemp("class") / "graded", entries)


Command = Callable[..., "Ended"]


class Ended:
    """How a command ended."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs `course` in this process; what it prints must be text."""

    def run(*arguments: object, main: Callable[..., int] = course_command.main) -> Ended:
        try:
            code = main(list(map(str, arguments)))
        except SystemExit as stop:
            code = int(stop.code or 0)
        captured = capsys.readouterr()
        for shown in captured:
            assert not is_text(shown), (is_text(shown), shown[-500:])
        return Ended(code, captured.out, captured.err)

    return run


def test_the_commands_on_a_class_print_and_write_text_only(
    graded_class: Path, tmp_path: Path, command: Command
) -> None:
    page, table = tmp_path / "class.html", tmp_path / "checks.csv"
    assert command("report", graded_class, "--out", page, "--csv", table, "--names").code == 1
    html_inventory(page.read_text("utf-8"))
    csv_inventory(table.read_text("utf-8"))
    entries = list(each_entry(graded_class))
    for check in (check for entry in entries if entry.result for check in entry.result.checks):
        check.outcome = FAILED
    regraded = write_files(tmp_path / "regraded", entries)
    differs = command("diff", graded_class, regraded, "--csv", tmp_path / "changes.csv")
    assert differs.code == 1
    assert ":skull:" in differs.out and "[/nothing]" in differs.out
    csv_inventory((tmp_path / "changes.csv").read_text("utf-8"))


@pytest.mark.parametrize("no_color", [False, True], ids=["colours", "NO_COLOR"])
def test_a_terminal_gets_text_and_our_colours_only(graded_class: Path, tmp_path: Path, no_color: bool) -> None:
    export_file = tmp_path / "export.csv"
    export_file.write_bytes(canvas_export(list(HOSTILE.values())))
    gradebook = ("gradebook", "canvas", graded_class, "--gradebook", export_file, "--dry-run", "--maximum", 15)
    variables: dict[str, Any] = {"TERM": "xterm-256color", "COLUMNS": "120"} | ({"NO_COLOR": "1"} if no_color else {})
    feedback = [
        (*("feedback", each, graded_class), *("--out", tmp_path / "feedback.zip")) for each in ("moodle", "mail")
    ]
    for arguments in (("diff", graded_class, graded_class), gradebook, *feedback):
        ended = call(course_command.main, *arguments, cwd=tmp_path, is_terminal=True, **variables)
        shown = ended.stdout + ended.stderr
        assert terminal_inventory(shown) <= {"\x1b[0m", "\x1b[1m", "\x1b[3m", "\x1b[2m"}
        assert "diff" not in arguments or "submissions the same" in shown
        assert "feedback" not in arguments or "Without a report:" in shown


# ---------------------------------------------------------------- gradebooks


def canvas_export(names: list[str]) -> bytes:
    """Canvas's own export, in which students chose their names."""
    names = [name.replace("\0", "").encode("utf-8", "ignore").decode() for name in names if len(name) < 1_000]
    file = io.StringIO(newline="")
    table = csv.writer(file)
    table.writerow(["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "GRPO (4711)"])
    table.writerow(["    Points Possible", "", "", "", "", "15"])
    for number, name in enumerate(names):
        table.writerow([name, f"{number}", f"s{number}", f"login{number}", name, ""])
    return file.getvalue().encode()


def moodle_export(names: list[str]) -> bytes:
    rows = csv.reader(io.StringIO(canvas_export(names).decode(), newline=""))
    file = io.StringIO(newline="")
    table = csv.writer(file)
    table.writerow(["Identifier", "Full name", "Email address", "Grade", "Maximum Grade", "Feedback comments"])
    for name, number, *_ in list(rows)[2:]:
        table.writerow([f"Participant {number}", name, f"{number}@example.org", "", "15", ""])
    return file.getvalue().encode()


def blackboard_export(names: list[str]) -> bytes:
    rows = csv.reader(io.StringIO(canvas_export(names).decode(), newline=""))
    file = io.StringIO(newline="")
    table = csv.writer(file)
    table.writerow(["Last Name", "First Name", "Username", "GRPO [Total Pts: 15 Score] |4711"])
    for name, number, *_ in list(rows)[2:]:
        table.writerow([name, "x", f"login{number}", ""])
    return file.getvalue().encode()


GRADEBOOKS = {"canvas": (canvas_export, 5), "moodle": (moodle_export, 3), "blackboard": (blackboard_export, 3)}


@pytest.mark.parametrize("platform", GRADEBOOKS)
def test_a_gradebook_gets_numbers_and_our_own_feedback_and_nothing_else(
    platform: str, tmp_path: Path, command: Command
) -> None:
    make, column = GRADEBOOKS[platform]
    names = list(HOSTILE.values())
    exported = tmp_path / "export.csv"
    exported.write_bytes(make(names))
    count = len(list(csv.reader(io.StringIO(exported.read_text("utf-8"), newline="")))) - 1 - (platform == "canvas")
    people = [
        Person(number=f"s{i}", username=f"login{i}", email=f"{i}@example.org", platform=platform, platform_id=str(i))
        for i in range(count)
    ]
    # Names of submissions, notes and results are hostile; who they are is said by ids.
    texts = [text if len(text) < 1_000 else text[:1_000] for text in names]
    entries = []
    for number, person in enumerate(people):
        entry = class_of(texts[number % len(texts)])[0]
        entries.append(replace(entry, name=f"{entry.name}{number}", people=(person,), key=f"{number:064x}"))
    graded = write_files(tmp_path / "graded", entries)
    feedback = ["--feedback"] if platform == "moodle" else []
    ended = command(
        *("gradebook", platform, graded, "--gradebook", exported, "--out", tmp_path / "filled.csv", *feedback)
    )
    assert ended.code == 0, ended.err
    before, after = (
        list(csv.reader(io.StringIO(path.read_bytes().decode(), newline="")))
        for path in (exported, tmp_path / "filled.csv")
    )
    changed = set()
    for old, new in zip(before, after, strict=True):
        for place, (was, now) in enumerate(zip(old, new, strict=True)):
            if was != now:
                assert was == "" and (re.fullmatch(r"\d+", now) if place == column else now.startswith("GRPO course: "))
                assert not formulas(now) and not is_text(now)
                changed.add(place)
    assert changed == ({column, 5} if platform == "moodle" else {column})


@pytest.mark.parametrize("place", ["submission", "submitted_at", "id", "name"])
def test_a_roster_of_any_text_ends_in_sentences(
    place: str, graded_class: Path, tmp_path: Path, command: Command
) -> None:
    names = [text for text in HOSTILE.values() if text.strip() and "\0" not in text and len(text) < 1_000]
    names = [text.encode("utf-8", "ignore").decode() for text in names]
    file = io.StringIO(newline="")
    table = csv.DictWriter(file, ["submission", "submitted_at", "id", "name"])
    table.writeheader()
    known = next(entry.name for entry in each_entry(graded_class) if entry.name.startswith("a :skull:"))
    table.writerows({"submission": known, "submitted_at": "", "id": "1", "name": "", place: name} for name in names)
    (tmp_path / "roster.csv").write_text(file.getvalue(), "utf-8", newline="")
    (tmp_path / "export.csv").write_bytes(canvas_export(names))
    ended = command(
        *("gradebook", "canvas", graded_class, "--gradebook", tmp_path / "export.csv", "--dry-run"),
        *("--roster", tmp_path / "roster.csv"),
    )
    assert ended.code in (1, 2) and (ended.out or ended.err)


# ---------------------------------------------------------------- names of folders, archives and students


KL = "2\n"  # what a grading by hand takes: two checks pass


def _folders(place: Path) -> None:
    for number, text in enumerate(HOSTILE.values()):
        folder = place / on_disk(text)
        folder = place / f"{number}{on_disk(text)}" if folder.exists() else folder
        folder.mkdir()
        (folder / "kl.py").write_text(KL, "utf-8")
    for number, text in enumerate(HOSTILE.values()):  # beside it, and no submission
        (place / f"{on_disk(text)}{number}.txt").write_text("x", "utf-8")


def _archives(place: Path) -> None:
    """A zip for each text, with the text as the name of its only member; half of them hold no module."""
    for number, text in enumerate(HOSTILE.values()):
        with zipfile.ZipFile(place / f"student-{number}.zip", "w") as archive:
            clean = text[:1_000].encode("utf-8", "ignore").decode()
            archive.writestr(f"{clean}/kl.py" if number % 2 else f"{clean}.txt", KL)
            archive.writestr(f"2{clean}/kl.py" if number % 2 else f"2{clean}.doc", KL)
    (place / "\x1b[31m\u202e.zip").write_bytes(b"no zip")


def _gradescope(place: Path) -> None:
    metadata = {}
    for number, text in enumerate(HOSTILE.values()):
        (place / f"submission_{number}").mkdir()
        (place / f"submission_{number}" / "kl.py").write_text(KL, "utf-8")
        text = text.encode("utf-8", "ignore").decode()
        person = {":name": text, ":email": text, ":sid": text}
        metadata[f"submission_{number}"] = {":submitters": [person], ":created_at": text}
    (place / METADATA).write_text(yaml.safe_dump(metadata), "utf-8")


def _canvas(place: Path) -> None:
    for number, text in enumerate(HOSTILE.values()):
        who = on_disk(text.replace("_", "")[:50])
        (place / f"{who}_LATE_{number}_{number}_kl.py").write_text(KL, "utf-8")


def _moodle(place: Path) -> None:
    for number, text in enumerate(HOSTILE.values()):
        folder = place / f"{on_disk(text[:50])}_{number}_assignsubmission_file"
        folder.mkdir()
        (folder / "kl.py").write_text(KL, "utf-8")


CLASSES = {each.__name__[1:]: each for each in (_folders, _archives, _gradescope, _canvas, _moodle)}


@pytest.mark.parametrize("layout", CLASSES)
def test_every_submission_of_a_class_gets_a_name_that_is_text_and_a_file_of_its_own(
    layout: str, tmp_path: Path
) -> None:
    CLASSES[layout](tmp_path)
    left_out: list[str] = []
    found = find_submissions(tmp_path, left_out=left_out)
    assert len(found) == len(HOSTILE) + (layout == "archives")
    files = set()
    for each in found:
        assert not is_text(each.name, newlines=False), ascii(each.name)
        contents = each.read()
        for note in contents.notes:
            assert not is_text(note, newlines=False), ascii(note)
            assert len(note) < 1_000
        written = tmp_path.parent / f"{file_name(each.name)}.html"
        assert written.parent == tmp_path.parent and len(written.name.encode()) + len(".xxxxxxxx.") <= 255
        assert not re.fullmatch(r"(con|prn|aux|nul|(com|lpt)[0-9\u00b9\u00b2\u00b3]) *(\..*)?", written.name.casefold())
        assert re.fullmatch(r"[\w ._()-]+", written.name) and not written.name.startswith((".", " "))
        files.add(written.name.casefold())
    assert len(files) == len(found)


def test_a_class_is_graded_and_reported_whatever_its_names_are(tmp_path: Path, command: Command) -> None:
    """The whole way: names of folders, archives and their members into every file and line that the commands write."""
    submissions, out = tmp_path / "class", tmp_path / "graded"
    submissions.mkdir()
    _folders(submissions)
    _archives(submissions)
    formats = [word for name in FORMATS if name != "classroom50" for word in ("--write", name)]
    with graded_by_hand():
        ended = command(
            *("grade-all", submissions, "--out", out, "--exercises", "kl", "--engine", "serial", *formats),
            *("--require-level", 0),
        )
    assert ended.code == 1, (ended.out, ended.err)
    csv_inventory((out / "grades.csv").read_text("utf-8"))
    entries = list(each_entry(out))
    assert len(entries) == 2 * len(HOSTILE) + 1
    for name in set(FORMATS) - {"classroom50"}:
        written = sorted(path for path in (out / name).iterdir())
        assert len(written) == (len(entries) if name == "html" else sum(not entry.no_code for entry in entries))
        assert all(path.suffix == _ENDINGS.get(name, ".json") for path in written)
        shapes = [INVENTORIES[name](path.read_text("utf-8")) for path in written[:: len(written) // 20]]
        assert shapes
    html_pages = [path.read_text("utf-8") for path in (out / "html").iterdir()]
    assert len({str(Tags(page).found["script", ()]) for page in html_pages}) == 1
    report = ("report", out, "--out", tmp_path / "class.html", "--names", "--similarity", submissions)
    for arguments, code in ((report, 1), (("diff", out, out), 0), (("adjust", out), 0)):  # some have no mark
        assert command(*arguments).code == code
    html_inventory((tmp_path / "class.html").read_text("utf-8"))


# ---------------------------------------------------------------- worksheets


def worksheet(texts: Sequence[str]) -> str:
    answers = [{"id": question.id, "answer": text} for question, text in zip(QUESTIONS, texts, strict=False)]
    answers += [{"id": text, "answer": text} for text in texts]
    document = {"worksheet": WORKSHEET_NAME, "version": VERSION, "answers": answers, "runs": []}
    return json.dumps(document)


def test_no_answer_and_no_name_is_more_than_text_in_the_worksheet_page(tmp_path: Path, command: Command) -> None:
    def made(kind: str, texts: Sequence[str]) -> tuple[set[object], set[object]]:
        folders = []
        for number in range(0, len(texts), len(QUESTIONS)):
            folder = tmp_path / kind / f"{number}{on_disk(texts[number])}"
            folder.mkdir(parents=True)
            (folder / WORKSHEET_FILE).write_text(worksheet(texts[number : number + len(QUESTIONS)]), "utf-8")
            folders.append(folder)
            assert command("worksheet", "--path", folder, main=cli.main).code == 1
        assert command("worksheet", *folders, "--out", tmp_path / "page.html").code == 0
        tree, tags = html_inventory((tmp_path / "page.html").read_text("utf-8"))
        return set(tree), set(tags)

    harmless = made("harmless", [BENIGN, "x", BENIGN * 5, "", "x" * 100_000] * 10)
    hostile = made("hostile", list(HOSTILE.values()))
    # How many there are depends on which answers are attempts; of another kind there is none.
    assert hostile[0] <= harmless[0] and hostile[1] <= harmless[1]
