"""Fuzzing for minutes or hours, on Linux: `make fuzz`, or one target with `make fuzz FUZZ=wire SECONDS=600`.

Atheris guides the inputs by the lines that they reach. It starts with those of `fuzz_inputs` and keeps what it finds in
build/fuzz/TARGET/corpus, so the next run goes on from there. An input that breaks a promise stays in
build/fuzz/TARGET/crashes.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import importlib
import importlib.util
import os
import random
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "fuzz"
_TREE = ast.parse(Path(__file__).with_name("fuzz_targets.py").read_text("utf-8"))
(NAMES,) = (
    [str(ast.literal_eval(key)) for key in node.value.keys if key]
    for node in _TREE.body
    if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "TARGETS" and isinstance(node.value, ast.Dict)
)
"""The targets, read as text: Atheris has to watch the first import of the grader."""
EXAMPLES = """examples:
  make fuzz                             every target, 5 minutes each
  make fuzz FUZZ=wire SECONDS=600       one target, 10 minutes
  python tests/fuzzing/fuzz.py wire --again build/fuzz/wire/crashes/crash-0123

exit code: 0 no promise was broken, 1 one was, 2 wrong usage
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz the targets one after the other."""
    parser = argparse.ArgumentParser(
        "fuzz.py", description="Fuzz what reads files of others.", epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"{', '.join(NAMES)} (default: all)")
    parser.add_argument("--seconds", type=int, default=300, help="per target (default: 300)")
    parser.add_argument("--again", type=Path, metavar="FILE", help="try one input of the target, with its traceback")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if unknown := sorted({*options.targets} - {*NAMES}):
        parser.error(f"there is no target {', '.join(unknown)}; there are {', '.join(NAMES)}")
    if options.again and len(options.targets) != 1:
        parser.error("--again needs one target: wire --again FILE")
    sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers")]
    if options.again:
        importlib.import_module("fuzz_targets").TARGETS[options.targets[0]](options.again.read_bytes())
        print("this input breaks no promise")
        return 0
    if importlib.util.find_spec("atheris") is None:
        parser.error("Atheris is missing; `make fuzz` installs it, on Linux only")
    if options.child:
        _fuzz(options.targets[0], options.seconds)
    broken = 0
    for target in options.targets or NAMES:
        print(f"{target} ...", flush=True)
        command = [sys.executable, __file__, target, "--child", "--seconds", str(options.seconds)]
        log = WORK / target / "log.txt"
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("w", encoding="utf-8") as file:
            done = subprocess.run(
                command, stdout=file, stderr=file, cwd=ROOT, env=os.environ | {"OMP_NUM_THREADS": "1"}
            )
        text = log.read_text("utf-8", "replace")
        inputs = re.findall(r"number_of_executed_units: (\d+)|^#(\d+)", text, re.M)
        print(f"{target}: {max(inputs[-1]) if inputs else 0} inputs", flush=True)
        if done.returncode:
            broken += 1
            print(
                f"{text[-2_000:]}\nagain: python tests/fuzzing/fuzz.py {target} --again {WORK / target / 'crashes'}/..."
            )
    return 1 if broken else 0


def _fuzz(target: str, seconds: int) -> None:
    """The child: never returns."""
    import atheris

    with atheris.instrument_imports(include=["grader", "tarfile", "zipfile"]):
        import fuzz_inputs
        import fuzz_targets
    corpus, crashes = WORK / target / "corpus", WORK / target / "crashes"
    for folder in (corpus, crashes):
        folder.mkdir(parents=True, exist_ok=True)
    for seed in fuzz_inputs.seeds(target):
        (corpus / hashlib.sha256(seed).hexdigest()[:40]).write_bytes(seed)

    def mutate(data: bytes, longest: int, number: int) -> bytes:
        draw = random.Random(number)
        if draw.random() < 0.3:
            changed: bytes = atheris.Mutate(data, longest)
            return changed
        return fuzz_inputs.mutated(target, data, draw)[:longest]

    limits = [f"-max_total_time={seconds}", "-timeout=60", "-rss_limit_mb=2000", "-max_len=200000"]
    limits += ["-print_final_stats=1", f"-artifact_prefix={crashes}{os.sep}", str(corpus)]
    atheris.Setup([sys.argv[0], *limits], fuzz_targets.TARGETS[target], custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())
