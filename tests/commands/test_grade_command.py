"""`grade` as a student meets it: a real process, real files, what it prints and how it ends."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from grader import course
from grader.catalogue import replaced

OK, CHECKS_FAILED, USAGE, GRADER_FAILED = 0, 1, 2, 3
COMMAND = (sys.executable, "-m", "grader.cli")
QUICK = ("--examples", "2")
ESCAPE = "\x1b"
STYLE = re.compile(r"\x1b\[[0-9;]*m")

# Loses the sign of the rewards. The worked example has no negative reward, so generated inputs have to find it.
LOSES_THE_SIGN = """
_right = group_advantages
def loses_the_sign(rewards, *, std_eps=1e-8, divide_by_std=True):
    if rewards.is_floating_point():
        rewards = rewards.abs()
    return _right(rewards, std_eps=std_eps, divide_by_std=divide_by_std)
"""
SWAPPED = """
def swapped(logp, old_logp):
    print("größer als π?", (old_logp - logp).exp())  # “curly” → and ✗
    return (old_logp.detach() - logp).clamp(-20.0, 20.0).exp()
"""
LOSES_ITS_DIGITS = """
_right = kl_estimate
def loses_its_digits(logp, ref_logp, *, kind="k3"):
    x = ref_logp.detach() - logp
    return x.exp() - 1 - x if kind == "k3" else _right(logp, ref_logp, kind=kind)
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
"""
RAISES = """
def raises(logp, ref_logp, *, kind="k3"):
    raise KeyError("größer als π ✗")  # → nicht gut
