"""How well does `run_llm` teach a real language model, with which seed? `python tests/bench/bench_llm.py --help`.

Each seed is a run of the command as a reader starts it, in a process of its own, one after the other. What came out is
one line of JSON in a file; a seed that has its line is not run again, and a run that was interrupted goes on from its
checkpoint. So ten seeds can be measured in several sittings. The same lines are the rows of the open challenge
(`docs/next.md`).

Time is CPU time of the whole process, all threads: other work on the machine changes it little. Memory is the most that
the process held. The file `costs.jsonl` in the folder of a run has a line per sitting.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / ".ci")]  # for reference/ and site_steps, which are not installed

from reference.given.runs import CHECKPOINT, METRICS
from reference.run_llm import RUN
from site_steps import llm_runs
from site_steps.llm_runs import LLMRun

COSTS = "costs.jsonl"
GOAL, LOWEST, SECONDS, GIGABYTES = 0.85, 0.75, 1800, 5
"""What is asked of ten seeds: the median accuracy, that of nine of them, CPU seconds and memory of each."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the seeds that have no line yet, then say what all of them show. Exit code 130: interrupted."""
    parser = argparse.ArgumentParser(
        prog="bench_llm.py",
        description=__doc__.partition("\n")[0],
        epilog="All other options are those of run_llm.",
        allow_abbrev=False,  # --seed would be --seeds
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="of the lines, such as seeds.jsonl")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(10)), metavar="N", help="which (0 to 9)")
    arguments, options = parser.parse_known_args(argv)
    for seed in arguments.seeds:
        if any(each.seed == seed for each in outcomes(arguments.out, options)):
            continue
        code = run(seed, options, arguments.out)
        if code:
            print(f"seed {seed} ended with exit code {code}; run the same command again to continue", file=sys.stderr)
            return code
    tell(outcomes(arguments.out, options))
    return 0


def outcomes(file: Path, options: Sequence[str]) -> list[LLMRun]:
    """The lines of a file that were made with these options."""
    found = llm_runs.outcomes(file) if file.exists() else []
    return [each for each in found if each.options == " ".join(options)]


def run(seed: int, options: Sequence[str], file: Path) -> int:
    """Run a seed to its end, add its line, and throw its checkpoint away. Returns the exit code of the run."""
    folder = file.with_name(f"{file.stem}-seed-{seed}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    how = "--resume" if (folder / CHECKPOINT).exists() else "--overwrite"
    command = [sys.executable, "-m", "reference.run_llm", "--seed", str(seed), "--out", str(folder.resolve())]
    code, cost = _wait_for([*command, *options, how])
    if (folder / CHECKPOINT).exists():
        with (folder / COSTS).open("w" if how == "--overwrite" else "a", encoding="utf-8") as lines:
            lines.write(f"{json.dumps(cost)}\n")
    if code == 0:
        costs = [json.loads(line) for line in (folder / COSTS).read_text("utf-8").splitlines()]
        line = json.dumps(asdict(outcome(json.loads((folder / RUN).read_text("utf-8")), costs, options)))
        with file.open("a", encoding="utf-8") as lines:
            lines.write(f"{line}\n")
        shutil.move(folder / METRICS, file.with_name(f"{folder.name}.csv"))
        shutil.rmtree(folder)
    return code


def _wait_for(command: Sequence[str]) -> tuple[int, tuple[float, int]]:
    """Run a command with one thread. Returns its exit code, its CPU seconds, and the most bytes that it held."""
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"})
    while True:
        try:
            _, status, usage = os.wait4(process.pid, 0)
            break
        except KeyboardInterrupt:  # the run has got it too, and ends by itself
            pass
    held = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return os.waitstatus_to_exitcode(status), (usage.ru_utime + usage.ru_stime, held)


def outcome(document: dict[str, Any], costs: Sequence[tuple[float, int]], options: Sequence[str]) -> LLMRun:
    """What `run.json` says, and the costs of all sittings."""
    config, points = document["config"], document["points"]
    described = ["git", "describe", "--always", "--dirty"]
    commit = subprocess.run(described, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    return LLMRun(
        options=" ".join(options),
        seed=document["seed"],
        version=commit or "unknown",
        torch=version("torch"),
        before=points[0]["score"],
        accuracy=points[-1]["score"],
        steps=config["steps"],
        completions=config["steps"] * config["prompts_per_step"] * config["group_size"],
        cpu_seconds=round(sum(seconds for seconds, _ in costs)),
        peak_gigabytes=round(max(held for _, held in costs) / 1e9, 2),
        curve=[[point["step"], point["score"]] for point in points],
    )


def tell(found: Sequence[LLMRun]) -> None:
    """One line for each seed, then the four figures that are asked for."""
    print(f"{'seed':>4} {'before':>7} {'after':>7} {'completions':>12} {'CPU s':>6} {'GB':>5}")
    for each in sorted(found, key=lambda outcome: outcome.seed):
        print(
            f"{each.seed:4} {each.before:7.3f} {each.accuracy:7.3f} {each.completions:12,} {each.cpu_seconds:6.0f} "
            f"{each.peak_gigabytes:5.2f}"
        )
    accuracies = [each.accuracy for each in found]
    enough = sum(accuracy >= LOWEST for accuracy in accuracies)
    print(f"median {statistics.median(accuracies):.3f} (asked for: {GOAL}); {enough} of {len(found)} have {LOWEST}")
    print(f"most CPU seconds {max(each.cpu_seconds for each in found):.0f} (asked for: at most {SECONDS})")
    print(f"most memory {max(each.peak_gigabytes for each in found):.2f} GB (asked for: at most {GIGABYTES})")


if __name__ == "__main__":
    sys.exit(main())
