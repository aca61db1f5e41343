"""`grade` as a student meets it: what it prints, what it writes and how it ends.

Most tests call the command in their own process. A process of its own has what only a process can show: how it ends,
a terminal, the import path, what it leaves behind.
"""

from __future__ import annotations

import argparse
import functools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from command import document, environment, valid_result, wrong_answer
from grading_here import graded_once
from submissions import model_answer, write_files
from terminal_reports import result_of

from grader.commands import grade as cli
from grader.core import course
from grader.core.result import FAILED, PASSED
from grader.grading.settings import declared_checks
from grader.sandbox.sandbox import Sandbox

OK, CHECKS_FAILED, USAGE, GRADER_FAILED = 0, 1, 2, 3
COMMAND = (sys.executable, "-P", "-m", "grader.commands.grade")
PROGRAM = str(Path(sys.executable).with_name("grade"))
QUICK = ("--examples", "2")
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


@pytest.fixture(scope="module")
def known():
    """What was graded before, for `shown`."""
    return {}


@pytest.fixture
def shown(grade, known):
    """`grade` for what it prints: the tests look at the gradings of a few submissions in many ways."""
    with graded_once(known):
        yield grade


def process(*arguments, cwd: Path, command=COMMAND, **variables: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, to its end."""
    return subprocess.run(
        [*command, *map(str, arguments)],
        cwd=cwd,
        env=environment(**variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )


def model_answers(folder: Path, *exercises: str) -> Path:
    return write_files(folder, {f"{name}.py": model_answer(name) for name in exercises})


def stub(folder: Path, exercise: str) -> Path:
    return write_files(folder, {f"{exercise}.py": (course.STARTER / f"{exercise}.py").read_bytes()})


def points(output: str) -> tuple[int, int]:
    earned, possible = re.findall(r"total +(\d+) of (\d+) points", output)[-1]
    return int(earned), int(possible)


def outcomes(path: Path) -> dict[str, str]:
    return {check["id"]: check["outcome"] for exercise in document(path)["exercises"] for check in exercise["checks"]}


def worth(exercise: str, *functions: str) -> int:
    """Points of some functions; of all without a name."""
    checks = declared_checks([exercise], hidden=True).values()
    return sum(check.points for check in checks if not functions or check.function in functions)


def first_hints() -> Sequence[str]:
    """Of the worked example of the advantages, which is the first to fail."""
    return next(iter(declared_checks(["advantages"], hidden=True).values())).hints


def no_traceback(done) -> None:
    assert "Traceback (most recent call last)" not in done.stdout + done.stderr, done.stdout + done.stderr


def assert_refused(done, phrase: str) -> None:
    assert done.returncode == USAGE
    assert phrase in " ".join(done.stderr.split())
    assert not done.stdout
    no_traceback(done)


# Exit codes


def test_the_program_gives_a_model_answer_every_point_whatever_lies_beside_it(tmp_path):
    """Its module gets the real libraries, not the files beside it."""
    libraries = "import math, random\nimport numpy\nimport torch\nnumpy.ones(2)\n"
    answer = model_answer("advantages").replace("import torch\n", libraries)
    me = write_files(tmp_path / "me", {"advantages.py": answer})
    surroundings(me)
    done = process("advantages", *QUICK, "--json", "../r.json", cwd=me, command=(PROGRAM,))
    assert done.returncode == OK, done.stdout + done.stderr
    assert "code beside the submission was run" not in done.stdout + done.stderr
    assert points(done.stdout) == (worth("advantages"),) * 2
    result = valid_result(tmp_path / "r.json")
    assert result["complete"] is True and result["grade"] is True
    assert {*outcomes(tmp_path / "r.json").values()} == {"passed"}


def test_a_wrong_answer_exits_with_1_and_loses_only_its_own_points(shown, tmp_path):
    wrong_answer(tmp_path / "me", "clip", "importance_ratio", SWAPPED)
    done = shown("clip", "--path", "me")
    assert done.returncode == CHECKS_FAILED
    earned, possible = points(done.stdout)
    assert possible - worth("clip", "importance_ratio") <= earned < possible
    assert "✗ failed" in done.stdout
    no_traceback(done)


@pytest.mark.parametrize(
    ("arguments", "phrase"),
    [
        (["advantags"], "did you mean advantages?"), (["clip.clip_fracton"], "did you mean clip.clip_fraction?"),
        (["group_advantages"], "did you mean advantages.group_advantages?"), (["2"], "did you mean clip?"),
        (["help"], "did you mean --help?"),
        (["kl.py"], "did you mean kl?"), (["zzzz"], "advantages, clip, kl"), (["--pth", "me"], "did you mean --path?"),
        (["--seed", "one"], "--seed"), (["--examples", "0"], "at least 1"), (["--device", "tpu"], "tpu"),
        (["--path", "nowhere"], "no folder nowhere"), (["--path", "a_file.txt"], "a_file.txt is a file"),
        (["--path", "empty"], "advantages.py, clip.py, kl.py"), (["--debug", "--watch"], "--debug or --watch"),
        (["--json", "nowhere/r.json"], "no folder nowhere"),
    ],
)  # fmt: skip
def test_wrong_usage_exits_with_2_and_says_what_to_do(grade, tmp_path, arguments, phrase):
    (tmp_path / "a_file.txt").write_text("")
    (tmp_path / "empty").mkdir()
    assert_refused(grade(*arguments), phrase)


@pytest.mark.parametrize(
    ("target", "option"), [("me/kl.py", "--call"), ("me/worksheet.json", "--debug"), ("other_name", "--watch")]
)
def test_the_result_is_not_written_over_a_file_of_the_submission(grade, tmp_path, target, option):
    kl = model_answers(tmp_path / "me", "kl") / "kl.py"
    before = kl.read_bytes()
    os.link(kl, tmp_path / "other_name")  # as KL.py is where large and small letters are the same
    assert_refused(grade("kl", "--path", "me", "--json", target, option), f"--json would overwrite {Path(target)}")
    assert kl.read_bytes() == before and sorted(path.name for path in kl.parent.iterdir()) == ["kl.py"]


def test_an_isolation_level_that_cannot_be_had_exits_with_3_before_any_student_code_runs(grade, tmp_path, monkeypatch):
    trace = tmp_path / "trace"
    wrong_answer(tmp_path / "me", "kl", "kl_estimate", f"open({str(trace)!r}, 'w')\ndef f(*a, **k): ...\n")
    monkeypatch.setattr(Sandbox, "start", functools.partial(Sandbox.start, cold=True))  # such workers have level 0
    done = grade("--require-level", "1", "--path", "me", "--json", "r.json", sandbox=None)
    assert done.returncode == GRADER_FAILED
    assert "level 1 is required" in done.stderr and "level 0" in done.stderr
    assert not trace.exists()
    assert {*outcomes(tmp_path / "r.json").values()} == {"not run"}
    no_traceback(done)


@pytest.mark.proof
@pytest.mark.skipif(Path("/dev/nvidia0").exists(), reason="has a GPU")
def test_a_missing_device_is_no_fault_of_the_student(grade, tmp_path):
    model_answers(tmp_path / "me", "kl")
    done = grade("kl", "--device", "cuda", "--path", "me", "--json", "r.json")
    assert done.returncode in (USAGE, GRADER_FAILED)
    assert "cuda" in done.stderr.lower() + done.stdout.lower()
    if (tmp_path / "r.json").exists():
        assert "broken" not in outcomes(tmp_path / "r.json").values()
    no_traceback(done)


# What is graded


def test_only_the_named_exercises_are_graded_in_course_order(grade, tmp_path):
    done = grade("kl", "advantages", "--path", course.STARTER, "--json", "r.json")
    assert done.returncode == CHECKS_FAILED
    assert [exercise["name"] for exercise in document(tmp_path / "r.json")["exercises"]] == ["advantages", "kl"]
    assert "clip.py" not in done.stdout
    assert points(done.stdout) == (0, worth("advantages") + worth("kl"))


def test_without_a_path_the_folder_starter_is_graded_or_else_the_current_one(grade, tmp_path):
    stub(tmp_path / "starter", "kl")
    write_files(tmp_path, {"kl.py": "not python"})
    for folder in (tmp_path, tmp_path / "starter"):
        assert grade("kl", "--json", "r.json", cwd=folder).returncode == CHECKS_FAILED
        assert {*outcomes(folder / "r.json").values()} == {"not written"}
        assert document(folder / "r.json")["submission"] == "starter"


def test_one_function_is_graded_alone(grade, tmp_path):
    wrong_answer(tmp_path / "me", "clip", "importance_ratio", SWAPPED)
    done = grade("clip.clip_fraction", "clip.clipped_surrogate", "--path", "me", *QUICK)
    assert done.returncode == OK, done.stdout
    assert points(done.stdout) == (worth("clip", "clip_fraction", "clipped_surrogate"),) * 2
    assert "grade clip.importance_ratio" in done.stdout, "the next step"


# Hints and the finish


def test_grade_hint_shows_one_more_hint_each_time_without_grading(grade, tmp_path):
    """The last grading is remembered at a terminal only: a program that grades leaves nothing behind."""
    me = stub(tmp_path / "me", "advantages")
    options = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "COLUMNS": "400"}
    grade("advantages", "--path", "me", **options)
    assert not (tmp_path / "cache").exists()
    assert_refused(grade("hint", "--path", "me", **options), "run `grade` first")
    done = grade("advantages", "--path", "me", is_terminal=True, NO_COLOR="1", **options)
    assert "grade hint --path me" in done.stdout
    hints = first_hints()
    for count in (1, 2, 3, 3):
        done = grade("hint", "--path", "me", **options)
        assert done.returncode == OK and "total" not in done.stdout, "nothing is graded"
        assert [hint in done.stdout for hint in hints] == [place < count for place in range(len(hints))]
    assert "no hint" in grade("hint", "kl", "--path", "me", **options).stdout
    assert hints[0] not in grade("hint", "advantages.zero_signal_fraction", "--path", "me", **options).stdout
    (me / "advantages.py").write_text("import torch\n", "utf-8")
    assert "changed" in grade("hint", "--path", "me", **options).stdout


def test_the_finish_comes_once_per_folder_and_again_after_points_were_lost(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "120")
    arguments = argparse.Namespace(json=None, call=False, hint=0, path=tmp_path / "me")
    whole = result_of({exercise.name: PASSED for exercise in course.EXERCISES})
    lost = result_of({exercise.name: FAILED for exercise in course.EXERCISES})
    finished = []
    for result in (whole, whole, lost, whole):
        cli._report(arguments, result)
        finished.append("You wrote GRPO" in capsys.readouterr().out)
    assert finished == [True, False, False, True]


# Terminals


def three_outcomes(folder: Path) -> Path:
    """A submission with something passed, something failed and something not written."""
    wrong_answer(folder, "clip", "importance_ratio", SWAPPED)
    with (folder / "clip.py").open("a", encoding="utf-8") as file:
        file.write("\ndef stub(*a, **k):\n    raise NotImplementedError\nclip_fraction = stub\n")
    return folder


def test_colours_follow_the_terminal_and_the_environment(shown, tmp_path):
    three_outcomes(tmp_path / "me")
    terminal = {"is_terminal": True, "TERM": "xterm-256color"}
    for options, coloured in (
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        (terminal, True),
        ({**terminal, "NO_COLOR": "1"}, False),
    ):
        output = shown("clip", "--path", "me", **options, COLUMNS="40").stdout
        assert (ESCAPE in output) is coloured
        lines = STYLE.sub("", output).splitlines()
        assert any("✗ failed" in line for line in lines) and max(map(len, lines)) <= 40


@pytest.mark.parametrize("encoding", ["ascii", pytest.param("cp1252", marks=pytest.mark.proof)])
def test_a_terminal_without_unicode_gets_ascii_signs_and_no_crash(shown, tmp_path, encoding):
    """Also where the student's own text is not ASCII: a print, a source line, an exception, the folder's name."""
    me = three_outcomes(tmp_path / "größe_π")
    (wrong_answer(tmp_path / "other", "kl", "kl_estimate", RAISES) / "kl.py").replace(me / "kl.py")
    done = shown("clip", "kl", "--path", me, encoding=encoding)
    no_traceback(done)
    assert done.returncode == CHECKS_FAILED
    for text in ("+ passed", "x failed", "o not written yet", "x broken", "KeyError"):
        assert text in done.stdout
    assert not {*"✓✗○…"} & {*done.stdout}
    assert points(done.stdout)[0] > 0


# Surroundings


HOSTILE = "raise SystemExit('code beside the submission was run: ' + __name__)\n"
BESIDE = ("numpy.py", "torch.py", "pytest.py", "hypothesis.py", "rich.py", "conftest.py", "sitecustomize_of_mine.py")


def surroundings(folder: Path) -> None:
    """What a submission's folder may hold besides the graded files."""
    others = ("__init__", "__main__", "submission", "usercustomize", "sitecustomize", "test_advantages", "setup")
    libraries = ("random", "math", "json", "typing", "grader")
    write_files(folder, dict.fromkeys([*BESIDE, *(f"{name}.py" for name in (*others, *libraries))], HOSTILE))
    write_files(folder, {"pytest.ini": "[pytest]\naddopts = --collect-only\npython_files = *\n"})
    write_files(folder, {"pyproject.toml": "[tool.pytest.ini_options]\naddopts = '--collect-only'\n"})
    write_files(folder, {"tox.ini": "[pytest]\naddopts = --collect-only\n", "evil.pth": "import os; os._exit(0)\n"})


EXAMPLES = ("--examples", "20")
"""Enough for the mistake to be found, and to be shrunk."""


def changing(folder: Path) -> Path:
    """A submission whose result changes with any one input: a function reports a digest of all that it got."""
    me = wrong_answer(folder, "kl", "categorical_kl", WRONG_ABOVE_TWO)
    return write_files(me, {"kl.py": (me / "kl.py").read_text("utf-8") + FINGERPRINT})


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def stable(result: Path) -> bytes:
    """A result without the times, and without its notes on other files in the submission's folder."""
    text = result.read_bytes()
    return re.sub(rb'"seconds": [0-9.e-]+', b'"seconds": 0', text[: text.index(b'"notes": [')])


@pytest.mark.proof
def test_surroundings_change_no_byte_of_the_result_and_nothing_is_left_behind(tmp_path):
    """Files beside the submission, variables, where the course lies and the order of hashes change nothing.

    A counterexample that Hypothesis found and shrunk is in the result, and one other input would change the result.
    Hypothesis mixes constants of the code that it takes for the tested project into the inputs; paths tell it which.
    """
    undisturbed, disturbed = tmp_path / "undisturbed" / "r.json", tmp_path / "disturbed" / "r.json"
    changing(undisturbed.with_name("me"))
    packages = tmp_path / "site-packages"
    for name in ("grader", "reference", "starter"):
        shutil.copytree(course.ROOT / name, packages / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(course.ROOT / "course.toml", packages)
    start = f"import sys; sys.path.insert(0, {str(packages)!r}); from grader.commands import grade; "
    command = (sys.executable, "-P", "-c", start + "sys.exit(grade.main())")
    done = process("kl", "--path", "me", "--json", "r.json", *EXAMPLES, cwd=undisturbed.parent, command=command)
    assert done.returncode == CHECKS_FAILED and ESCAPE not in done.stdout + done.stderr

    me = changing(disturbed.with_name("me"))
    surroundings(me)
    write_files(disturbed.with_name("on_the_path"), dict.fromkeys(BESIDE, HOSTILE))
    for name in ("temporary", "home"):
        disturbed.with_name(name).mkdir()
    before = contents(me)
    variables = {
        "TMPDIR": str(disturbed.with_name("temporary")),
        "HOME": str(disturbed.with_name("home")),
        "PYTEST_ADDOPTS": "--collect-only -k nothing",
        "PYTEST_PLUGINS": "plugin_of_somebody",
        "PYTHONPATH": "../on_the_path",
        "PYTHONWARNINGS": "error",
        "PYTHONOPTIMIZE": "1",
        "PYTHONHASHSEED": "20261121",
        "CI": "true",
        "HYPOTHESIS_PROFILE": "ci",
    }
    done = process("kl", "--json", "../r.json", *EXAMPLES, cwd=me, **variables)
    assert done.returncode == CHECKS_FAILED
    assert "code beside the submission was run" not in done.stdout + done.stderr
    assert contents(me) == before
    assert {path.name for path in me.parent.iterdir()} == {"me", "r.json", "temporary", "home", "on_the_path"}
    assert not [*me.with_name("temporary").iterdir(), *me.with_name("home").iterdir()]

    assert stable(disturbed) == stable(undisturbed)
    assert undisturbed.read_bytes().count(b"ValueError: digest") > 2
    (kl,) = document(undisturbed)["exercises"]
    laws = [check for check in kl["checks"] if check["outcome"] == "failed" and not check["gate"]]
    # A small one that shows the mistake: one row of logits, and one of the reference.
    assert min(check["call"].count(",") for check in laws) <= 10, [check["call"] for check in laws]


# The process

# What `grade` imports while the fork server imports torch, so that nobody waits for it.
NOT_BEFORE_TORCH = {"numpy", "pytest", "rich", "msgspec", "concurrent.futures", "grader.core.result"}
SHADOWED = ("grader", "sitecustomize", "usercustomize", "argparse", "json", "random", "numpy", "torch", "msgspec")


@pytest.mark.parametrize(
    ("command", "shadowed", "path"),
    [
        (["grade", "--help"], SHADOWED, ""),
        (["course", "report", "--help"], SHADOWED, ""),
        (["course", "report", "--help"], ("numpy", "torch", "msgspec", "jinja2"), "."),
    ],
    ids=["grade", "course", "PYTHONPATH"],
)
def test_a_command_imports_nothing_from_the_folder_that_it_is_started_in(tmp_path, command, shadowed, path):
    write_files(tmp_path, {f"{name}.py": "raise SystemExit('the student ran')\n" for name in shadowed})
    variables = {"PYTHONPROFILEIMPORTTIME": "1", **({"PYTHONPATH": path} if path else {})}
    program = str(Path(sys.executable).with_name(command[0]))
    done = process(*command[1:], cwd=tmp_path, command=(program,), **variables)
    assert done.returncode == 0 and "usage: " in done.stdout, done.stderr
    if command[0] == "grade":
        imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
        assert "grader.sandbox.forked_worker" in imported and not imported & NOT_BEFORE_TORCH


@pytest.mark.skipif(sys.platform == "win32", reason="there a folder that somebody is in stays")
@pytest.mark.parametrize("name", ["grade", "course"])
def test_a_command_in_a_folder_that_is_gone_says_so(tmp_path, name):
    command = ("sh", "-c", 'rmdir "$PWD"; exec "$0" --version', Path(sys.executable).with_name(name))
    done = process(cwd=tmp_path, command=tuple(map(str, command)))
    # Some shells complain in a line of their own.
    assert done.returncode == 2 and done.stderr.count("no longer exists") == 1 and "Traceback" not in done.stderr


def test_python_m_is_refused_outside_of_the_course_because_it_would_run_a_students_grader(tmp_path):
    done = process("--help", cwd=tmp_path, command=(sys.executable, "-m", "grader.commands.grade"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "python -P -m" in done.stderr