"""


def environment(**more: str) -> dict[str, str]:
    """Ours without what changes an interpreter, a terminal or pytest; then `more`."""
    changing = ("PYTHON", "PYTEST", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TERM", "CI")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(changing)}
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8", **more}


def grade(
    *arguments: str | Path, cwd: Path, command: tuple[str, ...] = COMMAND, **more: str
) -> subprocess.CompletedProcess[str]:
    """Run the command to its end."""
    done = subprocess.run(
        [*command, *map(str, arguments)],
        cwd=cwd,
        env=environment(**more),
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
    names = exercises or tuple(exercise.name for exercise in course.EXERCISES)
    return write(folder, {f"{name}.py": (course.MODEL_ANSWERS / f"{name}.py").read_text("utf-8") for name in names})


def wrong(folder: Path, exercise: str, function: str, text: str) -> Path:
    """The model answers with one function replaced by the last one of a text."""
    name = re.findall(r"^def (\w+)", text, re.M)[-1]
    return write(folder, replaced(exercise, function, name, text).files)


def points(output: str) -> tuple[int, int]:
    earned, possible = re.findall(r"total +(\d+) of (\d+) points", output)[-1]
    return int(earned), int(possible)


def document(path: Path) -> dict[str, Any]:
    """A result without what may differ between two gradings: how long each check took."""
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    for exercise in found["exercises"]:
        for check in exercise["checks"]:
            check["seconds"] = 0
    return found


def outcomes(path: Path) -> dict[str, str]:
    return {check["id"]: check["outcome"] for exercise in document(path)["exercises"] for check in exercise["checks"]}


def declared(exercise: str) -> list[tuple[str, int, tuple[str, ...]]]:
    """Function, points and hints of every check of an exercise, as the source says."""
    found = []
    folder = Path(course.__file__).parent / "checks"
    for path in (folder / f"test_{exercise}.py", folder / "hidden" / f"test_{exercise}.py"):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "check":
                options = {option.arg: option.value for option in call.keywords}
                hints = ast.literal_eval(options["hints"]) if "hints" in options else ()
                found.append((ast.literal_eval(call.args[0]), ast.literal_eval(options["points"]), hints))
    return found


def no_traceback(done: subprocess.CompletedProcess[str]) -> None:
    assert "Traceback (most recent call last)" not in done.stdout + done.stderr, done.stdout + done.stderr


# Exit codes


def test_the_model_answers_earn_every_point_and_exit_with_0(tmp_path: Path) -> None:
    done = grade("--path", course.MODEL_ANSWERS, cwd=tmp_path)
    assert done.returncode == OK
    earned, possible = points(done.stdout)
    assert earned == possible > 0
    no_traceback(done)


def test_a_wrong_answer_exits_with_1_and_loses_only_its_own_points(tmp_path: Path) -> None:
    wrong(tmp_path / "me", "clip", "importance_ratio", SWAPPED)
    done = grade("clip", "--path", "me", *QUICK, cwd=tmp_path)
    assert done.returncode == CHECKS_FAILED
    of_the_function = sum(worth for function, worth, _ in declared("clip") if function == "importance_ratio")
    earned, possible = points(done.stdout)
    assert possible - of_the_function <= earned < possible
    assert "✗ failed" in done.stdout
    no_traceback(done)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
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
        (["--debug", "--watch"], "--debug and --watch do not go together"),
        (["--json", "nowhere/r.json"], "there is no folder nowhere"),
    ],
)
def test_wrong_usage_exits_with_2_and_says_what_to_do(tmp_path: Path, arguments: list[str], sentence: str) -> None:
    (tmp_path / "a_file.txt").write_text("")
    (tmp_path / "empty").mkdir()
    done = grade(*arguments, cwd=tmp_path)
    assert done.returncode == USAGE
    assert sentence in " ".join(done.stderr.split())
    assert not done.stdout
    no_traceback(done)


@pytest.mark.parametrize(
    "target", ["me/kl.py", "me/advantages.py", "me/worksheet.json", "me/../me/kl.py", "other_name"]
)
def test_the_result_is_not_written_over_a_file_of_the_submission(tmp_path: Path, target: str) -> None:
    kl = model_answers(tmp_path / "me", "kl") / "kl.py"
    before = kl.read_bytes()
    os.link(kl, tmp_path / "other_name")  # as KL.py is where large and small letters are the same
    for option in ((), ("--debug",), ("--watch",)):
        done = grade("kl", "--path", "me", "--json", target, *option, cwd=tmp_path)
        assert done.returncode == USAGE and not done.stdout
        assert f"--json would overwrite {Path(target)}, which is handed in" in " ".join(done.stderr.split())
        no_traceback(done)
    assert kl.read_bytes() == before and sorted(path.name for path in kl.parent.iterdir()) == ["kl.py"]


def test_an_isolation_level_that_cannot_be_had_exits_with_3_before_any_student_code_runs(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    wrong(tmp_path / "me", "kl", "kl_estimate", f"open({str(trace)!r}, 'w')\ndef f(*a, **k): ...\n")
    done = grade("--require-level", "1", "--cold", "--path", "me", "--json", "r.json", cwd=tmp_path)
    assert done.returncode == GRADER_FAILED
    assert "isolation level 1 is required, but here is level 0" in done.stderr
    assert not trace.exists()
    assert set(outcomes(tmp_path / "r.json").values()) == {"not run"}
    no_traceback(done)


@pytest.mark.skipif(Path("/dev/nvidia0").exists(), reason="has a GPU")
def test_a_device_that_is_not_there_is_no_fault_of_the_student(tmp_path: Path) -> None:
    model_answers(tmp_path / "me", "kl")
    done = grade("kl", "--device", "cuda", "--path", "me", "--json", "r.json", cwd=tmp_path)
    assert done.returncode in (USAGE, GRADER_FAILED)
    assert "cuda" in done.stderr.lower() + done.stdout.lower()
    if (tmp_path / "r.json").exists():
        assert "broken" not in outcomes(tmp_path / "r.json").values()
    no_traceback(done)


# What is graded


def test_help_shows_examples_and_the_exit_codes(tmp_path: Path) -> None:
    done = grade("--help", cwd=tmp_path)
    assert done.returncode == OK
    assert "examples:" in done.stdout
    assert "grade advantages --hint" in done.stdout and "grade --watch" in done.stdout
    for meaning in ("0 all passed", "1 checks failed", "2 wrong usage", "3 the grader itself could not run"):
        assert meaning in " ".join(done.stdout.split())


def test_only_the_named_exercises_are_graded_in_course_order(tmp_path: Path) -> None:
    model_answers(tmp_path / "me")
    done = grade("kl", "advantages", "--path", "me", "--json", "r.json", cwd=tmp_path)
    assert done.returncode == OK
    assert [exercise["name"] for exercise in document(tmp_path / "r.json")["exercises"]] == ["advantages", "kl"]
    assert "clip.py" not in done.stdout
    assert points(done.stdout) == (sum(worth for name in ("advantages", "kl") for _, worth, _ in declared(name)),) * 2


def test_without_a_path_the_folder_starter_is_graded_or_else_the_current_one(tmp_path: Path) -> None:
    model_answers(tmp_path / "starter", "kl")
    write(tmp_path, {"kl.py": "not python"})
    assert grade("kl", cwd=tmp_path).returncode == OK
    here = grade("kl", "--json", "r.json", cwd=tmp_path / "starter")
    assert here.returncode == OK
    assert document(tmp_path / "starter" / "r.json")["submission"] == "starter"


def test_the_untouched_starter_is_not_written_yet_rather_than_wrong(tmp_path: Path) -> None:
    done = grade("--path", course.STARTER, cwd=tmp_path)
    assert done.returncode == CHECKS_FAILED
    earned, possible = points(done.stdout)
    assert earned == 0 < possible
    functions = sum(len(exercise.functions) for exercise in course.EXERCISES)
    assert done.stdout.count("not written yet") == functions
    for word in ("failed", "broken", "waiting", "NotImplementedError", "Error"):
        assert word not in done.stdout
    no_traceback(done)


# Hints


def test_hints_are_a_ladder_that_ends(tmp_path: Path) -> None:
    _, _, hints = declared("advantages")[0]  # of the first worked example, which is the first to fail
    assert len(hints) > 1
    write(tmp_path / "me", {"advantages.py": (course.STARTER / "advantages.py").read_text("utf-8")})

    def said(count: int) -> str:
        done = grade("advantages", "--path", "me", *["--hint"] * count, cwd=tmp_path, COLUMNS="400")
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


def test_nobody_needs_a_hint_when_everything_passes(tmp_path: Path) -> None:
    model_answers(tmp_path / "me", "kl")
    done = grade("kl", "--path", "me", "--hint", cwd=tmp_path)
    assert done.returncode == OK
    assert "No hint needed" in done.stdout


# Terminals


def on_a_terminal(*arguments: str | Path, cwd: Path, columns: int = 120, **more: str) -> str:
    """What the command writes to standard output when that is a terminal."""
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
        stderr=subprocess.DEVNULL,
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


def test_on_a_terminal_outcomes_are_signs_and_words_and_only_then_colours(tmp_path: Path) -> None:
    three_outcomes(tmp_path / "me")
    written = on_a_terminal("clip", "--path", "me", *QUICK, cwd=tmp_path)
    assert STYLE.search(written)
    bare = STYLE.sub("", written)
    assert ESCAPE not in bare
    for outcome in ("✓ passed", "✗ failed", "○ not written yet"):
        assert outcome in bare
    piped = grade("clip", "--path", "me", *QUICK, cwd=tmp_path, FORCE_COLOR="1").stdout
    assert STYLE.search(piped)
    assert "✗ failed" in STYLE.sub("", piped)


def test_no_escape_sequences_where_nobody_looks_at_a_terminal(tmp_path: Path) -> None:
    three_outcomes(tmp_path / "me")
    done = grade("clip", "--path", "me", *QUICK, cwd=tmp_path)
    assert ESCAPE not in done.stdout + done.stderr
    for outcome in ("✓ passed", "✗ failed", "○ not written yet"):
        assert outcome in done.stdout


def test_no_color_leaves_no_escape_sequences_on_a_terminal(tmp_path: Path) -> None:
    three_outcomes(tmp_path / "me")
    written = on_a_terminal("clip", "--path", "me", *QUICK, cwd=tmp_path, NO_COLOR="1")
    assert "✗ failed" in written
    assert ESCAPE not in written


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_terminal_without_unicode_gets_ascii_signs_and_no_crash(tmp_path: Path, encoding: str) -> None:
    """Also where the student's own text is not ASCII: a print, a source line, an exception, the folder's name."""
    me = three_outcomes(tmp_path / "größe_π")
    wrong(tmp_path / "other", "kl", "kl_estimate", RAISES)
    (tmp_path / "other" / "kl.py").rename(me / "kl.py")
    done = grade("clip", "kl", "--path", me, *QUICK, cwd=tmp_path, PYTHONIOENCODING=encoding)
    no_traceback(done)
    assert done.returncode == CHECKS_FAILED
    for outcome in ("+ passed", "x failed", "o not written yet", "x broken"):
        assert outcome in done.stdout
    assert "KeyError" in done.stdout
    assert not set("✓✗○…") & set(done.stdout)
    assert points(done.stdout)[0] > 0


@pytest.mark.parametrize("columns", ["40", "0", "", "wide"])
def test_any_width_can_be_shown(tmp_path: Path, columns: str) -> None:
    wrong(tmp_path / "me", "kl", "kl_estimate", RAISES)
    done = grade("kl", "--path", "me", *QUICK, cwd=tmp_path, COLUMNS=columns)
    no_traceback(done)
    assert done.returncode == CHECKS_FAILED
    # A word may be broken over lines where the terminal is narrower than the word; nothing may be left out.
    text = "".join(done.stdout.split())
    for part in ("broken", "KeyError", "kl_estimate(torch.tensor(", "docs/exercises/kl.md", "total"):
        assert part in text


def test_a_narrow_terminal_gets_no_line_that_is_too_long(tmp_path: Path) -> None:
    three_outcomes(tmp_path / "me")
    written = STYLE.sub("", on_a_terminal("clip", "--path", "me", *QUICK, cwd=tmp_path, columns=40))
    assert "failed" in written
    assert max(map(len, written.splitlines())) <= 40


# Surroundings


HOSTILE = "raise SystemExit('code beside the submission was run: ' + __name__)\n"
BESIDE = ("numpy.py", "torch.py", "pytest.py", "hypothesis.py", "rich.py", "conftest.py", "sitecustomize_of_mine.py")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The result of a wrong submission, graded in an ordinary folder."""
    folder = tmp_path_factory.mktemp("undisturbed")
    wrong(folder / "me", "clip", "importance_ratio", SWAPPED)
    done = grade("clip", "--path", "me", "--json", "r.json", cwd=folder)
    assert done.returncode == CHECKS_FAILED
    return document(folder / "r.json")


