"""`grade` as a student meets it: what it prints, what it writes and how it ends.

Most tests call the command in their own process. A process of its own has what only a process can show: how it ends,
a terminal, the import path, what it leaves behind.
"""

from __future__ import annotations

import argparse
import ast
import functools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from command import call, document, environment
from grading_here import graded_once
from submissions import model_answer
from terminal_reports import result_of

from grader.commands import grade as cli
from grader.core import course
from grader.core.result import FAILED, PASSED, Result
from grader.sandbox.sandbox import Sandbox
from grader.workshop.catalogue import replaced

OK, CHECKS_FAILED, USAGE, GRADER_FAILED = 0, 1, 2, 3
COMMAND = (sys.executable, "-P", "-m", "grader.commands.grade")
QUICK = ("--examples", "2")
NAMES = [exercise.name for exercise in course.EXERCISES]
WITHOUT_TRAINING = NAMES[:3]
ESCAPE = "\x1b"
STYLE = re.compile(r"\x1b\[[0-9;]*m")

SWAPPED = """
def swapped(logp, old_logp):
    print("größer als π?", (old_logp - logp).exp())  # “curly” → and ✗
    return (old_logp.detach() - logp).clamp(-20.0, 20.0).exp()
"""
# No logit of the gate is larger than 2, so generated inputs have to find it.
WRONG_ABOVE_TWO = """
_right_kl = categorical_kl
def wrong_above_two(logits, ref_logits):
    return _right_kl(logits, ref_logits) * (-1 if logits.max() > 2 else 1)
"""
FINGERPRINT = """
import hashlib
_right, _seen, _calls = kl_estimate, hashlib.sha256(), 0
def fingerprint(logp, ref_logp, *, kind="k3"):
    global _calls
    _calls += 1
    _seen.update(repr((logp, ref_logp, kind)).encode())
    if _calls > 40:
        raise ValueError("digest " + _seen.hexdigest())
    return _right(logp, ref_logp, kind=kind)
kl_estimate = fingerprint
"""
RAISES = """
def raises(logp, ref_logp, *, kind="k3"):
    raise KeyError("größer als π ✗")  # → nicht gut
"""


Grade = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def grade(tmp_path: Path, sandbox: Sandbox) -> Grade:
    """The command in this process, with warm workers."""
    return functools.partial(call, cli.main, cwd=tmp_path, sandbox=sandbox)


@pytest.fixture(scope="module")
def known() -> dict[Any, Result]:
    """What was graded before, for `shown`."""
    return {}


@pytest.fixture
def shown(grade: Grade, known: dict[Any, Result]) -> Iterator[Grade]:
    """The same for what it prints: the tests look at the gradings of a few submissions in many ways."""
    with graded_once(known):
        yield grade


