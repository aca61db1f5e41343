"""Reading a class: the layouts of the platforms, archives, copies, and malicious archives and names."""

from __future__ import annotations

import gzip
import io
import re
import stat
import struct
import tarfile
import tracemalloc
import zipfile
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from class_maker import model_files, tar_bytes, zip_bytes
from submissions import write_files

from grader.classroom.results import ClassError, Person, file_name
from grader.classroom.submissions import HandedIn, find_submissions
from grader.core import files as class_files
from grader.core.contents import MODULES, Contents
from grader.core.files import UnreadableError, members_of_archive
from grader.worksheet.reader import worksheet_in

Files = dict[str, str | bytes]
KL = "def kl_estimate():\n    pass\n"
HERE = {"kl.py": KL}


def one(found: list[HandedIn]) -> Contents:
    (submission,) = found
    return submission.read()


def handed_in(folder: Path, files: Mapping[str, str | bytes]) -> Contents:
    """The contents of a class of one."""
    return one(find_submissions(write_files(folder, files)))


def modules(found: list[HandedIn]) -> dict[str, set[str]]:
    return {each.name: {*each.read().submission.files} for each in found}


# Layouts

PACKINGS = {
    "folder": lambda files: {f"ada/{name}": text for name, text in files.items()},
    "zip": lambda files: {"ada.zip": zip_bytes(files)},
    "tar": lambda files: {"ada.tar": tar_bytes(files)},
    "tar.gz": lambda files: {"ada.tar.gz": tar_bytes(files, "w:gz")},
    "tgz": lambda files: {"ada.tgz": tar_bytes(files, "w:gz")},
    "zip in a folder": lambda files: {"ada/hand in.ZIP": zip_bytes(files)},
}


@pytest.mark.parametrize("packing", PACKINGS)
def test_modules_are_found_wherever_a_student_leaves_them(tmp_path: Path, packing: str) -> None:
    for place in ("", "starter/", "my homework/grpo/", "src/starter/"):
        files: Files = {f"{place}{name}": text for name, text in model_files().items()}
        contents = handed_in(tmp_path / f"x{place}", PACKINGS[packing](files))
        assert contents.submission.files == model_files(), place
        assert not contents.submission.problems and not contents.notes


def test_gradescope_says_who_and_when(tmp_path: Path) -> None:
    metadata = """---
submission_42:
  :submitters:
  - :name: Ada Lovelace
    :sid: 00420
    :email: ada@example.org
  - :name: Bob
    :sid:
    :email: bob@example.org
  :created_at: 2026-11-20 23:59:59.123456000 -08:00
  :score: 3.0
  :status: :processed
"""
    files: Files = {"submission_42/kl.py": KL, "submission_7/kl.py": KL, "submission_metadata.yml": metadata}
    nested: Files = {f"assignment_9_export/{name}": text for name, text in files.items()}
    for path in (
        write_files(tmp_path / "folder", files),
        write_files(tmp_path / "nested", nested),
        write_files(tmp_path, {"export.zip": zip_bytes(nested)}) / "export.zip",
    ):
        found = {each.name: each for each in find_submissions(path)}
        ada, nobody = found["submission_42"], found["submission_7"]
        assert ada.people == (
            Person(name="Ada Lovelace", email="ada@example.org", number="00420", platform="gradescope"),
            Person(name="Bob", email="bob@example.org", platform="gradescope"),
        )
        assert ada.submitted_at == datetime(2026, 11, 20, 23, 59, 59, 123456, tzinfo=timezone(timedelta(hours=-8)))
        assert (nobody.people, nobody.submitted_at) == ((), None) and {*ada.read().submission.files} == {"kl.py"}


def test_a_submission_that_gradescope_lists_and_does_not_hold_is_named(tmp_path: Path) -> None:
    entry = "submission_%d:\n  :submitters:\n  - :name: %s\n  :created_at: 2026-11-20 23:59:59 Z\n"
    files: Files = {"submission_metadata.yml": entry % (1, "Ada") + entry % (2, "Bob"), "submission_1/kl.py": KL}
    ada, bob = find_submissions(write_files(tmp_path / "export", files))
    assert ada.read().submission.files == HERE and bob.submitted_at == ada.submitted_at
    contents = bob.read()
    assert "download the export again" in contents.notes[0].text and worksheet_in(contents.worksheet).problem
    assert [person.name for person in bob.people] == ["Bob"] and {*contents.submission.problems} == {*MODULES}


