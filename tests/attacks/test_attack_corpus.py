"""Hostile submissions: what each isolation level promises to stop it stops, and the report says it in a sentence.

The corpus is run by the real command. `make test` runs a share of it, another one every day, in the two ways that
differ most: alone as whoever runs the tests, and as classes are graded, in pairs and without rights. `make proof` makes
every attack in one of the sixteen ways, and all of them at level 0. A failure names the seed; ATTACKS_SEED repeats it.
All attacks in all ways are `make attacks-page`. That the yard notices a harm is tried by doing each harm by hand.
"""

from __future__ import annotations

import ast
import datetime
import functools
import html
import json
import os
import re
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from grader.attacks import ATTACKS, TOPICS, Attack, Harm, journal
from grader.attacks.attack import FUNCTION, submission
from grader.attacks.cells import GRADE, MATRIX, ROOT, WITHOUT_WALLS, Cell, cell_of
from grader.attacks.finding import Finding, problems
from grader.attacks.page import cell, first_cell, page
from grader.attacks.trial import HARMLESS
from grader.attacks.yard import Yard
from grader.commands import course as course_command
from grader.core import course
from grader.core.result import BROKEN, FAILED, PASSED
from grader.grading.run import Grading
from grader.sandbox.sandbox import Sandbox, missing_walls
from grader.workshop import catalogue

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the attacks are written for Linux")

COMMAND = [sys.executable, "-m", "grader.commands.course", "dev", "attacks"]
PAGE = course.ROOT / "docs" / "instructors" / "attacks.md"


# The attacks


BEST = max(level for level in (0, 1, 2) if not missing_walls(level))
SEED = os.environ.get("ATTACKS_SEED") or datetime.datetime.now(datetime.UTC).date().isoformat()
SHARES = 36
"""So many days it takes `make test` to make every attack alone; as a class, where each costs five times that, twice."""
TODAY = datetime.date.today().toordinal()
SHARE, SHARE_OF_A_CLASS = (f"{TODAY % shares + 1}/{shares}" for shares in (SHARES, 2 * SHARES))
SHARED = ("holds leases while a neighbor imports", "holds every kind of lock", "holds objects that outlive it")
"""Made every day: what one submission takes from the one that is graded at the same time is nobody's own to see."""
ALSO = [part for name in SHARED for part in ("--also", name)]
AS_CLASSES = ["--pairs", "--through", "grade-all", "--user", "ordinary", *ALSO, "--share", SHARE_OF_A_CLASS]
LEVEL_0 = ["--level", "0", "--quick"]
RUNS = [
    pytest.param(["--level", str(BEST), "--quick", "--share", SHARE], id="a share"),
    pytest.param(["--level", str(BEST), *AS_CLASSES], id="a share of a class"),
    pytest.param(["--rotate", SEED, "--quick"], id=f"seed {SEED}", marks=pytest.mark.proof),
    pytest.param(LEVEL_0, id="level 0", marks=pytest.mark.proof),
]


@dataclass(frozen=True)
class Run:
    """What the command did: its arguments, its exit code, what it printed, and the document that it wrote."""

    arguments: list[str]
    code: int
    printed: str
    document: dict[str, Any]

    @property
    def findings(self) -> list[Finding]:
        """What the attacks did."""
        listed = [entry for cell in self.document["cells"].values() for entry in cell]
        return [Finding(**{**entry, "harms": tuple(map(Harm, entry["harms"]))}) for entry in listed]


@functools.cache  # pytest would repeat it for a test that asks for one way only
def made(*arguments: str) -> Run:
    """The command with these arguments, once."""
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder, "found.json")
        command = [*COMMAND, *arguments, "--json", str(written)]
        done = subprocess.run(
            command, cwd=course.ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=3600
        )
        assert done.returncode in (0, 1, 3), done.stdout
        return Run([*arguments], done.returncode, done.stdout, json.loads(written.read_text("utf-8")))