def process(
    *arguments: str | Path, cwd: Path, command: tuple[str, ...] = COMMAND, variables: Mapping[str, str] = {}
) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, to its end."""
    done = subprocess.run(
        [*command, *map(str, arguments)],
        cwd=cwd,
        env=environment(**variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    )


def write(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    return folder


def model_answers(folder: Path, *exercises: str) -> Path:
    """A submission that is right."""
    answers = {f"{name}.py": model_answer(name) for name in exercises or NAMES}
    return write(folder, answers)


def wrong(folder: Path, exercise: str, function: str, text: str) -> Path:
    """The model answers with one function replaced by the last one of a text."""
    name = re.findall(r"^def (\w+)", text, re.M)[-1]
    return write(folder, replaced(exercise, function, name, text).files)


def points(output: str) -> tuple[int, int]:
    earned, possible = re.findall(r"total +(\d+) of (\d+) points", output)[-1]
    return int(earned), int(possible)


def outcomes(path: Path) -> dict[str, str]:
    return {check["id"]: check["outcome"] for exercise in document(path)["exercises"] for check in exercise["checks"]}


def declared(exercise: str) -> list[tuple[str, int, tuple[str, ...]]]:
    """Function, points and hints of every check of an exercise, as the source says."""
    found = []
    for path in sorted(course.exercise(exercise).folder.glob("*checks.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "check":
                options = {option.arg: option.value for option in node.keywords}
                hints = ast.literal_eval(options["hints"]) if "hints" in options else ()
                found.append((ast.literal_eval(node.args[0]), ast.literal_eval(options["points"]), hints))
    return found


def no_traceback(done: subprocess.CompletedProcess[str]) -> None:
    assert "Traceback (most recent call last)" not in done.stdout + done.stderr, done.stdout + done.stderr


# Exit codes


@pytest.fixture(
    scope="module",
    params=[WITHOUT_TRAINING, pytest.param(NAMES, marks=pytest.mark.proof)],
    ids=["without training", "all"],
)
def everything(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """Model answers, graded by the program `grade` in a folder that holds much else; and the result.

    In the proof all of them with the usual inputs; `answers/` has them in `make test` too.
    """
    names = request.param
    me = model_answers(tmp_path_factory.mktemp("everything") / "me", *names)
    surroundings(me)
    program = str(Path(sys.executable).with_name("grade"))
    asked = () if names == NAMES else (*names, *QUICK)
    done = process(*asked, "--json", "../r.json", cwd=me, command=(program,))
    return done, document(me.parent / "r.json")


def test_the_model_answers_earn_every_point_and_exit_with_0(
    everything: tuple[subprocess.CompletedProcess[str], dict[str, Any]],
) -> None:
    done, found = everything
    assert done.returncode == OK, done.stdout + done.stderr
    earned, possible = points(done.stdout)
    names = [exercise["name"] for exercise in found["exercises"]]
    assert names in (WITHOUT_TRAINING, NAMES)
    assert earned == possible == sum(worth for name in names for _, worth, _ in declared(name))
    no_traceback(done)
    schema = json.loads((Path(course.__file__).parent / "result.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(found)
    assert found["complete"] is True and found["grade"] is True
    assert {check["outcome"] for exercise in found["exercises"] for check in exercise["checks"]} == {"passed"}


def test_a_wrong_answer_exits_with_1_and_loses_only_its_own_points(shown: Grade, tmp_path: Path) -> None:
    wrong(tmp_path / "me", "clip", "importance_ratio", SWAPPED)
    done = shown("clip", "--path", "me")
    assert done.returncode == CHECKS_FAILED
    of_the_function = sum(worth for function, worth, _ in declared("clip") if function == "importance_ratio")
    earned, possible = points(done.stdout)
    assert possible - of_the_function <= earned < possible
    assert "✗ failed" in done.stdout
    no_traceback(done)


WRONG_USAGE = [
    (["advantags"], "did you mean advantages?"),
    (["kl.py"], "did you mean kl?"),
    (["zzzz"], "advantages, clip, kl"),
    (["--pth", "me"], "unrecognized arguments: --pth"),
    (["--seed", "one"], "--seed"),
    (["--examples", "0"], "at least 1"),
    (["--device", "tpu"], "tpu"),
    (["--path", "nowhere"], "there is no folder nowhere"),
    (["--path", "a_file.txt"], "a_file.txt is a file"),
    (["--path", "empty"], "holds none of advantages.py, clip.py, kl.py"),
    (["--watch", "--path", "nowhere"], "there is no folder nowhere"),
    (["--debug", "--watch"], "--debug and --watch do not go together"),
    (["--json", "nowhere/r.json"], "there is no folder nowhere"),
]


@pytest.mark.parametrize(("arguments", "sentence"), WRONG_USAGE)
def test_wrong_usage_exits_with_2_and_says_what_to_do(
    grade: Grade, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    (tmp_path / "a_file.txt").write_text("")
    (tmp_path / "empty").mkdir()
    assert_refused(grade(*arguments), sentence)


@pytest.mark.parametrize(("arguments", "sentence"), [WRONG_USAGE[0], WRONG_USAGE[7]], ids=["parser", "submission"])
def test_a_process_with_wrong_usage_exits_with_2(tmp_path: Path, arguments: list[str], sentence: str) -> None:
    assert_refused(process(*arguments, cwd=tmp_path), sentence)


def assert_refused(done: subprocess.CompletedProcess[str], sentence: str) -> None:
    assert done.returncode == USAGE
    assert sentence in " ".join(done.stderr.split())
    assert not done.stdout
    no_traceback(done)


@pytest.mark.parametrize("option", [(), ("--debug",), ("--watch",)], ids=["grade", "debug", "watch"])
@pytest.mark.parametrize(
    "target", ["me/kl.py", "me/advantages.py", "me/worksheet.json", "me/../me/kl.py", "other_name"]
)
def test_the_result_is_not_written_over_a_file_of_the_submission(
    grade: Grade, tmp_path: Path, target: str, option: tuple[str, ...]
) -> None:
    kl = model_answers(tmp_path / "me", "kl") / "kl.py"
    before = kl.read_bytes()
    os.link(kl, tmp_path / "other_name")  # as KL.py is where large and small letters are the same
    done = grade("kl", "--path", "me", "--json", target, *option)
    assert_refused(done, f"--json would overwrite {Path(target)}, which is handed in")
    assert kl.read_bytes() == before and sorted(path.name for path in kl.parent.iterdir()) == ["kl.py"]


def test_an_isolation_level_that_cannot_be_had_exits_with_3_before_any_student_code_runs(
    grade: Grade, tmp_path: Path
) -> None:
    trace = tmp_path / "trace"
    wrong(tmp_path / "me", "kl", "kl_estimate", f"open({str(trace)!r}, 'w')\ndef f(*a, **k): ...\n")
    done = grade("--require-level", "1", "--cold", "--path", "me", "--json", "r.json")
    assert done.returncode == GRADER_FAILED
    assert "isolation level 1 is required, but here is level 0" in done.stderr
    assert not trace.exists()
    assert set(outcomes(tmp_path / "r.json").values()) == {"not run"}
    no_traceback(done)


@pytest.mark.skipif(Path("/dev/nvidia0").exists(), reason="has a GPU")
def test_a_device_that_is_not_there_is_no_fault_of_the_student(grade: Grade, tmp_path: Path) -> None:
    model_answers(tmp_path / "me", "kl")
    done = grade("kl", "--device", "cuda", "--path", "me", "--json", "r.json")
    assert done.returncode in (USAGE, GRADER_FAILED)
    assert "cuda" in done.stderr.lower() + done.stdout.lower()
    if (tmp_path / "r.json").exists():
        assert "broken" not in outcomes(tmp_path / "r.json").values()
    no_traceback(done)


# What is graded


def test_help_shows_examples_and_the_exit_codes(grade: Grade) -> None:
    done = grade("--help")
    assert done.returncode == OK
    assert "examples:" in done.stdout
    assert "grade advantages --hint" in done.stdout and "grade --watch" in done.stdout
    for meaning in ("0 all passed", "1 checks failed", "2 wrong usage", "3 the grader itself could not run"):
        assert meaning in " ".join(done.stdout.split())


def test_only_the_named_exercises_are_graded_in_course_order(grade: Grade, tmp_path: Path) -> None:
    done = grade("kl", "advantages", "--path", course.STARTER, "--json", "r.json")
    assert done.returncode == CHECKS_FAILED
    assert [exercise["name"] for exercise in document(tmp_path / "r.json")["exercises"]] == ["advantages", "kl"]
    assert "clip.py" not in done.stdout
    assert points(done.stdout) == (0, sum(worth for name in ("advantages", "kl") for _, worth, _ in declared(name)))


def test_without_a_path_the_folder_starter_is_graded_or_else_the_current_one(grade: Grade, tmp_path: Path) -> None:
    write(tmp_path / "starter", {"kl.py": (course.STARTER / "kl.py").read_text("utf-8")})
    write(tmp_path, {"kl.py": "not python"})
    for folder in (tmp_path, tmp_path / "starter"):
        assert grade("kl", "--json", "r.json", cwd=folder).returncode == CHECKS_FAILED
        assert set(outcomes(folder / "r.json").values()) == {"not written"}
        assert document(folder / "r.json")["submission"] == "starter"


def test_the_untouched_starter_is_not_written_yet_rather_than_wrong(grade: Grade) -> None:
    done = grade("--path", course.STARTER)
    assert done.returncode == CHECKS_FAILED
    earned, possible = points(done.stdout)
    assert earned == 0 < possible
    functions = sum(len(exercise.functions) for exercise in course.EXERCISES)
    assert done.stdout.count("not written yet") == functions
    for word in ("failed", "broken", "waiting", "NotImplementedError", "Error"):
        assert word not in done.stdout
    no_traceback(done)


def test_one_function_is_graded_alone(grade: Grade, tmp_path: Path) -> None:
    wrong(tmp_path / "me", "clip", "importance_ratio", SWAPPED)
    done = grade("clip.clip_fraction", "clip.clipped_surrogate", "--path", "me", *QUICK)
    assert done.returncode == OK, done.stdout
    of_the_two = sum(worth for function, worth, _ in declared("clip") if function != "importance_ratio")
    assert points(done.stdout) == (of_the_two, of_the_two)
    assert "next  grade clip.importance_ratio" in done.stdout
    assert_refused(grade("clip.clip_fracton", "--path", "me"), "did you mean clip.clip_fraction?")


# Hints


def test_a_hint_answers_from_the_last_grading_one_more_each_time(grade: Grade, tmp_path: Path) -> None:
    """Remembered for who sits at a terminal; a program that grades leaves nothing behind."""
    me = write(tmp_path / "me", {"advantages.py": (course.STARTER / "advantages.py").read_text("utf-8")})
    options = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "COLUMNS": "400"}
    grade("advantages", "--path", "me", **options)
    assert not (tmp_path / "cache").exists()
    assert_refused(grade("hint", "--path", "me", **options), "run `grade` first")
    done = grade("advantages", "--path", "me", is_terminal=True, NO_COLOR="1", **options)
    assert "hint  grade hint --path me" in done.stdout
    _, _, hints = declared("advantages")[0]
    for count in (1, 2, 3, 3):
        done = grade("hint", "--path", "me", **options)
        assert done.returncode == OK and "total" not in done.stdout, "nothing is graded"
        assert [hint in done.stdout for hint in hints] == [place < count for place in range(len(hints))]
    assert "No hint needed" in grade("hint", "kl", "--path", "me", **options).stdout
    assert hints[0] not in grade("hint", "advantages.zero_signal_fraction", "--path", "me", **options).stdout
    (me / "advantages.py").write_text("import torch\n", "utf-8")
    assert "have changed since" in grade("hint", "--path", "me", **options).stdout


def test_the_finish_comes_once_for_a_folder_and_again_after_it_was_lost(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    arguments = argparse.Namespace(json=None, call=False, hint=0, path=tmp_path / "me")
    whole = result_of({exercise.name: PASSED for exercise in course.EXERCISES})
    lost = result_of({exercise.name: FAILED for exercise in course.EXERCISES})
    shown = []
    for result in (whole, whole, lost, whole):
        cli._report(arguments, result)
        shown.append("You wrote GRPO" in capsys.readouterr().out)
    assert shown == [True, False, False, True]


def test_the_finish_of_a_course_without_the_language_model_names_what_was_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(course, "EXERCISES", course.EXERCISES[1:3])
    monkeypatch.setattr(course, "STARTER", tmp_path)
    whole = result_of({exercise.name: PASSED for exercise in course.EXERCISES})
    cli._report(argparse.Namespace(json=None, call=False, hint=0, path=tmp_path / "me"), whole)
    said = capsys.readouterr().out
    assert "You wrote these parts of GRPO: Clip and KL." in said and "run_llm" not in said


def test_hints_are_a_ladder_that_ends(grade: Grade, tmp_path: Path) -> None:
    _, _, hints = declared("advantages")[0]  # of the first worked example, which is the first to fail
    assert len(hints) > 1
    write(tmp_path / "me", {"advantages.py": (course.STARTER / "advantages.py").read_text("utf-8")})

    def said(count: int) -> str:
        done = grade("advantages", "--path", "me", *["--hint"] * count, COLUMNS="400")
        assert done.returncode == CHECKS_FAILED
        return done.stdout

    first = said(1)
    assert hints[0] in first and hints[1] not in first
    assert f"{len(hints) - 1} more: give --hint 2 times" in first
    second = said(2)
    assert hints[0] in second and hints[1] in second
    more_than_there_are = said(len(hints) + 3)
    assert all(hint in more_than_there_are for hint in hints)
    assert "That was the last one" in more_than_there_are


def test_nobody_needs_a_hint_when_everything_passes(grade: Grade, tmp_path: Path) -> None:
    model_answers(tmp_path / "me", "advantages")
    done = grade("advantages", "--path", "me", "--hint")
    assert done.returncode == OK
    assert "No hint needed" in done.stdout


# Terminals


def on_a_terminal(
    *arguments: str | Path, cwd: Path, columns: int = 120, with_progress: bool = False, **more: str
) -> str:
    """What the command writes to standard output when that is a terminal; with its progress, to standard error too."""
    pty = pytest.importorskip("pty")
    import fcntl
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        cwd=cwd,
        env=environment(**{"TERM": "xterm-256color", **more}),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs if with_progress else subprocess.DEVNULL,
    )
    os.close(theirs)
    written = b""
    while True:
        try:
            part = os.read(ours, 1 << 16)
        except OSError:  # how Linux says that the other end is closed
            break
        if not part:
            break
        written += part
    os.close(ours)
    process.wait(30)
    return written.decode("utf-8")


def three_outcomes(folder: Path) -> Path:
    """A submission with something passed, something failed and something not written."""
    wrong(folder, "clip", "importance_ratio", SWAPPED)
    text = (folder / "clip.py").read_text("utf-8")
    stub = "def stub(*a, **k):\n    raise NotImplementedError\nclip_fraction = stub\n"
    return write(folder, {"clip.py": f"{text}\n{stub}"})


def test_a_terminal_gets_signs_words_and_only_then_colours_and_no_line_that_is_too_long(tmp_path: Path) -> None:
    three_outcomes(tmp_path / "me")
    written = on_a_terminal("clip", "--path", "me", *QUICK, cwd=tmp_path, columns=40)
    assert STYLE.search(written)
    bare = STYLE.sub("", written)
    assert ESCAPE not in bare
    for outcome in ("✓ passed", "✗ failed", "○ not written yet"):
        assert outcome in bare
    assert max(map(len, bare.splitlines())) <= 40


def test_checks_that_run_once_more_are_counted_on_the_screen(tmp_path: Path) -> None:
    wrong(tmp_path / "me", "clip", "importance_ratio", SWAPPED)
    written = on_a_terminal("bandit.grpo_step", "--path", "me", *QUICK, cwd=tmp_path, with_progress=True)
    assert "what your functions return" in STYLE.sub("", written)


def test_colours_can_be_had_without_a_terminal(shown: Grade, tmp_path: Path) -> None:
    three_outcomes(tmp_path / "me")
    piped = shown("clip", "--path", "me", FORCE_COLOR="1").stdout
    assert STYLE.search(piped)
    assert "✗ failed" in STYLE.sub("", piped)


def test_no_escape_sequences_where_nobody_looks_at_a_terminal(undisturbed: Graded) -> None:
    assert ESCAPE not in undisturbed.done.stdout + undisturbed.done.stderr
    for outcome in ("✓ passed", "✗ failed"):
        assert outcome in undisturbed.done.stdout


def test_no_color_leaves_no_escape_sequences_on_a_terminal(shown: Grade, tmp_path: Path) -> None:
    three_outcomes(tmp_path / "me")
    on_a_terminal = {"is_terminal": True, "TERM": "xterm-256color"}
    assert STYLE.search(shown("clip", "--path", "me", **on_a_terminal).stdout), "otherwise there are some"
    written = shown("clip", "--path", "me", **on_a_terminal, NO_COLOR="1").stdout
    assert "✗ failed" in written
    assert ESCAPE not in written


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_terminal_without_unicode_gets_ascii_signs_and_no_crash(shown: Grade, tmp_path: Path, encoding: str) -> None:
    """Also where the student's own text is not ASCII: a print, a source line, an exception, the folder's name."""
    done = shown("clip", "kl", "--path", no_ascii(tmp_path), encoding=encoding)
    no_traceback(done)
    assert done.returncode == CHECKS_FAILED
    for outcome in ("+ passed", "x failed", "o not written yet", "x broken"):
        assert outcome in done.stdout
    assert "KeyError" in done.stdout
    assert not set("✓✗○…") & set(done.stdout)
    assert points(done.stdout)[0] > 0


def no_ascii(folder: Path) -> Path:
    """A submission with all outcomes and text of many scripts."""
    me = three_outcomes(folder / "größe_π")
    wrong(folder / "other", "kl", "kl_estimate", RAISES)
    return (folder / "other" / "kl.py").replace(me / "kl.py").parent


@pytest.mark.parametrize("columns", ["40", "0", "", "wide"])
def test_any_width_can_be_shown(shown: Grade, tmp_path: Path, columns: str) -> None:
    wrong(tmp_path / "me", "kl", "kl_estimate", RAISES)
    done = shown("kl", "--path", "me", COLUMNS=columns)
    no_traceback(done)
    assert done.returncode == CHECKS_FAILED
    # A word may be broken over lines where the terminal is narrower than the word; nothing may be left out.
    text = "".join(done.stdout.split())
    for part in ("broken", "KeyError", "torch.tensor([", "kl_estimate(logp,ref_logp)", "docs/exercises/kl.md", "total"):
        assert part in text


# Surroundings


HOSTILE = "raise SystemExit('code beside the submission was run: ' + __name__)\n"
BESIDE = ("numpy.py", "torch.py", "pytest.py", "hypothesis.py", "rich.py", "conftest.py", "sitecustomize_of_mine.py")
BEFORE_THE_LIBRARIES = ("random.py", "math.py", "json.py", "typing.py", "grader.py")


@dataclass(frozen=True)
class Graded:
    """A wrong submission, graded by a process.

    Attributes:
        done: What became of the process.
        folder: Of everything: me/, the result, and folders for temporary files and for settings.
        before: The files of me/ before.
    """

    done: subprocess.CompletedProcess[str]
    folder: Path
    before: dict[str, bytes]

    @property
    def result(self) -> bytes:
        """Without the times."""
        return re.sub(rb'"seconds": [0-9.e-]+', b'"seconds": 0', (self.folder / "r.json").read_bytes())


EXAMPLES = ("--examples", "40")
"""Enough for the mistake to be found, and to be shrunk."""


def changing(folder: Path) -> Path:
    """A submission whose result changes with any one input, because a function reports a digest of all that it got."""
    me = wrong(folder / "me", "kl", "categorical_kl", WRONG_ABOVE_TWO)
    with (me / "kl.py").open("a", encoding="utf-8") as file:
        file.write(FINGERPRINT)
    return me


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """Graded in an ordinary folder, by a course that is installed elsewhere: among the libraries."""
    folder, elsewhere = tmp_path_factory.mktemp("undisturbed"), tmp_path_factory.mktemp("elsewhere") / "site-packages"
    for name in ("grader", "reference"):
        shutil.copytree(course.ROOT / name, elsewhere / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(course.ROOT / "course.toml", elsewhere)
    start = (
        f"import sys; sys.path.insert(0, {str(elsewhere)!r}); from grader.commands import grade; sys.exit(grade.main())"
    )
    me = changing(folder)
    before, homes = contents(me), own_homes(folder)
    command = (sys.executable, "-P", "-c", start)
    arguments = ("kl", "--path", "me", "--json", "r.json", *EXAMPLES)
    done = process(*arguments, cwd=folder, command=command, variables={"PYTHONHASHSEED": "1", **homes})
    return Graded(done, folder, before)


@pytest.fixture(scope="module")
def disturbed(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """Graded by `python -P -m` in a folder that holds much else, with variables that change much else."""
    folder = tmp_path_factory.mktemp("disturbed")
    me = changing(folder)
    surroundings(me)
    write(folder / "on_the_path", dict.fromkeys(BESIDE, HOSTILE))
    variables = {
        "PYTEST_ADDOPTS": "--collect-only -k nothing",
        "PYTEST_PLUGINS": "plugin_of_somebody",
        "PYTHONPATH": "../on_the_path",
        "PYTHONWARNINGS": "error",
        "PYTHONOPTIMIZE": "1",
        "PYTHONHASHSEED": "20261121",
        "CI": "true",
        "HYPOTHESIS_PROFILE": "ci",
    }
    before, homes = contents(me), own_homes(folder)
    done = process("kl", "--json", "../r.json", *EXAMPLES, cwd=me, variables=variables | homes)
    return Graded(done, folder, before)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def own_homes(folder: Path) -> dict[str, str]:
    """Variables for a process that shall keep its temporary files and settings in two new folders."""
    for name in ("temporary", "home"):
        (folder / name).mkdir()
    return {"TMPDIR": str(folder / "temporary"), "HOME": str(folder / "home")}


def surroundings(folder: Path) -> None:
    """What a submission's folder may hold beside the graded files."""
    write(folder, dict.fromkeys(BESIDE, HOSTILE))
    write(folder, {"pytest.ini": "[pytest]\naddopts = --collect-only\npython_files = *\n"})
    write(folder, {"pyproject.toml": "[tool.pytest.ini_options]\naddopts = '--collect-only'\n"})
    write(folder, {"tox.ini": "[pytest]\naddopts = --collect-only\n", "evil.pth": "import os; os._exit(0)\n"})
    others = ("__init__", "__main__", "submission", "usercustomize", "sitecustomize", "test_advantages", "setup")
    write(folder, dict.fromkeys([*BEFORE_THE_LIBRARIES, *(f"{name}.py" for name in others)], HOSTILE))