@pytest.mark.parametrize(
    "entry",
    [
        "5", "\n  :submitters: 5", "\n  :submitters:\n  - 3\n  - :name: [a, b]\n  :created_at: 2026-13-45",
        "\n  :created_at: [1]", "!!python/object/apply:os.mkdir [made]",
    ],
)  # fmt: skip
def test_odd_metadata_is_ignored_and_never_executed(tmp_path: Path, monkeypatch, entry: str) -> None:
    monkeypatch.chdir(tmp_path)
    files: Files = {"submission_metadata.yml": f"submission_1: {entry}\n", "submission_1/kl.py": KL}
    (found,) = find_submissions(write_files(tmp_path / "in", files))
    assert found.submitted_at is None and not any(person.name for person in found.people)
    assert found.read().submission.files == HERE and not (tmp_path / "made").exists()


# The loader of libyaml recurses in C, which ends in a segmentation fault; aliases of aliases would fill the memory.
ALIASES = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 15))


@pytest.mark.parametrize(
    "text",
    [
        "{", "a: [", "a: b: c", "\x00", "a: &a [*a, *a]", *(piece * 100_000 for piece in ("[", "{a: ", "- ", "? ")),
        f"a0: &a0 [x, x]\n{ALIASES}\nsubmission_1: {{:submitters: *a14}}",
    ],
    ids=lambda text: ascii(text[:15]),
)  # fmt: skip
def test_broken_metadata_asks_for_a_new_export(tmp_path: Path, text: str) -> None:
    with pytest.raises(ClassError, match="download the export again"):
        find_submissions(write_files(tmp_path, {"submission_metadata.yml": text, "submission_1/kl.py": KL}))


@pytest.mark.machine
def test_canvas_gives_flat_files_and_says_who_was_late(tmp_path: Path) -> None:
    files: Files = {
        "lovelaceada_101_5551_kl.py": KL,
        "lovelaceada_101_5551_clip-2.py": "# second\n",
        "lovelaceada_101_5551_clip-1.py": "# first\n",
        "müllerzoë_LATE_102_5552_hand_in.zip": zip_bytes({"x/kl.py": KL}),
        "README.txt": "a note of the instructor",
        "old/kl.py": KL,
    }
    left_out: list[str] = []
    found = find_submissions(write_files(tmp_path / "canvas", files), left_out=left_out)
    assert modules(found) == {"lovelaceada_101": {"kl.py", "clip.py"}, "müllerzoë_102": {"kl.py"}}
    assert left_out == ["README.txt", "old"]
    ada, zoe = found
    assert ada.people == (Person(name="lovelaceada", platform="canvas", platform_id="101"),) and not ada.marked_late
    assert zoe.people == (Person(name="müllerzoë", platform="canvas", platform_id="102"),) and zoe.marked_late
    assert ada.read().submission.files["clip.py"] == "# second\n" and "clip-1.py" in ada.read().notes[1].text
    zipped = write_files(tmp_path, {"submissions.zip": zip_bytes(files)}) / "submissions.zip"
    assert modules(find_submissions(zipped)) == modules(found)


def test_canvas_numbers_of_uploads_are_numbers(tmp_path: Path) -> None:
    files: Files = {
        "doejane_1_9998_second.zip": zip_bytes({"kl.py": "# 9998\n"}),
        "doejane_1_10001_first.zip": zip_bytes({"kl.py": "# 10001\n"}),
        "aroejim_2_9999_clip.py": "# 9999\n",
        "aroejim_2_10000_clip.py": "# 10000\n",
    }
    for one, other in in_every_packing(tmp_path, files):
        assert one.read().submission.files == {"clip.py": "# 10000\n"}
        assert other.read().submission.files == {"kl.py": "# 10001\n"}