@pytest.fixture(scope="module", params=RUNS)
def run(request: pytest.FixtureRequest) -> Run:
    """Each way of `RUNS`."""
    return made(*request.param)


def test_the_command_finds_no_way_that_lets_through_what_it_should_stop(run: Run) -> None:
    assert run.document["problems"] == [], f"{run.document['problems']}; repeat it with ATTACKS_SEED={SEED}"
    assert run.code == (0 if run.document["cells"] or not run.document["missing"] else 3)


def test_every_attack_is_made_in_a_proof_and_a_share_of_them_otherwise(run: Run) -> None:
    names = {finding.name for finding in run.findings}
    if "--rotate" in run.arguments and not run.document["missing"]:
        assert names == {*ATTACKS}
    elif "0" in run.arguments:
        assert names == {attack.name for attack in ATTACKS.values() if not attack.not_at_level_0}
    elif not run.document["missing"]:
        _, shares = run.arguments[run.arguments.index("--share") + 1].split("/")
        assert len(names - {*SHARED}) > len(ATTACKS) / int(shares) / 3
        assert "--also" not in run.arguments or names >= {*SHARED}


def test_an_attack_does_no_harm_that_its_level_should_stop(run: Run) -> None:
    found = {
        finding.name: finding.harms
        for finding in run.findings
        if not {*finding.harms} <= (ATTACKS[finding.name].level_0 if finding.level == 0 else set())
    }
    assert found == {}, f"repeat it with ATTACKS_SEED={SEED}"


@pytest.mark.proof
@pytest.mark.parametrize("run", [LEVEL_0], indirect=True, ids=["level 0"])
def test_where_no_wall_stands_an_attack_does_what_it_tries(run: Run) -> None:
    # Without this a wall might be praised for stopping an attack that never worked.
    for finding in run.findings:
        attack = ATTACKS[finding.name]
        if attack.varies:
            assert {*finding.harms} <= attack.level_0, finding
        elif attack.level_0:
            assert {*finding.harms} == attack.level_0, finding


def test_the_report_of_an_attack_is_one_sentence_for_people(run: Run) -> None:
    for finding in run.findings:
        if not finding.harms and finding.verdict != PASSED:
            _is_a_sentence_for_people(finding)


def _is_a_sentence_for_people(finding: Finding) -> None:
    said = finding.sentence
    assert said.strip() == said != "", finding
    assert "\n" not in said
    assert len(said) < 2_200  # what they say themselves is cut at 2,000
    for ours in ("Errno", "Traceback", "_course_worker", "grader/", "site-packages/", "<class", "StudentDied"):
        assert ours not in said, said
    for ours in ("_course_worker", "serve.py", "Stack (most recent call first)", "Fatal Python error"):
        assert ours not in finding.printed, finding.printed
    if "PermissionError" in said:
        file, network = (
            "a file outside of its own folder, or to make a folder",
            "the network(, another process or the system)?",
        )
        what = f"({file}|{network})"
        assert re.match(f"your code tried to use {what}, which the grader does not allow", said), said


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_a_seed_draws_one_way_that_takes_the_attack(attack: Attack) -> None:
    drawn = {cell_of(attack, str(seed)) for seed in range(60)}
    assert all(cell.takes(attack) for cell in drawn) and len(drawn) > 3
    assert cell_of(attack, "a seed") == cell_of(attack, "a seed")


# What a report says when the system refuses