def test_files_beside_the_submission_change_nothing(
    everything: tuple[subprocess.CompletedProcess[str], dict[str, Any]],
) -> None:
    done, found = everything
    assert "code beside the submission was run" not in done.stdout + done.stderr
    assert done.returncode == OK and found["complete"] is True


def test_files_beside_the_submission_and_environment_variables_change_nothing_for_python_m(
    undisturbed: Graded, disturbed: Graded
) -> None:
    assert "code beside the submission was run" not in disturbed.done.stdout + disturbed.done.stderr
    assert disturbed.done.returncode == undisturbed.done.returncode == CHECKS_FAILED
    assert without_notes(disturbed) == without_notes(undisturbed)


def without_notes(graded: Graded) -> bytes:
    """A result as it was written, before what it says of other files in the submission's folder."""
    return graded.result[: graded.result.index(b'"notes": [')]


def test_a_module_of_the_submission_gets_the_real_library_and_not_the_file_beside_it(
    grade: Grade, tmp_path: Path
) -> None:
    me = model_answers(tmp_path / "me", "advantages")
    surroundings(me)
    text = (me / "advantages.py").read_text("utf-8")
    libraries = "import math, random\nimport numpy\nimport torch\nnumpy.ones(2)\n"
    write(me, {"advantages.py": text.replace("import torch\n", libraries)})
    done = grade("advantages", "--path", "me")
    assert done.returncode == OK, done.stdout


