"""`course feedback`: who gets which report, in the layout that a platform reads, and nothing hidden in any of them.

The readers of the zips are ports of the importers: Moodle's `importziplib.php` and Canvas's `abstract_assignment.rb`.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

import pytest
from command import call
from exports_results import SECRET, example
from hostile_texts import HOSTILE, csv_inventory, html_inventory
from html_reports import Page
from reported_class import write_results

from grader.classroom.feedback_zip import PLATFORMS, plan
from grader.classroom.results import Entry, Person
from grader.classroom.student_page import without_hidden
from grader.classroom.submissions import find_submissions
from grader.commands import course as course_command
from grader.core import course
from grader.core.course_file import CourseFile
from grader.core.result import FAILED, WAITING, Result, from_json

ADA = Person(name="Ada Lovelace", email="ada@uni.example", platform="moodle", platform_id="101")
ZOE = Person(name="Zoë O'Brien, Jr.", email="zoe@uni.example", platform="moodle", platform_id="102")
PARTICIPANTS = {101: "ada", 102: "zoe", 103: "cyd"}


def entry(name: str, *people: Person, result: Result | None = None, **more: object) -> Entry:
    key = re.sub(r"\W", "_", name)
    return Entry(name, people=people, key=key, result=result or example(), **more)  # type: ignore[arg-type]


def write_class(folder: Path, entries: Sequence[Entry], *, secret: str = "0123456789abcdef") -> None:
    write_results(folder, entries, {"settings": {"secret": secret}})


def feedback(folder: Path, *arguments: object) -> tuple[int, str, dict[str, bytes]]:
    """The exit code and output of the command, and the members of its zip."""
    done = call(course_command.main, "feedback", *arguments, "--out", "feedback.zip", cwd=folder)
    if not (folder / "feedback.zip").exists():
        return done.returncode, done.stdout + done.stderr, {}
    with zipfile.ZipFile(folder / "feedback.zip") as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        assert len(names) == len({unicodedata.normalize("NFC", name).casefold() for name in names})
        return done.returncode, done.stdout + done.stderr, {name: archive.read(name) for name in names}


def read_by_moodle(files: Mapping[str, bytes], participants: Mapping[int, str]) -> dict[tuple[str, str], bytes]:
    """By participant and file name what Moodle takes, with the rule of versions before 4.1 too."""
    taken = {}
    for path, data in files.items():
        if PurePosixPath(path).name.startswith((".", "~")):
            continue
        parts = path.split("/")
        while parts:
            info = parts.pop(0).split("_", 4)
            if len(info) < 4 or not info[1].isdigit() or int(info[1]) not in participants:
                continue
            if info[2:4] != ["assignsubmission", "file"]:
                continue
            assert len(info) == 5, "versions before 4.1 would skip it"
            rest = "/".join([info[4], *parts])
            taken[participants[int(info[1])], rest.strip("/")] = data
            break
    return taken


def read_by_canvas(files: Mapping[str, bytes], attachments: Mapping[int, int]) -> dict[int, str]:
    """By user the ending of the file that Canvas attaches; `attachments` says whose each uploaded file is."""
    taken = {}
    for path in files:
        parts = [part for part in PurePosixPath(path).name.split("_") if part != "LATE"]
        assert parts[0] != "anon" and not parts[-1].startswith("link")
        user, attachment = [int(part) for part in parts if re.fullmatch(r"[0-9]+", part)][:2]
        if attachments.get(attachment) == user:
            taken[user] = PurePosixPath(path).suffix
    return taken


def test_moodle_finds_everybody_in_a_group_too(tmp_path: Path) -> None:
    write_class(tmp_path / "graded", [entry("Ada Lovelace_101", ADA), entry("team", ADA, ZOE)])
    code, said, files = feedback(tmp_path, "moodle", "graded")
    assert code == 0 and "2 reports, for 3 students" in said
    taken = read_by_moodle(files, PARTICIPANTS)
    assert set(taken) == {("ada", "report.html"), ("ada", "report-2.html"), ("zoe", "report.html")}
    assert "Zoë O'Brien, Jr._102_assignsubmission_file_/report.html" in files  # as Moodle had it
    for each in taken.values():
        html_inventory(each.decode())


def test_canvas_finds_users_by_the_numbers_of_its_download(tmp_path: Path) -> None:
    names = ["lovelaceada_101_5551_kl.py", "lovelaceada_101_5553_clip.py", "müllerzoë_LATE_102_5552_hand_in_7_8.zip"]
    names += ["1234_103_5554_kl.py", "anon_104_5555_kl.py"]
    (tmp_path / "download").mkdir()
    for name in names:
        (tmp_path / "download" / name).write_text("x = 1\n", "utf-8")
    found = find_submissions(tmp_path / "download")
    write_class(tmp_path / "graded", [entry(each.name, *each.people, uploads=each.uploads) for each in found])
    code, said, files = feedback(tmp_path, "canvas", "graded")
    assert code == 0 and "4 reports\n" in said
    attachments = {5551: 101, 5552: 102, 5553: 101, 5554: 103, 5555: 104}
    assert read_by_canvas(files, attachments) == {101: ".html", 102: ".zip", 103: ".html", 104: ".html"}
    assert "lovelaceada_101_5553_report.html" in files  # the last of several uploads
    inner = zipfile.ZipFile(io.BytesIO(files["müllerzoë_LATE_102_5552_report.zip"]))  # shown as hand_in_7_8.zip
    assert inner.namelist() == ["report.html"] and b"<!DOCTYPE html>" in inner.read("report.html")


@pytest.mark.parametrize(
    "address",
    ["", "ada", "a@b", "a@x.example, b@x.example", "a@x.example\nBcc: b@x.example", "<a@x.example>", "=a@x.example"],
)
def test_an_invalid_address_gets_no_mail_and_is_listed(address: str) -> None:
    found = plan([entry("eve", replace(ADA, email=address))], "mail", {})
    assert not found.reports and len(found.left_out) == 1 and "eve: " in found.left_out[0]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_an_ungraded_submission_gets_no_report_and_is_listed(platform: str) -> None:
    entries = [
        replace(entry("failed", ADA), result=None, problem="its process died"),
        replace(entry("waiting", ADA), result=None),
        entry("stopped", ADA, result=example(complete=False)),
        entry("debugged", ADA, result=example(grade=False)),
    ]
    found = plan(entries, platform, {})
    assert not found.reports
    assert [line.split(":")[:2] for line in found.left_out] == [[each.name, " NOT GRADED"] for each in entries]


def test_unknown_students_are_listed_and_never_guessed(tmp_path: Path) -> None:
    elsewhere = replace(ADA, platform="canvas")
    unknown = [entry("canvas", elsewhere), entry("nobody"), entry("github", Person(username="ada", platform="github"))]
    write_class(tmp_path / "graded", [*unknown, entry("zoe", ZOE)])
    code, said, files = feedback(tmp_path, "moodle", "graded")
    assert code == 1 and set(read_by_moodle(files, PARTICIPANTS)) == {("zoe", "report.html")}
    write_class(tmp_path / "unknown", unknown)
    (tmp_path / "feedback.zip").unlink()
    assert feedback(tmp_path, "moodle", "unknown")[::2] == (1, {}), "without any report nothing is written"
    listed = said.partition("Without a report:\n")[2].splitlines()
    assert [line.split(":")[0].strip() for line in listed if line.startswith("  ")] == ["canvas", "nobody", "github"]


def test_a_number_or_address_of_two_students_reaches_neither() -> None:
    entries = [entry("a", ADA), entry("b", replace(ZOE, platform_id="Participant 101", email="ADA@uni.example"))]
    for platform in ("moodle", "mail"):
        found = plan(entries, platform, {})
        assert not found.reports and len(found.left_out) == 2
        assert all("Ada Lovelace and Zoë O'Brien, Jr." in line for line in found.left_out)


@pytest.mark.parametrize("source", ["download", "roster", "worksheet", "nobody"])
def test_a_report_says_what_lateness_cost_and_why(tmp_path: Path, monkeypatch, capsys, source: str) -> None:
    moment = datetime(2031, 11, 22, 12, tzinfo=UTC)
    due = datetime(2031, 11, 20, 23, 59, tzinfo=UTC)
    late = {"deduction_percent": 10}
    monkeypatch.setattr(course, "WRITTEN", CourseFile("Mine", ("kl",), deadline=due, late=late, time_zone="UTC"))
    monkeypatch.chdir(tmp_path)
    write_class(tmp_path / "graded", [entry("ada", ADA, submitted_at=moment if source == "download" else None)])
    Path("roster.csv").write_text("submission,submitted_at\nada,22.11.2031 12:00\n", "utf-8")
    Path("worksheet.csv").write_text(
        "ID,E-Mail-Adresse,Zuletzt geändert (Abgabe)\nTeilnehmer/in 101,ada@uni.example,22. November 2031 12:00\n",
        "utf-8",
    )
    more = {"roster": ["--roster", "roster.csv"], "worksheet": ["--gradebook", "worksheet.csv"]}.get(source, [])
    assert course_command.main(["feedback", "mail", "graded", "--out", "f.zip", *more]) == 0
    with zipfile.ZipFile("f.zip") as archive:
        page = Page(archive.read("reports/ada.html").decode()).text
        (row,) = csv.DictReader(io.StringIO(archive.read("mail.csv").decode()))
    points, earned = example().points, example().earned
    if source == "nobody":
        assert "deduction for late work. 10 % of all points" in page and row["points"] == str(earned)
        assert "hand-in time is unknown" in capsys.readouterr().out
    else:
        counts = max(0, earned - points * 20 / 100)
        assert "2 days late: handed in 36 h 1 min after Thu 20 Nov 2031, 23:59" in page
        assert f"With them: {counts:g} of {points} points" in page and float(row["points"]) == counts


def test_everybody_in_a_group_reads_what_their_own_deadline_costs(tmp_path: Path, monkeypatch) -> None:
    due = datetime(2031, 11, 20, 23, 59, tzinfo=UTC)
    written = CourseFile("Mine", ("kl",), deadline=due, late={"deduction_percent": 10}, time_zone="UTC")
    monkeypatch.setattr(course, "WRITTEN", written)
    monkeypatch.setattr(course, "ROOT", tmp_path)
    monkeypatch.chdir(tmp_path)
    Path("extensions.toml").write_text('[[extension]]\nstudent = "ada@uni.example"\ndue = 2031-12-01T00:00:00\n')
    write_class(tmp_path / "graded", [entry("team", ADA, ZOE, submitted_at=datetime(2031, 11, 22, 12, tzinfo=UTC))])
    assert course_command.main(["feedback", "mail", "graded", "--out", "f.zip"]) == 0
    with zipfile.ZipFile("f.zip") as archive:
        rows = {row["name"]: row for row in csv.DictReader(io.StringIO(archive.read("mail.csv").decode()))}
        late = {name: "2 days late" in archive.read(row["file"]).decode() for name, row in rows.items()}
    assert late == {ADA.name: False, ZOE.name: True}


def test_canvas_shows_a_group_the_lateness_of_each_because_all_read_one_report(tmp_path: Path, monkeypatch) -> None:
    due = datetime(2031, 11, 20, 23, 59, tzinfo=UTC)
    written = CourseFile("Mine", ("kl",), deadline=due, late={"deduction_percent": 10}, time_zone="UTC")
    monkeypatch.setattr(course, "WRITTEN", written)
    monkeypatch.setattr(course, "ROOT", tmp_path)
    monkeypatch.chdir(tmp_path)
    ada = Person(name="lovelaceada", platform="canvas", platform_id="101")
    write_class(tmp_path / "graded", [entry("lovelaceada_101", ada, uploads=("lovelaceada_101_5551_kl.py",))])
    lines = ("submission,id,name,submitted_at", "lovelaceada_101,101,Ada Lovelace,2031-11-22 12:00")
    Path("roster.csv").write_text("\n".join([*lines, "lovelaceada_101,102,Zoe Brien,2031-11-22 12:00"]), "utf-8")
    arguments = ("canvas", "graded", "--roster", "roster.csv")
    page = feedback(tmp_path, *arguments)[2]["lovelaceada_101_5551_report.html"].decode()
    assert "2 days late" in page and "With them" in page, "both are as late as each other"
    Path("extensions.toml").write_text('[[extension]]\nstudent = "102"\ndue = 2031-12-01T00:00:00\n')
    page = feedback(tmp_path, *arguments)[2]["lovelaceada_101_5551_report.html"].decode()
    assert "Ada Lovelace: 2 days late" in page and "Zoe Brien: on time" in page and "With them" not in page


def test_a_roster_and_moodles_worksheet_say_who_it_is(tmp_path: Path) -> None:
    # A group's folder has the number of the group, which may be that of somebody else's participation.
    team = Person(name="Team A", platform="moodle", platform_id="103")
    write_class(tmp_path / "graded", [entry("repo-ada"), entry("Team A_103", team)])
    (tmp_path / "worksheet.csv").write_text(
        "Identifier,Full name,Email address,Grade\nParticipant 101,Ada Lovelace,ada@uni.example,\n"
        'Participant 102,"Zoë O\'Brien, Jr.",zoe@uni.example,\nParticipant 103,Cyd Charisse,cyd@uni.example,\n',
        "utf-8",
    )
    (tmp_path / "roster.csv").write_text("submission,email\nrepo-ada,ada@uni.example\n", "utf-8")
    arguments = ("--roster", "roster.csv", "--gradebook", "worksheet.csv")
    for platform in ("moodle", "mail"):
        code, said, files = feedback(tmp_path, platform, "graded", *arguments)
        assert code == 1 and "Team A_103: Team A: by the number at the platform, this is Cyd Charisse" in said
        if platform == "moodle":
            assert set(read_by_moodle(files, PARTICIPANTS)) == {("ada", "report.html")}
        else:
            (row,) = csv.DictReader(io.StringIO(files["mail.csv"].decode()))
            assert row["email"] == "ada@uni.example" and row["name"] == "Ada Lovelace"
    with (tmp_path / "roster.csv").open("a", encoding="utf-8") as roster:
        roster.write("Team A_103,zoe@uni.example\nTeam A_103,cyd@uni.example\n")
    code, _, files = feedback(tmp_path, "moodle", "graded", *arguments)
    assert code == 0 and {who for who, _ in read_by_moodle(files, PARTICIPANTS)} == {"ada", "zoe", "cyd"}


def test_a_report_names_mistakes_in_words_and_tells_nothing_of_a_hidden_check(tmp_path: Path) -> None:
    result = example()
    hidden = next(check for check in result.checks if check.hidden)
    hidden.title = "It agrees with the model answer on odd groups."
    waiting = next(check for check in result.checks if check.outcome == WAITING)
    waiting.waits_for, waiting.may_come_from = [hidden.title], [f"what fails in “{hidden.title}”"]
    for secret, told in (("", False), ("0123456789abcdef", True)):  # of a class without one nothing was withheld
        folder = tmp_path / f"class{told}"
        write_class(folder / "graded", [entry("ada", ADA, result=result)], secret=secret)
        (page,) = feedback(folder, "moodle", "graded")[2].values()
        text = Page(page.decode()).text
        assert "the mean is not subtracted" in text and "A hidden check of group_advantages" in text
        assert hidden.title not in text and (SECRET in text) is told
    assert f"✗ {FAILED} 0 of 1 A hidden check of group_advantages" in text


def test_the_same_reports_are_the_same_file_and_no_secret_is_in_it(tmp_path: Path) -> None:
    write_class(tmp_path / "graded", [entry("ada", ADA)])
    (tmp_path / "graded" / "class-secret").write_text("5" * 64 + "\n")
    before = example().as_json()
    first = feedback(tmp_path, "moodle", "graded")
    data = (tmp_path / "feedback.zip").read_bytes()
    assert feedback(tmp_path, "moodle", "graded") == first and (tmp_path / "feedback.zip").read_bytes() == data
    assert not any(b"5" * 64 in page or b"0123456789abcdef" in page for page in first[2].values())
    result = from_json(before)
    without_hidden(result, drawn_secretly=False)
    assert result.as_json() == before, "hidden checks are left out of a copy"


@pytest.mark.parametrize("platform", ["moodle", "mail"])
def test_a_mail_merge_has_a_row_for_each_student_and_no_name_leads_out_of_the_zip(platform, tmp_path):
    entries = [entry("a/../team", ADA, ZOE)]
    for number, text in enumerate(HOSTILE.values(), 500):
        person = Person(name=text, email=f"s{number}@uni.example", platform="moodle", platform_id=str(number))
        entries.append(entry(f"sub {number}", person))
    write_class(tmp_path / "graded", entries)
    code, _, files = feedback(tmp_path, platform, "graded")
    assert code == 0
    for path in files:
        assert not re.search(r'[\\:*?"<>|\x00-\x1f\x7f-\x9f]', path) and not path.startswith(("/", ".", "~"))
        assert ".." not in PurePosixPath(path).parts and len(path.encode()) < 255
    if platform == "moodle":
        to = {number: str(number) for number in (101, 102, *range(500, 500 + len(HOSTILE)))}
        assert {*read_by_moodle(files, to)} == {(each, "report.html") for each in to.values()}
        return
    text = files.pop("mail.csv").decode()
    csv_inventory(text)
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["email"] for row in rows[:3]] == ["ada@uni.example", "zoe@uni.example", "s500@uni.example"]
    assert rows[0]["file"] == rows[1]["file"] != rows[2]["file"]
    assert len(rows) == len(HOSTILE) + 2 and {row["file"] for row in rows} == {*files}
    assert (rows[0]["points"], rows[0]["of"]) == (str(example().earned), str(example().points))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("canvas", "graded", "--out", "f.zip"), "course grade-all"),
        (("canvas", "graded", "--out", "f.zip", "--gradebook", "r.csv"), "only for moodle and mail"),
        (("moodle", "graded", "--out", "f.tar"), "ends in .zip"),
        (("moodle", "graded", "--out", "nowhere/f.zip"), "there is no folder nowhere"),
        (("moodle", "graded", "--out", "f.zip", "--roster", "none.csv"), "none.csv: No such file"),
        (("moodle", "graded", "--out", "f.zip", "--gradebook", "r.csv"), "r.csv: "),
        (("moodle", "graded", "--out", "f.zip", "--match", "email=Mail"), "--match needs --gradebook"),
        (("moodle", "nothing", "--out", "f.zip"), "contains no submissions.json"),
    ],
)
def test_wrong_usage_is_told_and_writes_nothing(tmp_path: Path, arguments: Sequence[str], sentence: str) -> None:
    write_class(tmp_path / "graded", [entry("ada", ADA)])
    (tmp_path / "r.csv").write_text("nothing of the kind\n")
    before = sorted(tmp_path.rglob("*"))
    done = call(course_command.main, "feedback", *arguments, cwd=tmp_path)
    assert done.returncode == 2 and sentence in " ".join(done.stderr.split())
    assert sorted(tmp_path.rglob("*")) == before