@pytest.mark.machine
def test_moodle_gives_a_folder_for_each_participant_or_flat_files(tmp_path: Path) -> None:
    files: Files = {
        "Ada Lovelace_1234_assignsubmission_file_/homework/kl.py": KL,
        "Ada Lovelace_1234_assignsubmission_onlinetext_/onlinetext.html": "<p>hello</p>",
        "Bob Ö_1235_assignsubmission_file/hand in.zip": zip_bytes({"starter/kl.py": KL}),
    }
    found = find_submissions(write_files(tmp_path / "folders", files))
    assert modules(found) == {"Ada Lovelace_1234": {"kl.py"}, "Bob Ö_1235": {"kl.py"}}
    ada = Person(name="Ada Lovelace", platform="moodle", platform_id="1234")
    alone: Files = {"Ada Lovelace_1234_assignsubmission_file/homework/kl.py": KL}
    zipped = write_files(tmp_path, {"class.zip": zip_bytes(alone)}) / "class.zip"
    flat = write_files(tmp_path / "flat", {"Ada Lovelace_1234_assignsubmission_file_kl.py": KL})
    for each in (found, find_submissions(zipped), find_submissions(flat)):
        assert each[0].people == (ada,) and {*each[0].read().submission.files} == {"kl.py"}


MARK = "assignsubmission_file_"
FORGED_NAMES: dict[str, tuple[Files, str, str]] = {
    # The files of Ann, and of somebody who chose a name, and the two names in the class.
    "like a part of Ann's upload": ({f"Ann_11_{MARK}/kl.py": KL}, f"Ann_11_{MARK}x_99_{MARK}/clip.py", "Ann_11"),
    "like a file of Ann's": ({f"Ann_11_{MARK}kl.py": KL}, f"Ann_11_{MARK}x_99_{MARK}clip.py", "Ann_11"),
    "like a file of Canvas": ({f"Ann_11_{MARK}/kl.py": KL}, f"x_1_2_y_99_{MARK}/clip.py", "Ann_11"),
    "like Ann's folder on Windows": ({f"Ann_11_{MARK}/kl.py": KL}, f"Ann_11_{MARK}\\x_99_{MARK}/clip.py", "Ann_11"),
    "as Ann's, but for an invisible letter": ({"ann/kl.py": KL}, "\u200bann/clip.py", "ann"),
    "as Ann's, but for half a character": ({"ann/kl.py": KL}, "\udcffann/clip.py", "ann"),
}


@pytest.mark.parametrize("case", FORGED_NAMES)
def test_a_name_that_somebody_chose_changes_nobody_elses_submission(tmp_path: Path, case: str) -> None:
    honest, forged, name = FORGED_NAMES[case]
    folders = [write_files(tmp_path / "with", {**honest, forged: "# forged\n"})]
    if forged.isprintable():  # the rest is in no zip
        zipped = zip_bytes({**honest, forged: "# forged\n"})
        folders.append(write_files(tmp_path, {"class.zip": zipped}) / "class.zip")
    for each in folders:
        found = {one.name: one for one in find_submissions(each)}
        assert len(found) == 2
        assert found.pop(name).read().submission.files == {"kl.py": KL}


def test_a_file_that_may_be_of_two_students_is_graded_for_nobody(tmp_path: Path) -> None:
    ((_, forged, _)) = FORGED_NAMES["like a file of Ann's"]
    (found,) = find_submissions(write_files(tmp_path, {forged: KL}))
    contents = found.read()
    assert found.people == () and not contents.submission.files
    assert "Ann (11)" in contents.notes[0].text and f"Ann_11_{MARK}x (99)" in contents.notes[0].text


def test_github_names_a_folder_after_the_assignment_and_the_user(tmp_path: Path) -> None:
    for name in ("grpo-hw1-ada", "grpo-hw1-alan-turing"):
        files: Files = {"starter/kl.py": KL, ".git/config": "[core]\n", "docs/kl.py": "", "README.md": ""}
        write_files(tmp_path / name, files)
    found = find_submissions(tmp_path)
    assert [each.people[0].username for each in found] == ["ada", "alan-turing"]
    assert all({*each.read().submission.files} == {"kl.py"} for each in found)