def test_grading_leaves_nothing_behind(undisturbed: Graded, disturbed: Graded) -> None:
    """Also where a law failed: hypothesis keeps what it found in files of its own, if nobody forbids it."""
    for graded, more in ((undisturbed, set()), (disturbed, {"on_the_path"})):
        assert contents(graded.folder / "me") == graded.before
        assert {path.name for path in graded.folder.iterdir()} == {"me", "r.json", "temporary", "home"} | more
        assert [*(graded.folder / "temporary").iterdir(), *(graded.folder / "home").iterdir()] == []
    assert failed_laws(undisturbed)


def test_a_cold_grading_leaves_nothing_behind(tmp_path: Path) -> None:
    """Of a stub: each function takes a second, because each gets an interpreter of its own."""
    me = write(tmp_path / "me", {"kl.py": (course.STARTER / "kl.py").read_text("utf-8")})
    before = contents(me)
    done = process("kl", "--path", "me", "--cold", cwd=tmp_path, variables=own_homes(tmp_path))
    assert done.returncode == CHECKS_FAILED
    assert contents(me) == before
    assert {path.name for path in tmp_path.iterdir()} == {"me", "temporary", "home"}
    assert [*(tmp_path / "temporary").iterdir(), *(tmp_path / "home").iterdir()] == []


