"""What a class hands in: the layouts of the platforms, and archives and names that mean no good."""

from __future__ import annotations

import gzip
import io
import os
import random
import stat
import tarfile
import zipfile
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from class_maker import model_files, zip_bytes
from submissions import write_files

from grader.classroom.results import ClassError, Person, file_name
from grader.classroom.submissions import HandedIn, find_submissions
from grader.core import course
from grader.core import files as class_files
from grader.core.contents import MODULES, Contents
from grader.core.files import ArchiveError, members_of_archive
from grader.worksheet.reader import worksheet_in

KL = "def kl_estimate():\n    pass\n"


def one(found: list[HandedIn]) -> Contents:
    assert len(found) == 1
    return found[0].read()


def read_files(found: list[HandedIn]) -> dict[str, set[str]]:
    return {each.name: set(each.read().submission.files) for each in found}


# Layouts


@pytest.mark.parametrize("place", ["", "starter/", "my homework/grpo/", "src/starter/"])
@pytest.mark.parametrize("packing", ["folder", "zip", "tar.gz", "tgz", "tar", "zip in a folder", "zip in a zip"])
def test_modules_are_found_wherever_a_student_leaves_them(tmp_path: Path, place: str, packing: str) -> None:
    files: dict[str, str | bytes] = {f"{place}{name}": text for name, text in model_files().items()}
    if packing == "folder":
        write_files(tmp_path / "ada", files)
    elif packing == "zip":
        write_files(tmp_path, {"ada.zip": zip_bytes(files)})
    elif packing == "zip in a folder":
        write_files(tmp_path, {"ada/hand in.ZIP": zip_bytes(files)})
    elif packing == "zip in a zip":
        write_files(tmp_path, {"ada.zip": zip_bytes({"inner/answers.zip": zip_bytes(files)})})
    else:
        write_files(tmp_path / "packed", files)
        with tarfile.open(tmp_path / f"ada.{packing}", "w:" if packing == "tar" else "w:gz") as archive:
            archive.add(tmp_path / "packed", arcname=".")
        for path in sorted((tmp_path / "packed").rglob("*"), reverse=True):
            path.unlink() if path.is_file() else path.rmdir()
        (tmp_path / "packed").rmdir()
    contents = one(find_submissions(tmp_path))
    assert contents.submission.files == model_files()
    assert not contents.submission.problems and not contents.notes


def test_gradescope_says_who_and_when(tmp_path: Path) -> None:
    metadata = """---
submission_42:
  :submitters:
  - :name: Ada Lovelace
    :sid: '0042'
    :email: ada@example.org
  - :name: Bob
    :sid:
    :email: bob@example.org
  :created_at: 2026-11-20 23:59:59.123456000 -08:00
  :score: 3.0
  :status: :processed
"""
    files = {"submission_42/kl.py": KL, "submission_7/kl.py": KL, "submission_metadata.yml": metadata}
    for path in (
        write_files(tmp_path / "folder", dict(files)),
        write_files(tmp_path / "once more", {f"assignment_9_export/{name}": text for name, text in files.items()}),
        write_files(tmp_path, {"export.zip": zip_bytes({f"assignment_9_export/{n}": t for n, t in files.items()})})
        / "export.zip",
    ):
        found = {each.name: each for each in find_submissions(path)}
        assert set(found) == {"submission_42", "submission_7"}
        assert found["submission_42"].people == (
            Person(name="Ada Lovelace", email="ada@example.org", number="0042", platform="gradescope"),
            Person(name="Bob", email="bob@example.org", platform="gradescope"),
        )
        wanted = datetime(2026, 11, 20, 23, 59, 59, 123456, tzinfo=timezone(timedelta(hours=-8)))
        assert found["submission_42"].submitted_at == wanted
        assert found["submission_7"].people == () and found["submission_7"].submitted_at is None
        assert set(found["submission_42"].read().submission.files) == {"kl.py"}


def test_a_submission_that_gradescope_lists_and_does_not_hold_is_named(tmp_path: Path) -> None:
    entry = "submission_%d:\n  :submitters:\n  - :name: %s\n  :created_at: 2026-11-20 23:59:59 Z\n"
    files = {"submission_metadata.yml": entry % (1, "Ada") + entry % (2, "Bob"), "submission_1/kl.py": KL}
    ada, bob = find_submissions(write_files(tmp_path / "export", dict(files)))
    assert ada.read().submission.files == {"kl.py": KL}
    assert [person.name for person in bob.people] == ["Bob"] and bob.submitted_at == ada.submitted_at
    contents = bob.read()
    assert contents.notes == ("the export lists this submission and does not hold it; download the export again",)
    assert set(contents.submission.problems) == set(MODULES) and worksheet_in(contents.worksheet).problem
    with pytest.raises(ClassError, match="no folder and no archive"):
        find_submissions(write_files(tmp_path / "list", {"submission_metadata.yml": entry % (1, "Ada")}))