def test_any_name_of_a_student_is_accepted_and_other_files_are_left_out(tmp_path: Path) -> None:
    names = ["ann", "docs", "env", "reference", "tests"]
    files: Files = {f"hw/{name}/kl.py": KL for name in (*names, ".zed")}
    files |= {"hw/ann/docs/clip.py": "# no answer\n", "hw/__MACOSX/ann/kl.py": "", "hw/.DS_Store": "", "hw/._ann": ""}
    files |= {"hw/ann/venv/x/clip.py": "# no"}
    zipped = write_files(tmp_path, {"class.zip": zip_bytes(files)}) / "class.zip"
    del files["hw/__MACOSX/ann/kl.py"]
    folder = write_files(tmp_path / "in", files)
    for path in (zipped, folder, folder / "hw"):
        left_out: list[str] = []
        assert modules(find_submissions(path, left_out=left_out)) == {name: {"kl.py"} for name in names}
        assert left_out == [".zed"]
    beside = write_files(tmp_path / "beside", {"ada/kl.py": KL, "dora.ipynb": "{}"})
    (beside / "linked").symlink_to(beside / "ada")
    assert modules(find_submissions(beside, left_out=(left_out := []))) == {"ada": {"kl.py"}}
    assert left_out == ["dora.ipynb", "linked"]


def test_a_student_whose_files_all_lie_in_a_folder_that_is_not_read_is_named(tmp_path: Path) -> None:
    files: Files = {"ann/docs/kl.py": KL, "bob/kl.py": KL}
    for path in (write_files(tmp_path / "in", files), write_files(tmp_path, {"c.zip": zip_bytes(files)}) / "c.zip"):
        ann, bob = find_submissions(path)
        assert (ann.name, bob.name) == ("ann", "bob") and "no module" in ann.read().notes[0].text


@pytest.mark.machine
def test_names_stay_different_as_names_of_files(tmp_path: Path) -> None:
    long = "\u8a9e" * 80
    names = ["a*b", "a?b", "bob.", "bob", "Bob", "alice (2)", "alice", long + "x", long + "y", "e\u0301", "\u00e9"]
    files: Files = {f"{name}/kl.py": KL for name in [*names, "con"]}
    files |= {"alice.zip": zip_bytes({"kl.py": KL}), "alice.tar": tar_bytes({"kl.py": ""})}
    found = find_submissions(write_files(tmp_path, {"class.zip": zip_bytes(files)}) / "class.zip")
    assert len(found) == len({each.name for each in found}) == len(files)
    assert len({file_name(each.name).casefold() for each in found}) == len(files)
    assert max(len(file_name(each.name).encode()) for each in found) <= 240


@pytest.mark.parametrize(
    ("files", "path", "words"),
    [
        ({}, "nothing", "there is no"), ({"kl.py": KL}, "", "is one submission"),
        ({"notes.txt": ""}, "", "no folder or archive"),
        ({"submission_metadata.yml": "submission_1:\n  :score: 3.0\n"}, "", "no folder or archive"),
        ({"class.zip": b"PK no"}, "class.zip", "unpack it"), ({"class.rar": b"Rar!"}, "class.rar", "unpack it"),
    ],
)  # fmt: skip
def test_a_path_without_a_class_is_refused(tmp_path: Path, files: Files, path: str, words: str) -> None:
    with pytest.raises(ClassError, match=words):
        find_submissions(write_files(tmp_path, files) / path)


# One student: which files are graded, and which notes the instructor reads