# The same again


def failed_laws(graded: Graded) -> list[dict[str, Any]]:
    (kl,) = document(graded.folder / "r.json")["exercises"]
    return [check for check in kl["checks"] if check["outcome"] == "failed" and not check["gate"]]


def test_the_same_submission_and_seed_give_the_same_bytes_wherever_the_course_is_installed(
    undisturbed: Graded, disturbed: Graded
) -> None:
    """A counterexample found by hypothesis and shrunk is in it, and the order of hashes differs between the runs.

    One function reports a digest of every input that it ever got, so one other input changes the result. Hypothesis
    mixes constants of the code that it takes for the tested project into the inputs; paths tell it which.
    """
    laws = failed_laws(undisturbed)
    # A small one that shows the mistake: one row of logits, and one of the reference.
    assert min(check["call"].count(",") for check in laws) <= 10, [check["call"] for check in laws]
    assert undisturbed.result.count(b"ValueError: digest") > 2
    assert without_notes(disturbed) == without_notes(undisturbed)


def test_another_seed_keeps_the_verdicts(grade: Grade, tmp_path: Path) -> None:
    wrong(tmp_path / "me", "kl", "categorical_kl", WRONG_ABOVE_TWO)
    found = []
    for seed in ("0", "987654321"):
        done = grade("kl", "--path", "me", "--seed", seed, "--json", "r.json")
        assert done.returncode == CHECKS_FAILED
        assert document(tmp_path / "r.json")["seed"] == int(seed)
        found.append(outcomes(tmp_path / "r.json"))
    assert found[0] == found[1]
    assert "failed" in found[0].values() and "passed" in found[0].values()