def test_gradescopes_metadata_can_run_nothing(tmp_path: Path) -> None:
    metadata = "submission_1: !!python/object/apply:os.mkdir [%s]\n" % (tmp_path / "made")
    find_submissions(write_files(tmp_path, {"submission_metadata.yml": metadata, "submission_1/kl.py": KL}))
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    "entry",
    [
        "5",
        "\n  :submitters: 5",
        "\n  :submitters:\n  - 3\n  - :name: [a, b]\n  :created_at: 2026-13-45",
        "\n  :created_at: [1]",
    ],
)
def test_odd_metadata_says_nothing_and_stops_nobody(tmp_path: Path, entry: str) -> None:
    files: dict[str, str | bytes] = {"submission_metadata.yml": f"submission_1: {entry}\n", "submission_1/kl.py": KL}
    (found,) = find_submissions(write_files(tmp_path, files))
    assert found.submitted_at is None and not any(person.name for person in found.people)
    assert found.read().submission.files == {"kl.py": KL}


@pytest.mark.parametrize("text", ["{", "a: [", "a: b: c", "\x00", "a: &a [*a, *a]"])
def test_broken_metadata_asks_for_a_new_export(tmp_path: Path, text: str) -> None:
    with pytest.raises(ClassError, match="download the export again"):
        find_submissions(write_files(tmp_path, {"submission_metadata.yml": text, "submission_1/kl.py": KL}))


def test_a_student_number_keeps_its_zeros(tmp_path: Path) -> None:
    metadata = "submission_1:\n  :submitters:\n  - :name: Ada\n    :sid: 00123\n    :email: ~\n"
    (found,) = find_submissions(write_files(tmp_path, {"submission_metadata.yml": metadata, "submission_1/kl.py": KL}))
    assert found.people == (Person(name="Ada", number="00123", platform="gradescope"),)


def test_nobody_hands_in_as_somebody_else_by_a_name_of_a_file(tmp_path: Path) -> None:
    name = "Mallory_1001_assignsubmission_file_x_1002_assignsubmission_file_kl.py"
    (found,) = find_submissions(write_files(tmp_path, {name: KL}))
    assert found.people == (Person(name="Mallory", platform="moodle", platform_id="1001"),)


def test_a_note_of_the_instructor_beside_a_download_changes_nothing(tmp_path: Path) -> None:
    files = {"doejane_1_11_kl.py": KL, "roejim_2_22_kl.py": KL, "README.txt": "hello", "old/kl.py": KL}
    left_out: list[str] = []
    found = find_submissions(write_files(tmp_path, dict(files)), left_out=left_out)
    assert read_files(found) == {"doejane_1": {"kl.py"}, "roejim_2": {"kl.py"}}
    assert left_out == ["README.txt", "old"]


def test_a_student_may_have_any_name(tmp_path: Path) -> None:
    names = ["docs", "tests", "env", "reference"]
    files: dict[str, str | bytes] = {f"{name}/kl.py": KL for name in names}
    assert sorted(read_files(find_submissions(write_files(tmp_path / "in", files)))) == sorted(names)
    zipped = write_files(tmp_path, {"class.zip": zip_bytes(files)}) / "class.zip"
    assert read_files(find_submissions(zipped)) == {name: {"kl.py"} for name in sorted(names)}


def test_a_student_may_have_any_name_in_a_folder_around_the_class(tmp_path: Path) -> None:
    names = ["ann", "docs", "env", "tests"]
    files: dict[str, str | bytes] = {f"hw/{name}/kl.py": KL for name in (*names, ".zed")}
    files |= {"hw/ann/docs/clip.py": "# no answer\n", "hw/__MACOSX/ann/kl.py": "", "hw/.DS_Store": "", "hw/._ann": ""}
    zipped = write_files(tmp_path, {"class.zip": zip_bytes(files)}) / "class.zip"
    del files["hw/__MACOSX/ann/kl.py"]
    for path in (zipped, write_files(tmp_path / "in", files), tmp_path / "in" / "hw"):
        left_out: list[str] = []
        found = find_submissions(path, left_out=left_out)
        assert read_files(found) == {name: {"kl.py"} for name in names}
        assert left_out == [".zed"]