def surroundings(folder: Path) -> None:
    """What a submission's folder may hold beside the graded files."""
    write(folder, dict.fromkeys(BESIDE, HOSTILE))
    write(folder, {"pytest.ini": "[pytest]\naddopts = --collect-only\npython_files = *\n"})
    write(folder, {"pyproject.toml": "[tool.pytest.ini_options]\naddopts = '--collect-only'\n"})
    write(folder, {"__init__.py": HOSTILE, "random.py": HOSTILE, "math.py": HOSTILE})


@pytest.mark.parametrize("how", ["grade", "python -m grader.cli"])
def test_files_beside_the_submission_change_nothing(tmp_path: Path, how: str, undisturbed: dict[str, Any]) -> None:
    me = wrong(tmp_path / "me", "clip", "importance_ratio", SWAPPED)
    surroundings(me)
    command: tuple[str, ...] = (str(Path(sys.executable).with_name("grade")),)
    if how != "grade":
        command = COMMAND
        for name in ("random.py", "math.py"):  # this command line puts the current folder before the standard library
            (me / name).unlink()
    done = grade("clip", "--json", "../r.json", cwd=me, command=command)
    assert "code beside the submission was run" not in done.stdout + done.stderr
    assert done.returncode == CHECKS_FAILED
    assert document(tmp_path / "r.json") == undisturbed