NOT_BEFORE_TORCH = {
    "numpy",
    "pytest",
    "rich",
    "msgspec",
    "concurrent.futures",
    "grader.core.result",
    "grader.core.secret",
}
"""What `grade` imports while the fork server imports torch, so that nobody waits for it."""

SHADOWED = ("grader", "sitecustomize", "usercustomize", "argparse", "json", "random", "numpy", "torch", "msgspec")


@pytest.mark.parametrize(
    ("command", "shadowed", "path"),
    [
        ((Path(sys.executable).with_name("grade"), "--help"), SHADOWED, ""),
        ((Path(sys.executable).with_name("course"), "report", "--help"), SHADOWED, ""),
        ((sys.executable, "-P", "-m", "grader.commands.course", "report", "--help"), SHADOWED, ""),
        ((Path(sys.executable).with_name("course"), "report", "--help"), ("numpy", "torch", "msgspec", "jinja2"), "."),
    ],
    ids=["grade", "course", "python -P -m", "PYTHONPATH"],
)
def test_a_command_imports_nothing_from_the_folder_that_it_is_started_in(
    tmp_path: Path, command: tuple[str | Path, ...], shadowed: tuple[str, ...], path: str
) -> None:
    for name in shadowed:
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the student ran')\n", "utf-8")
    variables = environment(PYTHONPROFILEIMPORTTIME="1", **({"PYTHONPATH": path} if path else {}))
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 and "usage: " in done.stdout, done.stderr
    if Path(command[0]).name == "grade":
        imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
        assert "grader.sandbox.fork_server" in imported and not imported & NOT_BEFORE_TORCH


@pytest.mark.skipif(sys.platform == "win32", reason="there a folder that somebody is in stays")
@pytest.mark.parametrize("name", ["grade", "course"])
def test_a_command_in_a_folder_that_is_gone_says_so(tmp_path: Path, name: str) -> None:
    command = ["sh", "-c", 'rmdir "$PWD"; exec "$0" --version', str(Path(sys.executable).with_name(name))]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "The folder that you are in is gone; change into one that is there.\n")


def test_python_m_is_refused_outside_of_the_course_because_it_would_run_a_students_grader(tmp_path: Path) -> None:
    command = (sys.executable, "-m", "grader.commands.grade", "--help")
    done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Use the commands `grade` and `course`, or `python -P -m`." in done.stderr