def test_a_student_whose_files_all_lie_in_a_folder_that_is_not_read_is_named(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"ann/docs/kl.py": KL, "bob/kl.py": KL}
    for each in ("in", "class.zip"):
        write_files(tmp_path / "in", files) if each == "in" else write_files(tmp_path, {each: zip_bytes(files)})
        ann, bob = find_submissions(tmp_path / each)
        assert (ann.name, bob.name) == ("ann", "bob") and ann.read().notes == (
            "no module was found; there are 0 files",
        )


def test_one_participant_of_moodle_keeps_the_name(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"Ann Lee_7_assignsubmission_file/homework/kl.py": KL}
    zipped = write_files(tmp_path, {"class.zip": zip_bytes(files)}) / "class.zip"
    for path in (zipped, write_files(tmp_path / "in", files)):
        found = find_submissions(path)
        assert [each.people[0].platform_id for each in found] == ["7"] and one(found).submission.files == {"kl.py": KL}


def test_what_lies_beside_the_submissions_is_named(tmp_path: Path) -> None:
    write_files(tmp_path, {"ada/kl.py": KL, "dora.ipynb": "{}"})
    (tmp_path / "linked").symlink_to(tmp_path / "ada")
    left_out: list[str] = []
    assert list(read_files(find_submissions(tmp_path, left_out=left_out))) == ["ada"]
    assert left_out == ["dora.ipynb", "linked"]


def test_names_stay_different_as_names_of_files(tmp_path: Path) -> None:
    long = "\u8a9e" * 80
    names = ["a*b", "a?b", "bob.", "bob", "alice (2)", "alice", long + "x", long + "y", "e\u0301", "\u00e9", "con"]
    files: dict[str, str | bytes] = {f"{name}/kl.py": KL for name in names}
    files |= {"alice.zip": zip_bytes({"kl.py": KL}), "alice.tar": tar_with([(tarfile.TarInfo("kl.py"), b"")])}
    found = find_submissions(write_files(tmp_path, {"class.zip": zip_bytes(files)}) / "class.zip")
    assert len(found) == len(files)
    for key in (lambda name: name, file_name, lambda name: file_name(name).casefold()):
        assert len({key(each.name) for each in found}) == len(files)
    assert max(len(file_name(each.name).encode()) for each in found) <= 240


def test_a_damaged_archive_in_an_archive_is_the_fault_of_its_student(tmp_path: Path) -> None:
    inner = zip_bytes({"kl.py": KL})
    data = bytearray(zip_bytes({"inner.zip": inner}))
    at = data.index(b"inner.zip") + len("inner.zip")
    data[at + 3] ^= 0xFF  # in the packed bytes, so that their checksum is wrong
    contents = contents_of(tmp_path, "mallory.zip", bytes(data))
    assert "inner.zip cannot be unpacked" in contents.submission.problems["kl.py"]


def test_of_two_members_with_one_name_the_last_counts_as_when_unpacked(tmp_path: Path) -> None:
    first, last = zipfile.ZipInfo("kl.py"), zipfile.ZipInfo("kl.py")
    with pytest.warns(UserWarning, match="Duplicate name"):
        data = zip_with([(first, b"# first\n"), (last, b"# last\n")])
    assert contents_of(tmp_path, "ada.zip", data).submission.files == {"kl.py": "# last\n"}


def test_a_header_of_a_tar_does_not_take_all_memory(tmp_path: Path) -> None:
    huge = tarfile.TarInfo("kl.py")
    huge.pax_headers = {"comment": "x" * (class_files.MAX_UNPACKED_BYTES + 1)}
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(huge, io.BytesIO(b""))
    assert "more about them" in contents_of(tmp_path, "ada.tar.gz", data.getvalue()).submission.problems["kl.py"]


def test_thousands_of_folders_make_a_few_notes(tmp_path: Path) -> None:
    data = zip_bytes({f"{number}/kl.py": KL for number in range(3_000)})
    notes = contents_of(tmp_path, "ada.zip", data).notes
    assert len(notes) == 9 and notes[-1] == "and 2991 more of this kind"