@pytest.mark.parametrize(
    ("raises", "sentence"),
    [
        (
            "PermissionError(1, 'Operation not permitted')",
            "your code tried to use the network, another process or the system, which the grader does not allow "
            "(PermissionError: Operation not permitted)",
        ),
        (
            "PermissionError(13, 'Permission denied', '/somebody/notes.txt')",
            "your code tried to use a file outside of its own folder, or to make a folder, which the grader does "
            "not allow "
            "(PermissionError: Permission denied: '/somebody/notes.txt')",
        ),
        (
            "open('/no/such/data.txt')",
            "your code looked for a file that is not there while it is graded "
            "(FileNotFoundError: No such file or directory: '/no/such/data.txt')",
        ),
        ("MemoryError()", "your code needs more memory than the grader gives it (MemoryError)"),
        (
            'RuntimeError("can\'t start new thread")',
            "your code started more threads or processes than the grader allows (RuntimeError: can't start new thread)",
        ),
        (
            "OSError(24, 'Too many open files')",
            "your code opened more files than the grader allows (OSError: Too many open files)",
        ),
        ("OSError(27, 'File too large')", "your code wrote more than the grader allows (OSError: File too large)"),
        ("SystemExit(0)", "your code ended the program, but a function must return (SystemExit: 0)"),
        (
            "input()",
            "your code waits for input, but while it is graded nobody types (EOFError: EOF when reading a line)",
        ),
        ("KeyboardInterrupt()", "KeyboardInterrupt"),
        ("ValueError('two\\nlines')", "ValueError: two lines"),
        # Words of their own are no refusal of the system's.
        ("ValueError(\"not permitted: 'x'\")", "ValueError: not permitted: 'x'"),
        # A class may have any name; one that is no identifier is not repeated.
        ("type('passed\\n80 of 80', (Exception,), {})('x')", "Exception: x"),
    ],
)
def test_what_the_system_refuses_is_told_in_the_words_of_the_course(
    sandbox: Sandbox, raises: str, sentence: str
) -> None:
    text = f"def attack(*arguments, **options):\n    raise {raises}\n"
    result = Grading(catalogue.replaced("advantages", FUNCTION, "attack", text), ["advantages"], sandbox.worker).run()
    gate = next(check for check in result.checks if check.gate and check.function == FUNCTION)
    assert (gate.outcome, gate.story) == (BROKEN, sentence)


# The corpus