@pytest.mark.parametrize(
    "variables",
    [
        {"PYTEST_ADDOPTS": "--collect-only -k nothing"},
        {"PYTEST_PLUGINS": "plugin_of_somebody"},
        {"PYTHONPATH": "beside"},
        {"PYTHONWARNINGS": "error", "PYTHONOPTIMIZE": "1", "CI": "true", "HYPOTHESIS_PROFILE": "ci"},
    ],
    ids=lambda variables: next(iter(variables)),
)
def test_environment_variables_change_nothing(
    tmp_path: Path, variables: dict[str, str], undisturbed: dict[str, Any]
) -> None:
    wrong(tmp_path / "me", "clip", "importance_ratio", SWAPPED)
    write(tmp_path / "beside", dict.fromkeys(BESIDE, HOSTILE))
    done = grade("clip", "--path", "me", "--json", "r.json", cwd=tmp_path, **variables)
    assert "code beside the submission was run" not in done.stdout + done.stderr
    assert done.returncode == CHECKS_FAILED
    assert document(tmp_path / "r.json") == undisturbed


def test_a_module_of_the_submission_gets_the_real_library_and_not_the_file_beside_it(tmp_path: Path) -> None:
    me = model_answers(tmp_path / "me", "kl")
    surroundings(me)
    text = (me / "kl.py").read_text("utf-8")
    write(
        me,
        {"kl.py": text.replace("import torch\n", "import math, random\nimport numpy\nimport torch\nnumpy.ones(2)\n")},
    )
    done = grade("kl", "--path", "me", cwd=tmp_path)
    assert done.returncode == OK, done.stdout