def test_canvas_gives_flat_files_and_says_who_was_late(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "lovelaceada_101_5551_kl.py": KL,
        "lovelaceada_101_5551_clip-2.py": "# second\n",
        "lovelaceada_101_5551_clip-1.py": "# first\n",
        "müllerzoë_LATE_102_5552_hand_in.zip": zip_bytes({"x/kl.py": KL}),
    }
    found = find_submissions(write_files(tmp_path / "canvas", files))
    assert read_files(found) == {"lovelaceada_101": {"kl.py", "clip.py"}, "müllerzoë_102": {"kl.py"}}
    ada, zoe = found
    assert ada.people == (Person(name="lovelaceada", platform="canvas", platform_id="101"),) and not ada.marked_late
    assert zoe.people == (Person(name="müllerzoë", platform="canvas", platform_id="102"),) and zoe.marked_late
    contents = ada.read()
    assert contents.submission.files["clip.py"] == "# second\n"
    assert contents.notes == ("clip-2.py was taken as clip.py", "there is clip-1.py too; graded is clip-2.py")
    zipped = write_files(tmp_path, {"submissions.zip": zip_bytes(files)}) / "submissions.zip"
    assert read_files(find_submissions(zipped)) == read_files(found)


def test_moodle_gives_a_folder_for_each_participant_or_flat_files(tmp_path: Path) -> None:
    folders = write_files(
        tmp_path / "folders",
        {
            "Ada Lovelace_1234_assignsubmission_file_/kl.py": KL,
            "Ada Lovelace_1234_assignsubmission_onlinetext_/onlinetext.html": "<p>hello</p>",
            "Bob Ö_1235_assignsubmission_file/hand in.zip": zip_bytes({"starter/kl.py": KL}),
        },
    )
    flat = write_files(tmp_path / "flat", {"Ada Lovelace_1234_assignsubmission_file_kl.py": KL})
    found = find_submissions(folders)
    assert read_files(found) == {"Ada Lovelace_1234": {"kl.py"}, "Bob Ö_1235": {"kl.py"}}
    assert found[0].people == (Person(name="Ada Lovelace", platform="moodle", platform_id="1234"),)
    assert read_files(find_submissions(flat)) == {"Ada Lovelace_1234": {"kl.py"}}


def test_github_calls_a_folder_after_the_assignment_and_the_user(tmp_path: Path) -> None:
    for name in ("grpo-hw1-ada", "grpo-hw1-alan-turing"):
        write_files(
            tmp_path / name, {"starter/kl.py": KL, ".git/config": "[core]\n", "docs/kl.py": "", "README.md": ""}
        )
    found = find_submissions(tmp_path)
    assert [each.people[0].username for each in found] == ["ada", "alan-turing"]
    assert all(set(each.read().submission.files) == {"kl.py"} for each in found)


def test_what_is_no_submission_is_left_out(tmp_path: Path) -> None:
    files = {"ada/kl.py": KL, "names.csv": "ada", ".DS_Store": "", "__MACOSX/ada/kl.py": "", "ada/venv/x/kl.py": "# no"}
    found = find_submissions(write_files(tmp_path / "in", dict(files)))
    assert "ada" in read_files(found) and one([each for each in found if each.name == "ada"]).notes == ()
    zipped = write_files(tmp_path, {"class.zip": zip_bytes(files)}) / "class.zip"
    assert list(read_files(find_submissions(zipped))) == ["ada"]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda folder: folder / "nothing", "there is no"),
        (lambda folder: write_files(folder, {"kl.py": KL}), "is one submission"),
        (lambda folder: write_files(folder, {"notes.txt": ""}), "no folder and no archive"),
        (lambda folder: write_files(folder, {"class.zip": b"PK no"}) / "class.zip", "unpack it"),
        (lambda folder: write_files(folder, {"class.rar": b"Rar!"}) / "class.rar", "unpack it"),
    ],
)
def test_what_is_no_class_is_refused_with_what_to_do(tmp_path: Path, make, sentence: str) -> None:
    with pytest.raises(ClassError, match=sentence):
        find_submissions(make(tmp_path))


def test_starter_comes_before_a_copy_and_the_instructor_is_told(tmp_path: Path) -> None:
    write_files(tmp_path, {"ada/backup/kl.py": "# old\n", "ada/starter/kl.py": KL})
    contents = one(find_submissions(tmp_path))
    assert contents.submission.files == {"kl.py": KL}
    assert contents.notes == ("there are modules in backup too; graded is starter",)


@pytest.mark.parametrize("name", ["Kl.py", "KL.PY", "kl.py.txt", "kl (1).py", "kl(12).py", "kl-3.py", "Kl (2).py.txt"])
def test_a_renamed_module_is_taken_where_the_plain_one_is_missing(tmp_path: Path, name: str) -> None:
    contents = one(find_submissions(write_files(tmp_path / "a", {f"ada/{name}": KL})))
    assert contents.submission.files == {"kl.py": KL} and contents.notes == (f"{name} was taken as kl.py",)
    contents = one(find_submissions(write_files(tmp_path / "b", {f"ada/{name}": "# other\n", "ada/kl.py": KL})))
    assert contents.submission.files == {"kl.py": KL}
    assert contents.notes == (f"there is {name} too; graded is kl.py",)