def test_there_are_many_attacks_and_each_has_its_own_name() -> None:
    listed = [attack for topic in TOPICS for attack in topic.attacks]
    assert len(listed) == len(ATTACKS) >= 260
    assert len({(attack.top, attack.body) for attack in listed if not attack.packing}) == sum(
        not attack.packing for attack in listed
    )


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_an_attack_is_described_and_is_python(attack: Attack) -> None:
    assert re.fullmatch(r"[a-z][\w ,'-]+", attack.name)
    assert re.fullmatch(r"[A-Z].*\w\.", attack.tries) and ". " not in attack.tries
    assert attack.verdict in (BROKEN, FAILED, PASSED)
    text = submission(attack, {"folder": "somewhere"}).files[f"{attack.exercise}.py"]
    names = [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    assert (attack.function in names) == attack.is_honest  # nothing to find in its own module
    assert "BEGIN SOLUTION" not in text.partition("YARD")[2]


def test_what_level_0_does_not_stop_has_a_reason() -> None:
    with pytest.raises(ValueError, match="has a reason"):
        Attack("x", "It.", "pass", level_0=frozenset({Harm.FILE_CHANGED}))
    with pytest.raises(ValueError, match="has a reason"):
        Attack("x", "It.", "pass", reason="because")


@pytest.mark.parametrize(
    ("level", "harms", "verdict", "count"),
    [
        (0, (Harm.FILE_CHANGED,), BROKEN, 0),
        (1, (Harm.FILE_CHANGED,), BROKEN, 1),
        (0, (Harm.FILE_CHANGED, Harm.SECRET_READ), BROKEN, 1),
        (0, (), FAILED, 1),
        (0, (Harm.GRADER_FAILED,), "", 2),
        (2, (), "", 1),
    ],
)
def test_a_finding_is_judged_by_what_its_level_should_stop(
    level: int, harms: tuple[Harm, ...], verdict: str, count: int
) -> None:
    attack = Attack("x", "It.", "pass", level_0=frozenset({Harm.FILE_CHANGED}), reason="because")
    assert len(problems(attack, Finding("x", level, harms, verdict, "", 0.0))) == count


def test_an_allowed_failure_of_the_grader_leaves_no_verdict_to_judge() -> None:
    attack = Attack("x", "It.", "pass", level_0=frozenset({Harm.GRADER_FAILED}), reason="because")
    assert problems(attack, Finding("x", 0, (Harm.GRADER_FAILED,), "", "", 0.0)) == []
    assert problems(attack, Finding("x", 0, (), "", "", 0.0)) != []


# The yard


def _kill(at: dict[str, Any]) -> None:
    os.kill(at["victim_process"], signal.SIGKILL)


def _signal(at: dict[str, Any]) -> None:
    os.kill(at["victim_process"], signal.SIGUSR2)


def _stop(at: dict[str, Any]) -> None:
    os.kill(at["victim_process"], signal.SIGSTOP)


def _limit(at: dict[str, Any]) -> None:
    import resource

    resource.prlimit(at["victim_process"], resource.RLIMIT_CORE, (0, 0))
    resource.prlimit(at["victim_process"], resource.RLIMIT_NOFILE, (64, 64))


def _nice(at: dict[str, Any]) -> None:
    os.setpriority(os.PRIO_PROCESS, at["victim_process"], 5)


def _pin(at: dict[str, Any]) -> None:
    os.sched_setaffinity(at["victim_process"], {min(os.sched_getaffinity(0))})


def _note(at: dict[str, Any]) -> None:
    Path(f"/tmp/{at['mark']}").touch()


def _tcp(at: dict[str, Any]) -> None:
    socket.create_connection(("127.0.0.1", at["tcp"])).close()


def _udp(at: dict[str, Any]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"", ("127.0.0.1", at["udp"]))


def _unix(name: str) -> Callable[[dict[str, Any]], None]:
    def reach(at: dict[str, Any]) -> None:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(at[name])

    return reach


def _shm(at: dict[str, Any]) -> None:
    import ctypes

    assert ctypes.CDLL(None).shmget(at["key"], 4096, 0o1600) >= 0


def _queue(at: dict[str, Any]) -> None:
    import ctypes

    assert ctypes.CDLL(None).mq_open(f"/{at['mark']}".encode(), 0o102, 0o600, None) >= 0


HARMS: dict[str, tuple[Harm, Callable[[dict[str, Any]], object]]] = {
    "kill": (Harm.PROCESS_DISTURBED, _kill),
    "signal": (Harm.PROCESS_DISTURBED, _signal),
    "stop": (Harm.PROCESS_DISTURBED, _stop),
    "limit": (Harm.PROCESS_DISTURBED, _limit),
    "nice": (Harm.PROCESS_DISTURBED, _nice),
    "pin": (Harm.PROCESS_DISTURBED, _pin),
    "results": (Harm.FILE_CHANGED, lambda at: Path(at["results"]).write_text('{"earned": 80}')),
    "append": (Harm.FILE_CHANGED, lambda at: Path(at["victim"]).open("a").write("x")),
    "mode": (Harm.FILE_CHANGED, lambda at: os.chmod(at["victim"], 0o600)),
    "time": (Harm.FILE_CHANGED, lambda at: os.utime(at["victim"], (0, 0))),
    "delete": (Harm.FILE_CHANGED, lambda at: os.unlink(at["victim"])),
    "new file": (Harm.FILE_CHANGED, lambda at: Path(at["folder"], "new").touch()),
    "link": (Harm.FILE_CHANGED, lambda at: os.symlink("/", f"{at['folder']}/link")),
    "public folder": (Harm.FILE_CHANGED, _note),
    "tcp": (Harm.NETWORK_REACHED, _tcp),
    "udp": (Harm.NETWORK_REACHED, _udp),
    "abstract": (Harm.NETWORK_REACHED, _unix("abstract")),
    "local": (Harm.NETWORK_REACHED, _unix("local")),
    "shared memory": (Harm.MEMORY_LEFT, _shm),
    "queue": (Harm.MEMORY_LEFT, _queue),
}


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("name", HARMS)
def test_the_yard_notices_a_harm_that_is_done_by_hand(name: str) -> None:
    harm, do = HARMS[name]
    if name == "pin" and len(os.sched_getaffinity(0)) == 1:
        pytest.skip("there is one core only")
    with Yard("the secret", os.getpid()) as yard:
        assert yard.harms("nothing") == set()
        do(yard.addresses())
        assert harm in yard.harms("nothing")


def test_the_yard_hears_its_secret_and_the_model_answers_wherever_they_are_told() -> None:
    answers = (course.MODEL_ANSWERS / "clip.py").read_text("utf-8")
    with Yard("a-very-secret-text", os.getpid()) as yard:
        assert "a-very-secret-text" not in repr(yard.addresses())
        assert yard.harms("some a-very-secret-text more") == {Harm.SECRET_READ}
        assert yard.harms(json.dumps({"story": answers})) == {Harm.SECRET_READ}
        own = submission(HARMLESS, yard.addresses()).files
        told = json.dumps(own).replace(str(yard.addresses()["found"]), "")  # attacks know it, reports do not tell it
        assert yard.harms(told) == set()
        with socket.create_connection(("127.0.0.1", yard.addresses()["tcp"])) as connection:
            connection.sendall(b"it is a-very-secret-text")
        assert yard.harms("") == {Harm.SECRET_READ, Harm.NETWORK_REACHED}


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_yard_takes_away_what_was_left_in_it() -> None:
    with Yard("the secret", os.getpid()) as yard:
        at = yard.addresses()
        _note(at)
        _shm(at)
        _stop(at)
    assert not Path(f"/tmp/{at['mark']}").exists() and not Path(at["folder"]).exists()
    assert not Path(f"/proc/{at['victim_process']}").exists()
    assert str(at["key"]) not in Path("/proc/sysvipc/shm").read_text()


# The command and its page


def test_a_recording_goes_on_where_it_was_stopped_and_forgets_what_has_changed(tmp_path: Path) -> None:
    first, other = [attack for attack in ATTACKS.values() if not attack.packing][:2]
    cell, path = MATRIX[3], tmp_path / "journal.jsonl"
    for attack, digest in ((first, journal.digest(first)), (other, "of other walls")):
        finding = Finding(attack.name, 1, (Harm.SECRET_READ,), BROKEN, "It.", 0.5)
        journal.add(journal.Line(cell, digest, "2026-11-24", "a machine", finding), path)
    with path.open("a") as file:
        file.write('{"cell": {"le')  # killed while it wrote
    read = journal.read(path)
    assert {cell: [*names] for cell, names in read.items()} == {cell: [first.name]}
    assert read[cell][first.name].finding.harms == (Harm.SECRET_READ,)
    assert journal.read(tmp_path / "none") == {}


def test_the_matrix_is_every_way_and_one_without_walls() -> None:
    assert len({*MATRIX}) == 16 and WITHOUT_WALLS not in MATRIX
    assert all(any(cell.takes(attack) for cell in MATRIX) for attack in ATTACKS.values())


def test_the_command_refuses_what_makes_no_sense(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for arguments in (["--only", "no such attack"], ["--level", "3"], ["--page", str(tmp_path / "p.md"), "--quick"]):
        with pytest.raises(SystemExit) as ended:
            course_command.main(["dev", "attacks", *arguments])
        assert ended.value.code == 2
    assert "no attack has 'no such attack' in its name" in capsys.readouterr().err
    assert not (tmp_path / "p.md").exists()


def test_no_name_that_was_asked_for_is_left_out(tmp_path: Path) -> None:
    names = ["--only", "returns nothing", "--only", "PATCHES NUMPY"]
    # In a process of its own: it takes in orphans, and ends what has come to descend from it.
    command = [*COMMAND, "--level", "0", *names, "--json", str(tmp_path / "a.json")]
    done = subprocess.run(command, cwd=course.ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = json.loads((tmp_path / "a.json").read_text("utf-8"))["cells"].values()
    assert [each["name"] for each in found] == ["returns nothing to compare", "patches numpy"]
    with pytest.raises(SystemExit):
        course_command.main(["dev", "attacks", "--only", "loops for", "--only", "no such attack"])


def _rows_of_page(text: str) -> dict[str, list[str]]:
    rows = (line.removeprefix("| ").removesuffix(" |").split(" | ") for line in text.splitlines() if line[:2] == "| ")
    return {row[0]: row for row in rows if row[0].startswith("**")}


def test_the_page_shows_this_corpus(monkeypatch: pytest.MonkeyPatch) -> None:
    text = PAGE.read_text("utf-8")
    # A change of the walls makes recordings stale, which the page says once it is written anew: in hours, not here.
    monkeypatch.setattr(journal, "digest", lambda _: mock.ANY)
    rows = _rows_of_page(text)
    assert text == page(journal.read()), "run `course dev attacks --page` anew"
    assert [*rows] == [first_cell(attack) for attack in ATTACKS.values()]
    assert [line[3:] for line in text.splitlines() if line.startswith("## ")][1:-1] == [t.title for t in TOPICS]
    for attack in ATTACKS.values():
        _, at_0, at_1, at_2, sentence, seconds = rows[first_cell(attack)]
        shown = {harm for harm in Harm if harm in at_0}
        assert shown <= attack.level_0 if attack.varies else shown in ({*attack.level_0}, set()), attack.name
        assert bool(re.search(r"\([0-9]+\)$", at_0)) == bool(attack.reason or attack.not_at_level_0), attack.name
        for at in (at_1, at_2):
            assert re.fullmatch(r"stopped ([0-9]+) of \1", at), attack.name
        assert sentence and float(seconds) < 60
    for reason in {attack.reason for attack in ATTACKS.values() if attack.reason}:
        assert cell(reason)[1:] in text


def test_journal_and_page_name_no_place_of_the_machine(tmp_path: Path) -> None:
    said = f"'{course.ROOT}/reference/x' '/tmp/yard-a_1b2c3d/secret' '/proc/4321/mem' 'attack-0123456789ab'"
    said += f" {sysconfig.get_path('purelib')}/torch {sys.executable} {os.path.realpath(sys.executable)}"
    said += " /tmp/workers-a_1b2c3d/0123456789abcdef"
    attack = next(iter(ATTACKS.values()))
    finding = Finding(attack.name, 1, (), BROKEN, said, 0.5, said)
    cell_of_it = Cell(1, ROOT, False, GRADE)
    journal.add(journal.Line(cell_of_it, journal.digest(attack), "2026-11-24", "a machine", finding), tmp_path / "j")
    kept = journal.read(tmp_path / "j")[cell_of_it][attack.name].finding
    words = "'/course/reference/x' '/tmp/yard/secret' '/proc/1000/mem' 'attack'"
    assert kept.sentence == kept.printed == f"{words} /packages/torch /python /python /tmp/work"
    recorded = journal.PLACE.read_text("utf-8")
    assert "site-packages" not in recorded and "/bin/python" not in recorded
    text = PAGE.read_text("utf-8")
    assert str(course.ROOT) not in text
    assert {*re.findall(r"/tmp/(\w+)", text)} <= {"yard", "work"}


def test_no_text_of_an_attack_means_something_on_the_page() -> None:
    evil = "<script>alert(1)</script> | [a](b) `c` *d* _e_ ![f](g)\n# h ::error:: \x1b[2J &amp;"
    finding = Finding(HARMLESS.name, 1, (), BROKEN, evil, 0.5)
    name = next(name for name, attack in ATTACKS.items() if not attack.is_honest)
    line = journal.Line(Cell(1, ROOT, False, GRADE), "", "2026-11-24", "a machine", replace(finding, name=name))
    text = page({line.cell: {name: line}})
    (row,) = (row for row in _rows_of_page(text).values() if "stopped 1 of 1" in row)
    assert not re.search(r"[<>|\[\]`*_!#\x1b\n]", re.sub(r"&#[0-9]+;", "", row[4]))
    assert "<script>alert(1)</script> | [a](b)" in html.unescape(row[4])
