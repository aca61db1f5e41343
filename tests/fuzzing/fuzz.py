"""Fuzzing by hand, for minutes or hours: `make fuzz`, or one target with `make fuzz FUZZ=wire SECONDS=600`.

Atheris guides the inputs by the lines that they reach, beginning with those of `fuzz_inputs` and changing them by its
mutations or blindly. What was found interesting stays in build/fuzz/TARGET/corpus, and the next run goes on from there;
an input that breaks a promise stays in build/fuzz/TARGET/crashes. Linux only, as Atheris is; `test_fuzz` runs anywhere.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "fuzz"
SECONDS, INPUT_SECONDS, MEMORY_MB = 300, 60, 2_000
EXAMPLES = """examples:
  make fuzz                             every target, 5 minutes each
  make fuzz FUZZ=wire SECONDS=600       one target, 10 minutes
  python tests/fuzzing/fuzz.py archive class --seconds 60
  python tests/fuzzing/fuzz.py wire --again build/fuzz/wire/crashes/crash-0123

exit code: 0 no promise was broken, 1 one was, and its input is kept, 2 wrong usage
"""


@dataclass(frozen=True)
class Run:
    """What came of one target.

    Attributes:
        inputs: How many were tried.
        seconds: For how long.
        corpus: Inputs that reach something that the others do not.
        crashes: Inputs that broke a promise, ran too long or took too much memory.
        last_words: The end of the messages.
    """

    inputs: int
    seconds: float
    corpus: int
    crashes: Sequence[Path]
    last_words: str


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz the targets one after the other: 0 no promise was broken, 1 one was, 2 wrong usage."""
    options = _parser().parse_args(arguments)
    sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers")]
    if options.child:
        _fuzz(options.targets[0], options.rest)
    if options.again:
        return _again(options.targets[0], options.again)
    broken = 0
    print(f"{'target':<10} {'inputs':>10} {'seconds':>8} {'corpus':>7} {'crashes':>8}")
    for target in options.targets or _names():
        run = _watched(target, options.seconds)
        broken += bool(run.crashes)
        print(f"{target:<10} {run.inputs:>10,} {run.seconds:>8.0f} {run.corpus:>7} {len(run.crashes):>8}", flush=True)
        for crash in run.crashes:
            print(
                f"  {run.last_words}\n  again: python tests/fuzzing/fuzz.py {target} --again {os.path.relpath(crash)}"
            )
    return 1 if broken else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "fuzz.py", description=__doc__.split("\n")[0], epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"{', '.join(_names())} (default: all)")
    parser.add_argument("--seconds", type=int, default=SECONDS, help=f"for each target (default: {SECONDS})")
    parser.add_argument(
        "--again", type=Path, metavar="FILE", help="try this one input of the target, with its traceback"
    )
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--rest", nargs=argparse.REMAINDER, default=[], help=argparse.SUPPRESS)
    parse = parser.parse_args

    def checked(arguments: Sequence[str] | None = None) -> argparse.Namespace:
        options = parse(arguments)
        unknown = sorted({*options.targets} - {*_names()})
        if unknown:
            parser.error(f"there is no target {', '.join(unknown)}; there are {', '.join(_names())}")
        if options.again and len(options.targets) != 1:
            parser.error("--again needs one target: wire --again FILE")
        if options.seconds < 1:
            parser.error("--seconds must be at least 1")
        if not options.again and sys.platform != "linux":
            parser.error(
                "Atheris runs on Linux only; `pytest tests/fuzzing/test_fuzz.py` tries fewer inputs, and runs anywhere"
            )
        return options

    parser.parse_args = checked  # type: ignore[assignment, method-assign]
    return parser


def _names() -> tuple[str, ...]:
    """The targets' names, without an import of the grader, which the child has to watch."""
    text = Path(__file__).with_name("fuzz_targets.py").read_text("utf-8")
    return tuple(re.findall(r'^    "(\w+)": \w+,$', text[text.index("TARGETS: ") :], re.M))


def _again(target: str, path: Path) -> int:
    import fuzz_targets

    fuzz_targets.TARGETS[target](path.read_bytes())
    print("no promise is broken by this input")
    return 0


def _watched(target: str, seconds: int) -> Run:
    """Fuzz in a process of its own, which ends with whatever it finds, and show how far it is."""
    from rich.console import Console
    from rich.progress import Progress

    folder, corpus, crashes = (WORK / target / name for name in ("", "corpus", "crashes"))
    for each in (corpus, crashes):
        each.mkdir(parents=True, exist_ok=True)
    before = {*crashes.iterdir()}
    limits = [f"-max_total_time={seconds}", f"-timeout={INPUT_SECONDS}", f"-rss_limit_mb={MEMORY_MB}"]
    others = ["-max_len=200000", "-print_final_stats=1", "-report_slow_units=30", f"-artifact_prefix={crashes}{os.sep}"]
    command = [sys.executable, __file__, target, "--child", "--rest", *limits, *others, str(corpus)]
    started = time.monotonic()
    with (folder / "log.txt").open("w+", encoding="utf-8", errors="replace") as log:
        child = subprocess.Popen(command, stdout=log, stderr=log, cwd=ROOT, env=os.environ | {"OMP_NUM_THREADS": "1"})
        try:
            with Progress(transient=True, console=Console(stderr=True)) as progress:
                task = progress.add_task(target, total=seconds)
                while child.poll() is None:
                    time.sleep(0.2)
                    progress.update(task, completed=min(seconds, time.monotonic() - started))
        finally:
            if child.poll() is None:
                child.kill()
        log.seek(0)
        said = log.read()
    passed = time.monotonic() - started
    new = sorted({*crashes.iterdir()} - before)
    if child.returncode and not new:
        raise SystemExit(f"fuzz.py: {target} ended with exit status {child.returncode}:\n{said[-2_000:]}")
    inputs = re.findall(r"number_of_executed_units: (\d+)", said) or re.findall(r"(?m)^#(\d+)", said) or ["0"]
    words = [line for line in said.splitlines() if re.match(r"\S*(Error|Broken|Exception)\b|\S+: |==\d+== ERROR", line)]
    return Run(int(inputs[-1]), passed, len([*corpus.iterdir()]), new, (words or [""])[0][:300])


def _fuzz(target: str, options: Sequence[str]) -> None:
    """The child: never returns."""
    import atheris

    with atheris.instrument_imports(include=["grader", "tarfile", "zipfile"]):
        import fuzz_inputs
        import fuzz_targets
    corpus = Path(options[-1])
    for seed in fuzz_inputs.seeds(target):
        (corpus / hashlib.sha256(seed).hexdigest()[:40]).write_bytes(seed)

    def mutate(data: bytes, longest: int, number: int) -> bytes:
        draw = random.Random(number)
        if draw.random() < 0.3:
            changed: bytes = atheris.Mutate(data, longest)
            return changed
        return fuzz_inputs.mutated(target, data, draw)[:longest]

    atheris.Setup([sys.argv[0], *options], fuzz_targets.TARGETS[target], custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())