@pytest.mark.parametrize("files", [{"ada/answers.ipynb": "{}"}, {"ada/my_kl.py": KL}, {"ada/__MACOSX/kl.py": KL}])
def test_a_submission_without_any_module_has_a_note(tmp_path: Path, files: dict[str, str | bytes]) -> None:
    contents = one(find_submissions(write_files(tmp_path, files)))
    assert contents.submission.files == {} and "no module was found" in contents.notes[0]


def test_a_module_that_cannot_be_read_has_a_note(tmp_path: Path) -> None:
    contents = one(find_submissions(write_files(tmp_path, {"ada/kl.py": KL.encode("utf-16"), "ada/clip.py": KL})))
    assert contents.notes == ("kl.py is not UTF-8 text (line 1); save it as UTF-8",)


def test_names_that_only_differ_in_capitals_stay_apart(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"Ada/kl.py": KL, "ada.zip": zip_bytes({"kl.py": KL}), "ada.tar": b""}
    names = [each.name for each in find_submissions(write_files(tmp_path, files))]
    assert len({name.casefold() for name in names}) == 3


# What lies beside an archive, and copies with numbers

WITHOUT_CLIP = {name: f"# {name}\n" for name in MODULES if name != "clip.py"}


def in_every_packing(folder: Path, files: dict[str, str | bytes]) -> list[HandedIn]:
    """The first of two submissions: in a folder, and in zips with the same members in both orders."""
    found = [find_submissions(write_files(folder / "as folder", files))]
    for name in ("a.zip", "b.zip"):
        found.append(find_submissions(write_files(folder, {name: zip_bytes(files)}) / name))
        files = dict(reversed(files.items()))
    assert [len(each) for each in found] == [2, 2, 2]
    return [first for first, _ in found]


def test_a_student_alone_who_has_an_archive_and_a_worksheet_is_no_class(tmp_path: Path) -> None:
    (found,) = find_submissions(
        write_files(
            tmp_path, {"ada/hw.zip": zip_bytes({"kl.py": KL}), "ada/worksheet.json": "{}", "ada/notes/x.txt": ""}
        )
    )
    assert found.name == "ada" and found.read().submission.files == {"kl.py": KL}


@pytest.mark.parametrize("prefix", ["ada/", "doejane_1_1000_"])
def test_a_worksheet_beside_an_archive_is_taken(tmp_path: Path, prefix: str) -> None:
    inner = zip_bytes({"starter/kl.py": KL})
    files: dict[str, str | bytes] = {f"{prefix}starter.zip": inner, f"{prefix}worksheet.json": "{}"}
    contents = one(find_submissions(write_files(tmp_path, files)))
    assert contents.submission.files == {"kl.py": KL} and contents.worksheet == b"{}" and not contents.notes


def test_of_two_worksheets_that_beside_an_archive_is_taken_with_a_note(tmp_path: Path) -> None:
    inner = zip_bytes({"kl.py": KL, "worksheet.json": "inner"})
    contents = one(find_submissions(write_files(tmp_path, {"ada/hw.zip": inner, "ada/worksheet.json": "outer"})))
    assert contents.worksheet == b"outer"
    assert contents.notes == ("there is a worksheet.json in hw.zip too; graded is the one beside it",)


def test_a_worksheet_beside_an_archive_that_is_damaged_still_counts(tmp_path: Path) -> None:
    contents = one(find_submissions(write_files(tmp_path, {"ada/hw.zip": b"PK no", "ada/worksheet.json": "{}"})))
    assert contents.worksheet == b"{}" and "hw.zip cannot be read" in contents.submission.problems["kl.py"]


def test_modules_that_are_missing_beside_an_archive_come_from_it_with_a_note(tmp_path: Path) -> None:
    inner = zip_bytes(
        {"starter/clip.py": "# old\n", **{f"starter/{name}": text for name, text in WITHOUT_CLIP.items()}}
    )
    contents = one(find_submissions(write_files(tmp_path, {"ada/starter.zip": inner, "ada/clip.py": "# mended\n"})))
    assert contents.submission.files == {"clip.py": "# mended\n", **WITHOUT_CLIP} and not contents.submission.problems
    assert contents.notes == (
        "in starter.zip there is another text of clip.py; graded is what lies beside it",
        f"taken from starter.zip: {', '.join(WITHOUT_CLIP)}",
    )