@pytest.mark.parametrize("how", [(), ("--cold",), ("--debug",)])
def test_grading_leaves_nothing_behind(tmp_path: Path, how: tuple[str, ...]) -> None:
    me = wrong(tmp_path / "me", "kl", "kl_estimate", LOSES_ITS_DIGITS)
    if how == ("--cold",):  # a second for each worker: one for each function is enough
        write(me, {"kl.py": (course.STARTER / "kl.py").read_text("utf-8")})
    for folder in ("here", "temporary", "home"):
        (tmp_path / folder).mkdir()
    before = {path.name: path.read_bytes() for path in me.iterdir()}
    homes = {"TMPDIR": str(tmp_path / "temporary"), "HOME": str(tmp_path / "home")}
    done = grade("kl", "--path", me, *QUICK, *how, cwd=tmp_path / "here", **homes)
    assert done.returncode == CHECKS_FAILED
    assert {path.name: path.read_bytes() for path in me.iterdir()} == before
    assert [path.name for folder in ("here", "temporary", "home") for path in (tmp_path / folder).iterdir()] == []


# The same again


def graded_bytes(folder: Path, *arguments: str, command: tuple[str, ...] = COMMAND, **more: str) -> bytes:
    """The result of `folder`/me without the times."""
    done = grade(*arguments, "--path", "me", "--json", "r.json", cwd=folder, command=command, **more)
    assert done.returncode == CHECKS_FAILED, done.stdout + done.stderr
    return re.sub(rb'"seconds": [0-9.e-]+', b'"seconds": 0', (folder / "r.json").read_bytes())


def test_the_same_submission_and_seed_give_the_same_bytes(tmp_path: Path) -> None:
    """A counterexample found by hypothesis and shrunk is in it, and the order of hashes differs between the runs."""
    wrong(tmp_path / "me", "advantages", "group_advantages", LOSES_THE_SIGN)
    first = graded_bytes(tmp_path, "advantages", PYTHONHASHSEED="1")
    assert graded_bytes(tmp_path, "advantages", PYTHONHASHSEED="20261121") == first
    checks = document(tmp_path / "r.json")["exercises"][0]["checks"]
    laws = [check for check in checks if check["outcome"] == "failed" and not check["gate"]]
    assert laws
    # Two rewards are the smallest group that shows the mistake, and no worked example is that small.
    assert min(check["call"].count(".") for check in laws) <= 4


def test_the_inputs_do_not_depend_on_where_the_course_is_installed(tmp_path: Path) -> None:
    """The submission reports a digest of every input that it ever got, so one other input changes the result.

    Hypothesis mixes constants of the code that it takes for the tested project into the inputs; paths tell it which.
    """
    wrong(tmp_path / "me", "kl", "kl_estimate", FINGERPRINT)
    arguments = ("kl", "--examples", "60")
    here = graded_bytes(tmp_path, *arguments)
    assert here.count(b"ValueError: digest") > 2
    elsewhere = tmp_path / "site-packages"
    for name in ("grader", "reference"):
        shutil.copytree(course.ROOT / name, elsewhere / name, ignore=shutil.ignore_patterns("__pycache__"))
    start = f"import sys; sys.path.insert(0, {str(elsewhere)!r}); import grader.cli; sys.exit(grader.cli.main())"
    assert graded_bytes(tmp_path, *arguments, command=(sys.executable, "-P", "-c", start)) == here


def test_another_seed_keeps_the_verdicts(tmp_path: Path) -> None:
    wrong(tmp_path / "me", "advantages", "group_advantages", LOSES_THE_SIGN)
    found = []
    for seed in ("0", "1", "987654321"):
        done = grade("advantages", "--path", "me", "--seed", seed, "--json", "r.json", cwd=tmp_path)
        assert done.returncode == CHECKS_FAILED
        assert document(tmp_path / "r.json")["seed"] == int(seed)
        found.append(outcomes(tmp_path / "r.json"))
    assert found[0] == found[1] == found[2]
    assert "failed" in found[0].values() and "passed" in found[0].values()