ALL: Files = {f"ada/{name}": text for name, text in model_files().items()}
CASES: dict[str, tuple[Files, Mapping[str, str], bytes | None, list[str]]] = {
    "a copy in another folder": (
        {"ada/backup/kl.py": "# old\n", "ada/starter/kl.py": KL}, HERE, None, ["backup too; .*starter"]
    ),
    "no module": ({"ada/answers.ipynb": "{}"}, {}, None, ["found no module.*answers.ipynb"]),
    "another name": ({"ada/solution.py": KL}, {"kl.py": KL}, None, ["used solution.py as kl.py"]),
    "nearly the name": ({"ada/my_kl.py": KL}, HERE, None, ["used my_kl.py as kl.py"]),
    "two with nearly the name": (
        {"ada/kl_v1.py": KL, "ada/kl_v2.py": KL}, {}, None, ["found no module", "rename the one that counts"]
    ),
    "nearly the name of another file": (
        {"ada/kl.py": KL, "ada/test_clip.py": "def test_clip(): ...\n", "ada/kl_old.py": KL}, HERE, None, []
    ),
    "nearly the name, next to an archive": (
        {"ada/old_clip.py": "def clip_fraction(): ...\n", "ada/hw.zip": zip_bytes({"kl.py": KL})}, HERE, None, []
    ),
    "nothing in it": ({"ada/kl.py": KL, "ada/clip.py": b"\xef\xbb\xbf\r\n"}, HERE, None, ["clip.py is empty"]),
    "a virtual environment in an archive": (
        {"ada.zip": zip_bytes({"kl.py": KL, "venv/x/clip.py": "# no"})}, HERE, None, []
    ),
    "rubbish of a Mac": ({"ada/__MACOSX/kl.py": KL}, {}, None, ["found no module"]),
    "UTF-16": ({"ada/kl.py": KL.encode("utf-16")}, HERE, None, []),
    "UTF-16 without a mark": (
        {"ada/kl.py": KL.encode("utf-16-le"), "ada/clip.py": KL}, {"clip.py": KL}, None, ["kl.py .*UTF-8"]
    ),
    "an archive and a worksheet": (
        {"ada/hw.zip": zip_bytes({"kl.py": KL}), "ada/worksheet.json": "{}", "ada/notes/x.txt": ""}, HERE, b"{}", []
    ),
    "the same from Canvas": (
        {"doejane_1_1000_hw.zip": zip_bytes({"starter/kl.py": KL}), "doejane_1_1000_worksheet.json": "{}"},
        HERE, b"{}", [],
    ),
    "two worksheets": (
        {"ada/hw.zip": zip_bytes({"kl.py": KL, "worksheet.json": "inner"}), "ada/worksheet.json": "outer"},
        HERE, b"outer", ["next to hw.zip"],
    ),
    "a worksheet in each of two folders": (
        {"ada/s/kl.py": KL, "ada/s/worksheet.json": "near", "ada/s/old/worksheet (3).json": "far"},
        HERE, b"near", ["old"],
    ),
    "a damaged archive beside a worksheet": (
        {"ada/hw.zip": b"PK no", "ada/worksheet.json": "{}"}, {}, b"{}", ["hw.zip cannot be read"]
    ),
    "modules next to an archive": (
        {**ALL, "ada/hw.zip": zip_bytes({"kl.py": KL, "worksheet.json": "{}"})}, model_files(), None,
        ["did not open hw.zip"]
    ),
    "a module next to another kind of archive": (
        {"ada/kl.py": KL, "ada/x.7z": b"7z"}, HERE, None, ["did not open x.7z"]
    ),
    "an archive of something else": (
        {"ada/x.zip": zip_bytes({"a.csv": ""})}, {}, None, ["found no module.*a.csv"]
    ),
    "an archive in an archive": (
        {"ada.zip": zip_bytes({"work/hw.zip": zip_bytes({"kl.py": KL})})}, HERE, None, ["opened hw.zip, which is in"]
    ),
    "an archive in an archive in an archive": (
        {"ada.zip": zip_bytes({"a.zip": zip_bytes({"hw.zip": zip_bytes({"kl.py": KL})})})}, {}, None,
        ["opened a.zip", "did not open hw.zip", "found no module"]
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_graded_files_of_one_student_and_the_notes_about_them(tmp_path: Path, case: str) -> None:
    files, graded, worksheet, notes = CASES[case]
    contents = handed_in(tmp_path, files)
    assert contents.submission.files == graded and {*contents.submission.problems} == {*MODULES} - {*graded}
    assert contents.worksheet == worksheet if worksheet else worksheet_in(contents.worksheet).missing
    assert len(contents.notes) == len(notes), contents.notes
    for note, words in zip(contents.notes, notes, strict=True):
        assert re.search(words, note.text)


def in_every_packing(folder: Path, files: Files) -> list[list[HandedIn]]:
    """Two submissions: in a folder, and in zips with the same members in both orders."""
    found = [find_submissions(write_files(folder / "as folder", files))]
    for name in ("a.zip", "b.zip"):
        found.append(find_submissions(write_files(folder, {name: zip_bytes(files)}) / name))
        files = dict(reversed(files.items()))
    assert [len(each) for each in found] == [2, 2, 2]
    return found


@pytest.mark.parametrize(
    "names",
    [
        ["hw.zip", "hw (1).zip", "hw-2.zip"], ["hw-2.zip", "hw-10.zip"], ["hw (9).tar.gz", "hw(10).zip"],
        ["HW.zip", "hw (1).zip"], ["a-3.zip", "b.zip"], ["hw-3.zip", "more/hw-2.zip"],
    ],
)  # fmt: skip
def test_the_archive_with_the_highest_number_is_graded(tmp_path: Path, names: list[str]) -> None:
    inner: Files = {
        name: zip_bytes({"kl.py": f"# {name}\n"}) if name.endswith("zip") else tar_bytes({"kl.py": "# old\n"}, "w:gz")
        for name in names
    }
    files: Files = {"bob/kl.py": KL, **{f"ada/{name}": data for name, data in inner.items()}}
    for each, _ in in_every_packing(tmp_path / "class", files):
        assert each.read().submission.files == {"kl.py": f"# {names[-1]}\n"}
        (note,) = each.read().notes
        assert f"{len(names)} archives" in note.text and Path(names[-1]).name in note.text


@pytest.mark.parametrize(
    "names",
    [
        ["worksheet.json", "worksheet (2).json"], ["worksheet-2.json", "worksheet-10.json"], ["worksheet(1).json"],
        ["Worksheet.json", "worksheet.json"],
    ],
)  # fmt: skip
def test_the_last_download_of_a_worksheet_is_graded_with_a_note(tmp_path: Path, names: list[str]) -> None:
    files: Files = {"bob/kl.py": KL, "ada/kl.py": KL, **{f"ada/{name}": name for name in names}}
    for each, _ in in_every_packing(tmp_path, files):
        contents = each.read()
        assert contents.worksheet == names[-1].encode()
        assert len(contents.notes) == len(names) - (names[-1] == "worksheet.json")
        assert all(names[-1] in note.text for note in contents.notes)


# Malicious and damaged archives


def problem_with(folder: Path, name: str, data: bytes) -> str:
    """The problem with kl.py in an archive, of which nothing may be graded or written."""
    contents = handed_in(folder, {name: data})
    assert contents.submission.files == {} and contents.notes and worksheet_in(contents.worksheet).problem
    assert [path.name for path in folder.rglob("*")] == [name]
    return contents.submission.problems["kl.py"]


@pytest.mark.parametrize("name", ["../kl.py", "/kl.py", "a/../../kl.py", "..\\kl.py", "C:\\kl.py", "starter/../kl.py"])
def test_a_path_that_leads_outside_writes_nothing(tmp_path: Path, name: str) -> None:
    files: Files = {name: KL, "clip.py": "# here\n"}
    for archive, data in {"ada.zip": zip_bytes(files), "ada.tar": tar_bytes(files)}.items():
        assert "clip.py" in handed_in(tmp_path / archive, {archive: data}).submission.files
    assert {path.name for path in tmp_path.rglob("*") if path.is_file()} == {"ada.zip", "ada.tar"}


@pytest.mark.machine
def test_links_and_devices_are_named_and_not_followed(tmp_path: Path) -> None:
    linked = zipfile.ZipInfo("kl.py")
    linked.external_attr = (stat.S_IFLNK | 0o777) << 16
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr(linked, b"/etc/passwd")
    archives = {"ada.zip": data.getvalue()}
    for name, kind in (("bob.tar", tarfile.SYMTYPE), ("eve.tar", tarfile.CHRTYPE)):
        info, data = tarfile.TarInfo("kl.py"), io.BytesIO()
        info.type, info.linkname = kind, "/etc/passwd"
        with tarfile.open(fileobj=data, mode="w") as tar:
            tar.addfile(info)
        archives[name] = data.getvalue()
    for name, content in archives.items():
        assert "hand in the file itself" in problem_with(tmp_path / name, name, content)
    folder = write_files(tmp_path / "disk" / "ada", {"clip.py": KL})
    (folder / "kl.py").symlink_to("/etc/passwd")
    (folder / "starter").symlink_to("/etc")
    contents = one(find_submissions(tmp_path / "disk"))
    assert "link" in contents.submission.problems["kl.py"] and {*contents.submission.files} == {"clip.py"}


def test_bombs_end_with_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large = zip_bytes({"kl.py": "#" * 50_000_000})
    assert len(large) < 100_000 and "larger than 100 kB" in problem_with(tmp_path / "a", "ada.zip", large)
    monkeypatch.setattr(class_files, "MAX_UNPACKED_BYTES", 1_000_000)
    packed = tar_bytes({"kl.py": "#" * 5_000_000}, "w:gz")
    assert "more than 1 MB" in problem_with(tmp_path / "b", "ada.tar.gz", packed)
    monkeypatch.setattr(class_files, "MAX_MEMBERS", 10)
    many = zip_bytes({f"{number}.txt": "" for number in range(11)})
    assert "only the modules" in problem_with(tmp_path / "d", "ada.zip", many)
    monkeypatch.setattr(class_files, "MAX_ARCHIVE_BYTES", 100)
    with pytest.raises(UnreadableError, match="larger than"):
        members_of_archive("ada.zip", many)


def tar_that_announces(size: bytes) -> bytes:
    """A tar with a module, whose last header says that its file is larger than it is."""
    data = bytearray(tar_bytes({"kl.py": KL, "big.bin": "y"}, "w"))
    last = data.index(b"big.bin")
    data[last + 124 : last + 136] = size
    data[last + 148 : last + 156] = b" " * 8
    data[last + 148 : last + 156] = b"%06o\0 " % sum(data[last : last + 512])
    return bytes(data)


@pytest.mark.parametrize(("name", "pack"), [("ada.tar", bytes), ("ada.tar.gz", gzip.compress)])
def test_a_tar_that_announces_more_than_there_is_does_not_stop_the_class(tmp_path, name, pack):
    # A tar that is read as a stream skips the announced bytes 10 kB at a time, long after the end of the file.
    data = pack(tar_that_announces(b"\x80" + b"\0" * 5 + b"\x7f" * 6))  # 2**47
    assert "cannot be read" in problem_with(tmp_path, name, data)


def test_a_zip_of_very_many_files_is_refused_before_they_are_listed() -> None:
    count = 400_000
    entry = struct.pack("<4sHHHHHHIIIHHHHHII", b"PK\x01\x02", 20, 20, 0, 0, 0, 33, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0) + b"a"
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, count & 0xFFFF, count & 0xFFFF, count * len(entry), 0, 0)
    data = entry * count + end
    tracemalloc.start()
    try:
        with pytest.raises(UnreadableError):
            members_of_archive("ada.zip", data)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_many_folders_make_a_few_notes(tmp_path: Path) -> None:
    wide = zip_bytes({f"{number}/kl.py": KL for number in range(300)})
    notes = handed_in(tmp_path / "wide", {"ada.zip": wide}).notes
    assert len(notes) == 9 and "291 more" in notes[-1].text


def _encrypted() -> bytes:
    data = bytearray(zip_bytes({"kl.py": KL}))
    for at in (data.index(b"PK\x03\x04") + 6, data.index(b"PK\x01\x02") + 8):
        data[at] |= 1  # the flag of encryption, in the local and the central header
    return bytes(data)


def _rarely_packed() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("kl.py", KL)
    return data.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("ada.zip", b"", "cannot be read"), ("ada.zip", b"PK\x03\x04" + b"\0" * 50, "cannot be read"),
        ("ada.zip", zip_bytes({"kl.py": KL})[:-30], "cannot be read"),
        ("ada.tar.gz", gzip.compress(b"no tar at all" * 100, mtime=0)[:-10], "cannot be read"),
        ("ada.tgz", b"\x1f\x8b broken", "cannot be read"), ("ada.rar", b"Rar!\x1a", "hand in a zip"),
        ("ada.tar.xz", b"\xfd7zXZ", "hand in a zip"),
        ("ada.zip", _encrypted(), "password"), ("ada.zip", _rarely_packed(), "plain zip"),
    ],
)  # fmt: skip
def test_a_broken_archive_is_a_sentence_for_its_student(tmp_path: Path, name: str, data: bytes, words: str) -> None:
    assert words in problem_with(tmp_path, name, data)


def test_a_damaged_place_in_the_zip_of_a_class_is_a_sentence_for_one_student(tmp_path: Path) -> None:
    data = bytearray(zip_bytes({"class/ada.zip": zip_bytes(HERE), "class/bob/kl.py": KL}))
    data[data.index(b"ada.zip") + len("ada.zip") + 3] ^= 0xFF  # the checksum of the packed bytes is wrong now
    ada, bob = find_submissions(write_files(tmp_path, {"class.zip": bytes(data)}) / "class.zip")
    assert "ada.zip cannot be unpacked" in ada.read().submission.problems["kl.py"]
    assert bob.read().submission.files == HERE


def test_the_last_of_two_members_with_one_name_counts(tmp_path: Path) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("kl.py", b"# first\n")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("kl.py", b"# last\n")
    assert handed_in(tmp_path, {"ada.zip": data.getvalue()}).submission.files == {"kl.py": "# last\n"}