@pytest.mark.parametrize("same", [True, False])
def test_an_archive_whose_modules_all_lie_beside_it_has_a_note_if_their_texts_differ(
    tmp_path: Path, same: bool
) -> None:
    """Stubs beside a zip with the answers earn nothing, and somebody must hear of it."""
    loose: dict[str, str | bytes] = {f"ada/{name}": text for name, text in model_files().items()}
    inner = {name: text if same or name != "kl.py" else "# answer\n" for name, text in model_files().items()}
    contents = one(find_submissions(write_files(tmp_path, {**loose, "ada/hw.zip": zip_bytes(inner)})))
    assert contents.submission.files == model_files()
    note = "in hw.zip there is another text of kl.py; graded is what lies beside it"
    assert contents.notes == (() if same else (note,))


def test_a_worksheet_that_is_missing_beside_all_modules_comes_from_an_archive(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {f"ada/{name}": text for name, text in model_files().items()}
    found = find_submissions(
        write_files(tmp_path / "a", {**files, "ada/rest.zip": zip_bytes({"worksheet.json": "{}"})})
    )
    contents = one(found)
    assert contents.worksheet == b"{}" and contents.submission.files == model_files()
    assert contents.notes[0] == "taken from rest.zip: worksheet.json"
    for name, data in (("data.zip", zip_bytes({"data.csv": "1"})), ("data.gz", b"\x1f\x8b")):
        contents = one(find_submissions(write_files(tmp_path / name, {**files, f"ada/{name}": data})))
        assert (
            contents.submission.files == model_files()
            and worksheet_in(contents.worksheet).missing
            and not contents.notes
        )


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("rest.zip", b"PK no", "cannot be read"),
        ("rest.7z", b"7z", "is packed in a way that is not read here"),
        ("rest.rar", b"Rar!", "is packed in a way that is not read here"),
    ],
)
def test_an_archive_beside_modules_that_cannot_be_opened_is_named(
    tmp_path: Path, name: str, data: bytes, reason: str
) -> None:
    contents = one(find_submissions(write_files(tmp_path, {"ada/kl.py": KL, f"ada/{name}": data})))
    assert (
        contents.submission.files == {"kl.py": KL} and contents.submission.problems["clip.py"] == "clip.py is missing"
    )
    assert len(contents.notes) == 1 and contents.notes[0].startswith(f"{name} was not opened: {name} {reason}")


def test_an_archive_without_what_is_missing_is_named(tmp_path: Path) -> None:
    contents = one(find_submissions(write_files(tmp_path, {"ada/kl.py": KL, "ada/x.zip": zip_bytes({"a.csv": ""})})))
    assert contents.submission.files == {"kl.py": KL}
    assert contents.notes == (
        "taken from x.zip: nothing",
        "in x.zip: no module was found; there is 1 file: a.csv",
    )


@pytest.mark.parametrize(
    "names",
    [
        ["hw.zip", "hw-2.zip"],
        ["hw.zip", "hw (1).zip", "hw-2.zip"],
        ["hw-2.zip", "hw-10.zip"],
        ["hw (9).tar.gz", "hw(10).zip"],
        ["HW.zip", "hw (1).zip"],
        ["a-3.zip", "b.zip"],
        ["hw-3.zip", "more/hw-2.zip"],
    ],
)
def test_of_several_archives_the_one_with_the_highest_number_is_graded(tmp_path: Path, names: list[str]) -> None:
    inner: dict[str, str | bytes] = {
        name: zip_bytes({"kl.py": f"# {name}\n"})
        if name.endswith("zip")
        else tar_with([(tarfile.TarInfo("kl.py"), b"# old\n")], "w:gz")
        for name in names
    }
    newest = Path(names[-1]).name
    inside = zip_bytes(inner)
    files = {"bob/kl.py": KL, **{f"ada/{name}": data for name, data in inner.items()}}
    found = in_every_packing(tmp_path / "class", files)
    for each in (*found, *find_submissions(write_files(tmp_path / "inside", {"ada.zip": inside}))):
        contents = each.read()
        assert contents.submission.files == {"kl.py": f"# {names[-1]}\n"}
        assert contents.notes == (f"there are {len(names)} archives; graded is {newest}",)


def test_canvass_numbers_of_uploads_are_numbers(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "doejane_1_9998_second.zip": zip_bytes({"kl.py": "# 9998\n"}),
        "doejane_1_10001_first.zip": zip_bytes({"kl.py": "# 10001\n"}),
        "doejane_1_9999_clip.py": "# 9999\n",
        "doejane_1_10000_clip.py": "# 10000\n",
        "roejim_2_10002_kl.py": KL,
    }
    for each in in_every_packing(tmp_path, files):
        assert each.read().submission.files == {"kl.py": "# 10001\n", "clip.py": "# 10000\n"}


