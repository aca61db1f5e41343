"""Does the grader still say what it said? The reports of an older commit and of the working tree, compared.

    python tests/bench/same_reports.py --commit v1.0.0
    python tests/bench/same_reports.py --commit v1.0.0 --whole

Compared are the reports of all answers whose grade is known (`course dev selftest --reports`), and all files that
`course grade-all` writes for a class in mixed packings, in every format. Only timings may differ, the order of the
causes of a failure, white space between tags, and the digest of a wrong answer that is written otherwise. What the
older commit says is kept in build/, and not made again. Each tree is asked by its own commands, so it does not matter
where its modules are; the older commit needs `course dev selftest --reports`.

Left out: what no file says, such as the lines on the terminal; answers that draw numbers without a seed; Windows.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import json
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))

from class_maker import make_class
from course_environment import copy_commit, install, make_environment

ROOT = Path(__file__).resolve().parents[2]
FORMATS = ("github-annotations", "github-summary", "gradescope", "html", "junit")
_NO_SEED = "returns_noise"
_CHANGES_EACH_TIME = (
    re.compile(r'"(?:seconds|execution_time|took|graded_at|started|ended)": "?[-0-9.e:TZ+ ]+"?'),
    re.compile(r'\btime(?:stamp)?="[^"]*"'),
    re.compile(r"\b\d+(?:\.\d+)? (?:s|ms|seconds|min)\b"),
    re.compile(r"::(?:stop-commands::)?[0-9a-f]{32}\b"),  # a random word between which GitHub reads no commands
    re.compile(r'"key": "[0-9a-f]{64}"'),  # of a job: a digest that covers the paths of the course's files
)
_CAUSES = re.compile(r'(?<="may_come_from": \[)[^\]]*(?=\])|(?<=ossible cause: )[^<"\\\n]*')
_BETWEEN_TAGS = re.compile(r">\s*<")
_DIGEST = re.compile(r'"sha256": "[0-9a-f]{64}"')  # a known mistake may become a change that makes the same function
_SHOWN = 10  # differences, with so many lines each
_LINES = 12


@contextlib.contextmanager
def commands_of(commit: str) -> Iterator[Path]:
    """The folder of the commands of an older commit, which is installed beside this one."""
    with tempfile.TemporaryDirectory(prefix="same-reports-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # a worker may become another user
        copy_commit(commit, folder / "course")
        commands = make_environment(folder / "environment")
        install(commands, folder / "course")
        yield commands


def record(commands: Path, submissions: Path, out: Path, *, whole: bool) -> None:
    """Write all that one version says of all answers."""
    shutil.rmtree(out, ignore_errors=True)
    write = [option for name in FORMATS for option in ("--write", name)]
    grading = ["grade-all", str(submissions), "--out", str(out / "class"), "--seed", "17", *write]
    for step in (grading, ["dev", "selftest", "--reports", str(out / "known"), *([] if whole else ["--quick"])]):
        # A command refuses to run inside another course than its own.
        done = subprocess.run([str(commands / "course"), *step], cwd=tempfile.gettempdir(), check=False)
        if done.returncode not in (0, 1):
            raise SystemExit(f"course {step[0]} ended with {done.returncode}")


def differences(before: Path, after: Path) -> list[str]:
    """What is not the same, one text for every file."""
    old_files, new_files = _files(before), _files(after)
    if not old_files:
        raise SystemExit("nothing was recorded")
    found = []
    for name in sorted({*old_files, *new_files}):
        old, new = (_what_stays(files.get(name)) for files in (old_files, new_files))
        if old != new:
            lines = list(difflib.unified_diff(old, new, f"before/{name}", f"after/{name}", n=0, lineterm=""))
            found.append("\n".join(line[:300] for line in lines[:_LINES]))
    return found


def _files(root: Path) -> dict[str, Path]:
    """What is compared, by name; a result of the class by the name of the student instead of its job's key.

    Not the journal, whose order is the order in which gradings end.
    """
    listed = json.loads((root / "class" / "submissions.json").read_text("utf-8"))["submissions"]
    students = {each["key"]: each["name"] for each in reversed(listed) if each.get("key")}
    found = {}
    for path in root.rglob("*"):
        if path.is_file() and path.name != "journal.jsonl" and _NO_SEED not in path.name:
            name = path.relative_to(root).as_posix()
            found[name.replace(path.stem, students.get(path.stem, path.stem))] = path
    return found


def _what_stays(path: Path | None) -> list[str]:
    if path is None:
        return []
    text = path.read_text("utf-8")
    for pattern in _CHANGES_EACH_TIME:
        text = pattern.sub("CHANGES", text)
    text = _CAUSES.sub(_in_order, text)
    if path.suffix == ".html":
        text = _BETWEEN_TAGS.sub(">\n<", text)
    if {"misconceptions", "known-mistakes"} & {*path.parts}:
        text = _DIGEST.sub('"sha256": "OF AN ANSWER"', text)
    return text.splitlines() or [""]


def _in_order(causes: re.Match[str]) -> str:
    """The causes of a failure, which are lines of JSON or parts of a sentence, in one order."""
    return "; ".join(sorted(re.split(r",?\s*\n\s*|; ", causes[0].strip())))


def main() -> int:
    """0: the reports are the same; 1: they are not."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--commit", required=True, help="the older one")
    parser.add_argument("--students", type=int, default=30, help="in the class (default: 30)")
    parser.add_argument("--whole", action="store_true", help="all inputs, and a worker for every check: 20 minutes")
    arguments = parser.parse_args()
    command = ["git", "rev-parse", "--short", arguments.commit]
    commit = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    build = ROOT / "build" / "same-reports"
    name = f"{commit}-{arguments.students}{'-whole' if arguments.whole else ''}"
    before, after = build / name, build / "now"
    build.mkdir(parents=True, exist_ok=True)
    submissions = build / f"{name}-class"
    if not (before / "complete").exists():
        shutil.rmtree(submissions, ignore_errors=True)
        make_class(submissions, students=arguments.students, seed=17)
        with commands_of(commit) as commands:
            record(commands, submissions, before, whole=arguments.whole)
        (before / "complete").touch()
    record(Path(sysconfig.get_path("scripts")), submissions, after, whole=arguments.whole)
    (after / "complete").touch()
    found = differences(before, after)
    print("\n\n".join(found[:_SHOWN]))
    print(f"{len(_files(after))} files, {len(found)} of them not the same as at {commit}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
