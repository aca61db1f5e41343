"""The tiers: what each runs, what a missing program gets, that all time is counted, and that nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import yaml
from command import environment

from grader.core import course

TIERS = course.ROOT / "tests" / "tiers.py"
IMPORT = f"import sys; sys.path.insert(0, {str(TIERS.parent)!r}); import tiers; tiers.adopt_orphans(); "
BUSY = "import time\nwhile time.process_time() < 0.5: pass"


def python(text: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", text],
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_each_tier_runs_at_least_what_the_one_before_runs() -> None:
    done = python(IMPORT + "print([[step.name for step in tiers.steps(tier)] for tier in tiers.BUDGET])")
    check, test, proof = yaml.safe_load(done.stdout)
    assert {*check} <= {*test} < {*proof}
    assert {"ruff check", "mypy", "node tests", "pytest"} <= {*check}


@pytest.mark.skipif(sys.platform == "win32", reason="programs have other names")
def test_a_missing_program_is_named_with_its_package_and_is_no_excuse_in_ci(tmp_path: Path) -> None:
    text = IMPORT + "sys.exit(tiers.main(['check']))"
    done = python(text, PATH=str(tmp_path), CI="true")
    assert done.returncode == 1
    for package in ("nodejs", "chromium", "bubblewrap"):
        assert f"apt install {package}" in done.stderr
    assert "In CI nothing may be left out." in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere orphans are not adopted")
def test_the_time_of_an_orphan_counts() -> None:
    # The step's own process ends at once; what it started in a session of its own is busy for half a second.
    start = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {BUSY!r}], start_new_session=True)"
    text = f"{IMPORT}print(tiers.run(tiers.Step('orphan', (sys.executable, '-c', {start!r}))).cpu)"
    assert float(python(text).stdout.split()[-1]) >= 0.5


def test_what_failed_gets_a_second_try_and_the_table_says_so() -> None:
    text = IMPORT + (
        "fails, passes = ((sys.executable, '-c', f'raise SystemExit({code})') for code in (1, 0))\n"
        "print([tiers.run(tiers.Step('s', fails, again=again)).state for again in ((), fails, passes)])"
    )
    assert python(text).stdout.splitlines()[-1] == "['failed', 'failed', 'passed at the second try']"


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent otherwise")
def test_ctrl_c_leaves_no_process(tmp_path: Path) -> None:
    started = tmp_path / "started"
    deaf = "import os, signal, time; signal.signal(2, signal.SIG_IGN); "
    deaf += f"open({str(started)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {deaf!r}], start_new_session=True)"
    text = IMPORT + f"tiers.steps = lambda tier: [tiers.Step('deaf', (sys.executable, '-c', {parent!r}))]\n"
    process = subprocess.Popen(
        [sys.executable, "-c", text + "tiers.missing_programs = lambda tier: {}; sys.exit(tiers.main(['check']))"],
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    while not (started.exists() and started.read_text()):
        assert process.poll() is None
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(60) == 130
    assert not psutil.pid_exists(int(started.read_text()))