@pytest.mark.parametrize(
    "names",
    [
        ["worksheet.json", "worksheet (2).json"],
        ["worksheet (1).json", "worksheet (2).json"],
        ["worksheet-2.json", "worksheet-10.json"],
        ["Worksheet.json"],
        ["worksheet(1).json"],
        ["Worksheet.json", "worksheet.json"],
    ],
)
def test_of_several_worksheets_the_last_download_is_graded_with_a_note(tmp_path: Path, names: list[str]) -> None:
    *older, newest = names
    files = {"bob/kl.py": KL, "ada/kl.py": KL, **{f"ada/{name}": name for name in names}}
    for each in in_every_packing(tmp_path, dict(files)):
        contents = each.read()
        assert contents.worksheet == newest.encode()
        renamed = [f"{newest} was taken as worksheet.json"] if newest != "worksheet.json" else []
        assert list(contents.notes) == renamed + [f"there is {name} too; graded is {newest}" for name in older]


def test_of_worksheets_in_several_folders_that_nearest_to_the_top_is_graded_with_a_note(tmp_path: Path) -> None:
    files = {"ada/starter/kl.py": KL, "ada/starter/worksheet.json": "near", "ada/starter/old/worksheet (3).json": "far"}
    contents = one(find_submissions(write_files(tmp_path, dict(files))))
    assert contents.worksheet == b"near"
    assert contents.notes == ("there is a worksheet in starter/old too; graded is that in starter",)


# Archives that mean no good


def contents_of(tmp_path: Path, name: str, data: bytes) -> Contents:
    return one(find_submissions(write_files(tmp_path / "class", {name: data})))


def zip_with(entries: list[tuple[zipfile.ZipInfo, bytes]]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for info, content in entries:
            archive.writestr(info, content)
    return data.getvalue()


def tar_with(entries: list[tuple[tarfile.TarInfo, bytes]], mode: str = "w") -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode=mode) as archive:  # type: ignore[call-overload]
        for info, content in entries:
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return data.getvalue()


@pytest.mark.parametrize("name", ["../kl.py", "/kl.py", "a/../../kl.py", "..\\kl.py", "C:\\kl.py", "starter/../kl.py"])
def test_a_path_that_leads_outside_writes_nothing(tmp_path: Path, name: str) -> None:
    before = sorted(tmp_path.parent.rglob("*.py"))
    for ending, data in (
        ("zip", zip_bytes({name: KL, "clip.py": "# here\n"})),
        ("tar", tar_with([(tarfile.TarInfo(name), KL.encode()), (tarfile.TarInfo("clip.py"), b"# here\n")])),
    ):
        folder = tmp_path / ending
        contents = one(find_submissions(write_files(folder, {f"ada.{ending}": data})))
        assert "clip.py" in contents.submission.files
        assert [path.name for path in folder.rglob("*")] == [f"ada.{ending}"]
    assert sorted(tmp_path.parent.rglob("*.py")) == before


def test_links_are_named_and_not_followed(tmp_path: Path) -> None:
    linked = zipfile.ZipInfo("kl.py")
    linked.external_attr = (stat.S_IFLNK | 0o777) << 16
    link = tarfile.TarInfo("kl.py")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    device = tarfile.TarInfo("kl.py")
    device.type = tarfile.CHRTYPE
    for name, data in (
        ("ada.zip", zip_with([(linked, b"/etc/passwd")])),
        ("bob.tar", tar_with([(link, b"")])),
        ("eve.tar", tar_with([(device, b"")])),
    ):
        problem = contents_of(tmp_path / name, name, data).submission.problems["kl.py"]
        assert "hand in the file itself" in problem
    folder = write_files(tmp_path / "disk" / "ada", {"clip.py": KL})
    (folder / "kl.py").symlink_to("/etc/passwd")
    (folder / "starter").symlink_to("/etc")
    contents = one(find_submissions(tmp_path / "disk"))
    assert "symbolic link" in contents.submission.problems["kl.py"] and set(contents.submission.files) == {"clip.py"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "ada", {"clip.py": KL})
    os.mkfifo(folder / "kl.py")
    assert "is not a file" in one(find_submissions(tmp_path)).submission.problems["kl.py"]


def test_bombs_end_with_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large = zip_bytes({"kl.py": "#" * 50_000_000})
    assert len(large) < 100_000
    assert "larger than 100 kB" in contents_of(tmp_path / "a", "ada.zip", large).submission.problems["kl.py"]
    monkeypatch.setattr(class_files, "MAX_UNPACKED_BYTES", 1_000_000)
    packed = gzip.compress(tar_with([(tarfile.TarInfo("kl.py"), b"#" * 5_000_000)]))
    assert "unpacks to more than 1 MB" in contents_of(tmp_path / "b", "ada.tar.gz", packed).submission.problems["kl.py"]
    monkeypatch.setattr(class_files, "MAX_MEMBERS", 10)
    many = zip_bytes({f"{number}.txt": "" for number in range(11)})
    assert "hand in the modules only" in contents_of(tmp_path / "c", "ada.zip", many).submission.problems["kl.py"]
    monkeypatch.setattr(class_files, "MAX_ARCHIVE_BYTES", 100)
    with pytest.raises(ArchiveError, match="larger than 0 MB"):
        members_of_archive("ada.zip", many)


def test_archives_in_archives_end(tmp_path: Path) -> None:
    data = zip_bytes({"kl.py": KL})
    for _ in range(6):
        data = zip_bytes({"inner.zip": data})
    problems = contents_of(tmp_path, "ada.zip", data).submission.problems
    assert set(problems) == set(MODULES) and "is missing" in problems["kl.py"]


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("ada.zip", b"", "cannot be read"),
        ("ada.zip", b"PK\x03\x04" + b"\0" * 50, "cannot be read"),
        ("ada.zip", zip_bytes({"kl.py": KL})[:-30], "cannot be read"),
        ("ada.tar.gz", gzip.compress(b"no tar at all" * 100, mtime=0)[:-10], "cannot be read"),
        ("ada.tgz", b"\x1f\x8b broken", "cannot be read"),
        ("ada.rar", b"Rar!\x1a", "hand in a zip"),
        ("ada.tar.xz", b"\xfd7zXZ", "hand in a zip"),
    ],
)
def test_a_broken_archive_is_a_sentence_for_its_student(tmp_path: Path, name: str, data: bytes, sentence: str) -> None:
    contents = contents_of(tmp_path, name, data)
    assert contents.submission.files == {}
    assert sentence in contents.submission.problems["kl.py"]
    assert contents.notes and worksheet_in(contents.worksheet).problem


def test_a_password_and_a_rare_packing_are_named(tmp_path: Path) -> None:
    data = bytearray(zip_bytes({"kl.py": KL}))
    for at in (data.index(b"PK\x03\x04") + 6, data.index(b"PK\x01\x02") + 8):
        data[at] |= 1  # the flag of encryption, in the local and the central header
    assert "without a password" in contents_of(tmp_path / "a", "ada.zip", bytes(data)).submission.problems["kl.py"]
    rare = io.BytesIO()
    with zipfile.ZipFile(rare, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("kl.py", KL)
    assert "plain zip" in contents_of(tmp_path / "b", "ada.zip", rare.getvalue()).submission.problems["kl.py"]


def test_damaged_archives_never_stop_the_class(tmp_path: Path) -> None:
    draw = random.Random(0)
    whole = [
        zip_bytes({"starter/kl.py": KL, "clip.py": KL * 50}),
        gzip.compress(tar_with([(tarfile.TarInfo("kl.py"), b"x" * 999)])),
    ]
    for number in range(300):
        data = bytearray(whole[number % 2])
        for _ in range(draw.randrange(1, 6)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        name = f"{number}." + ("zip" if number % 2 == 0 else "tar.gz")
        write_files(tmp_path, {name: bytes(data[: draw.randrange(20, len(data) + 1)])})
    found = find_submissions(tmp_path)
    assert len(found) == 300
    for each in found:
        contents = each.read()
        assert set(contents.submission.files) | set(contents.submission.problems) == set(MODULES)
        worksheet_in(contents.worksheet)


def test_odd_files_have_the_same_sentences_as_for_a_single_student(tmp_path: Path) -> None:
    odd = {
        "kl.py": b"\xff\xfe",
        "clip.py": b"a\0b",
        "bandit.py": b"#" * 100_001,
        "advantages.py": b"\xef\xbb\xbfx = 1\r\n",
    }
    from grader.core.contents import read_submission

    folder = write_files(tmp_path / "class" / "ada", dict(odd))
    alone, in_class = read_submission(folder), one(find_submissions(tmp_path / "class")).submission
    assert in_class.files == alone.files and in_class.problems == alone.problems
    assert in_class.sha256 == alone.sha256
    assert set(course.exercise("kl").needed_files) <= {*MODULES}
