"""How fast and how reliably does the language model of the course learn? `python tests/bench/bench_charlm.py --help`.

Three questions, three commands: `side-by-side` compares the model answers with the naive loop that the course started
from and with TRL, where TRL is installed; `scale` takes larger models, and a GPU where there is one; `reliability`
trains with many seeds. Probabilities are exact, by teacher forcing; the time that it takes to compute them is not
counted. Other work on the machine moves every time, so side by side the three take turns; trust ratios before times.

Left out on purpose: grading, which `bench.py` measures.
"""

import argparse
import copy
import csv
import math
import multiprocessing
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import torch
from rich.progress import track
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # for reference/: the model answers are not installed

from reference.charlm import train
from reference.charlm_model import SIZES, TinyLM, load_model, save_weights
from reference.charlm_sampling import completion_logp, make_generator
from reference.charlm_task import FOODS, PIZZA_PROMPT
from reference.charlm_training import CharLMConfig, TrainingState, make_optimizer, sample_completions
from reference.pretrain_charlm import pretrain
from reference.run_charlm import TASKS, Task

GOAL = 0.9
"""The success that all times to the goal are measured to."""

WELL_FORMED = [f"{body}." for body in (*FOODS, *range(19))]
"""All well-formed completions that there are."""


EVERY = {"pizza": 1, "arithmetic": 10}
"""Steps between two measurements of a task's success."""

pizza_probability = TASKS["pizza"].exact


class Enough(Exception):
    """The run has told what was asked."""


class Record:
    """What happens in a run: seconds of each step, and success after every few of them.

    Args:
        success: Exact probability of a completion that is paid for.
        every: Steps between two measurements.
        limit: Seconds after which the run is stopped.
        stop_at_goal: Stop also when the goal is reached.
    """

    def __init__(
        self,
        success: Callable[[nn.Module], float],
        *,
        every: int = 1,
        limit: float = math.inf,
        stop_at_goal: bool = False,
    ) -> None:
        self.seconds: list[float] = []
        self.curve: list[float] = []
        self._success, self._every, self._limit, self._stop_at_goal = success, every, limit, stop_at_goal
        self.start()

    def start(self) -> None:
        """The clock of a step starts now."""
        self._started = time.perf_counter()

    def after_step(self, policy: nn.Module) -> None:
        """Stop the clock, measure, and start the clock of the next step."""
        self.seconds.append(time.perf_counter() - self._started)
        if len(self.seconds) % self._every == 0:
            self.curve.append(self._success(policy))
        if sum(self.seconds) > self._limit or (self._stop_at_goal and self.steps_to_goal() is not None):
            raise Enough
        self.start()

    def steps_to_goal(self) -> int | None:
        """Steps until the goal was measured for the first time; None: never."""
        return next((number * self._every for number, success in enumerate(self.curve, 1) if success >= GOAL), None)

    def seconds_to_goal(self) -> float | None:
        steps = self.steps_to_goal()
        return None if steps is None else sum(self.seconds[:steps])


def train_and_record(
    policy: nn.Module, ref_policy: nn.Module, task: Task, seed: int, record: Record
) -> list[dict[str, float]]:
    """Train with the model answers; returns the rows of metrics."""
    state = TrainingState(make_optimizer(policy, task.config), task.config)
    state.after_step = lambda: record.after_step(policy)
    record.start()
    with suppress(Enough):
        train(policy, ref_policy, task.prompt, task.reward, task.config, generator=make_generator(seed), state=state)
    return state.history


# --- side by side ---


def run_ours(seed: int) -> Record:
    policy, record = load_model(), Record(pizza_probability)
    train_and_record(policy, load_model(), TASKS["pizza"], seed, record)
    return record


def run_naive(seed: int) -> Record:
    from charlm_naive import naive_train

    policy, record = load_model(), Record(pizza_probability)
    record.start()
    naive_train(policy, load_model(), seed=seed, after_episode=lambda: record.after_step(policy))
    return record


def run_trl(seed: int, equal_rows_once: bool = False) -> Record:
    from charlm_trl import trl_train

    record = Record(pizza_probability)
    trl_train(
        load_model(),
        CharLMConfig(),
        seed=seed,
        equal_rows_once=equal_rows_once,
        before=record.start,
        after_step=record.after_step,
    )
    return record


def side_by_side(arguments: argparse.Namespace) -> None:
    """The three, taking turns."""
    torch.set_num_threads(1)
    config = CharLMConfig()
    ours_rows = config.prompts_per_step * config.group_size
    print(f"P('pizza.' | {PIZZA_PROMPT!r}), exact; one thread, torch {torch.__version__}, same weights, same reward")
    works: dict[str, tuple[Callable[[int], Record], int, int]] = {
        "model answers": (run_ours, ours_rows, arguments.seeds),
        "naive loop": (run_naive, 4, arguments.slow_seeds),
    }
    if find_spec("trl"):
        from charlm_trl import VERSIONS

        print(VERSIONS)
        works["TRL"] = (run_trl, ours_rows, arguments.slow_seeds)
        # What the given model spares on a CPU is no merit of the loop, so here TRL has it as well.
        works["TRL, equal rows once"] = (lambda seed: run_trl(seed, True), ours_rows, arguments.slow_seeds)
    else:
        print("TRL is not installed here; `pip install trl` in this environment adds it to the table")
    run_ours(0)  # not counted: the first call of everything is slow
    records: dict[str, list[Record]] = {name: [] for name in works}
    rounds = max(1, arguments.slow_seeds)
    for turn in range(rounds):
        for name, (work, _, seeds) in works.items():
            records[name] += [work(seed) for seed in range(turn, seeds, rounds)]
    _print_side_by_side({name: (records[name], rows) for name, (_, rows, _) in works.items() if records[name]})


def _print_side_by_side(results: dict[str, tuple[list[Record], int]]) -> None:
    print(
        f"{'':20} {'seeds':>5} {'ms per 32':>10} {'completions':>12} {'steps to 0.9':>18} {'seconds to 0.9':>18} "
        f"{'P at the end':>18} {'seconds':>8}\n"
        f"{'':20} {'':>5} {'compl.':>10} {'per second':>12} {'median / worst':>18} {'median / worst':>18} "
        f"{'mean / lowest':>18} {'per run':>8}"
    )
    pace, wait = {}, {}
    for name, (records, rows) in results.items():
        pace[name] = statistics.median(each for record in records for each in record.seconds) / rows
        seconds = [record.seconds_to_goal() for record in records]
        # A run that never gets there counts with all of its time: it would have taken longer.
        wait[name] = statistics.median(
            sum(record.seconds) if found is None else found for record, found in zip(records, seconds, strict=True)
        )
        ends = [record.curve[-1] for record in records]
        print(
            f"{name:20} {len(records):5} {pace[name] * 32e3:10.1f} {1 / pace[name]:12,.0f} "
            f"{median_and_worst([record.steps_to_goal() for record in records], 'd'):>18} "
            f"{median_and_worst(seconds, '.3f'):>18} {f'{statistics.mean(ends):.4f} / {min(ends):.4f}':>18} "
            f"{statistics.median(sum(record.seconds) for record in records):8.2f}"
        )
    first, *others = results
    for name in others:
        reached = all(record.steps_to_goal() is not None for record in results[name][0])
        print(
            f"{first} against {name}: {pace[name] / pace[first]:.1f} times as fast per completion, "
            f"{'' if reached else 'at least '}{wait[name] / wait[first]:.1f} times as fast to P >= {GOAL}"
        )
    print("goals: 10 times as fast as the naive loop, both ways; 4 times as fast as TRL per completion")


def median_and_worst(values: Sequence[float | None], form: str) -> str:
    """Of the runs; one that never got there comes last."""
    ranked = sorted(math.inf if value is None else value for value in values)
    texts = [
        "never" if value == math.inf else f"{value:{form}}" for value in (statistics.median_low(ranked), ranked[-1])
    ]
    return " / ".join(texts) + (f" ({values.count(None)})" if None in values else "")


# --- scale ---


def scale(arguments: argparse.Namespace) -> None:
    """All sizes, on the CPU and on a GPU where there is one."""
    torch.set_num_threads(arguments.threads)
    devices = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name() if len(devices) > 1 else 'no GPU'}")
    print(
        f"{'size':8} {'parameters':>11} {'device':>6} {'threads':>7} {'rollouts':>9} {'sampled':>10} {'trained':>10} "
        f"{'seconds to':>14}\n"
        f"{'':8} {'':>11} {'':>6} {'':>7} {'per step':>9} {'per second':>10} {'per second':>10} {f'P >= {GOAL}':>14}"
    )
    for size in arguments.sizes:
        model, pretrained = _model(size, devices[-1], arguments.pretrain, arguments.cache)
        for device in devices:
            model.to(device)
            for rollouts in arguments.rollouts or ([32, 1024] if device == "cuda" else [32]):
                _scale_one(size, model, pretrained, rollouts, arguments.limit)


def _model(size: str, device: str, steps: int | None, cache: Path | None) -> tuple[TinyLM, bool]:
    """A model of that size, and whether it is pretrained; without a GPU, that takes too long to do unasked."""
    if size == "tiny":
        return load_model(device=device), True
    config = SIZES[size]
    if steps is None and device == "cpu":
        with torch.random.fork_rng():
            torch.manual_seed(0)
            return TinyLM(config), False
    steps = steps or 1500
    path = None if cache is None else cache / f"charlm-{size}-{steps}.safetensors"
    if path is not None and path.is_file():
        return load_model(path, device=device), True
    started = time.perf_counter()
    model = pretrain(config, steps=steps, batch=192, lr=0.2 / config.width, seed=0, device=device, progress=True)
    print(f"{size}: pretrained on {device} for {steps} steps in {time.perf_counter() - started:.0f} s", file=sys.stderr)
    if path is not None:
        save_weights(model, path, made_by=f"bench_charlm scale --pretrain {steps}")
    return model, True


def _scale_one(size: str, model: TinyLM, pretrained: bool, rollouts: int, limit: float) -> None:
    """One row of the table. The model is the reference policy, and its copies are trained."""
    default = CharLMConfig()
    # Wider layers want smaller steps, as in `pretrain_charlm`.
    lr = default.lr * SIZES["tiny"].width / model.config.width
    config = replace(default, prompts_per_step=max(1, rollouts // default.group_size), lr=lr)
    task = replace(TASKS["pizza"], config=config)
    rows = config.prompts_per_step * config.group_size
    sampling = _seconds_of_sampling(model, config, limit)
    timed = Record(lambda policy: 0.0, limit=limit)
    train_and_record(copy.deepcopy(model), model, task, 0, timed)
    training = statistics.median(timed.seconds[1:] or timed.seconds)
    to_goal = "not pretrained"
    if pretrained:
        record = Record(pizza_probability, limit=10 * limit, stop_at_goal=True)
        train_and_record(copy.deepcopy(model), model, task, 0, record)
        seconds = record.seconds_to_goal()
        to_goal = f"not in {sum(record.seconds):.0f}" if seconds is None else f"{seconds:.2f}"
    device = next(model.parameters()).device.type
    threads = str(torch.get_num_threads()) if device == "cpu" else ""
    print(
        f"{size:8} {sum(each.numel() for each in model.parameters()):11,} {device:>6} {threads:>7} {rows:9,} "
        f"{rows / sampling:10,.0f} {rows / training:10,.0f} {to_goal:>14}",
        flush=True,
    )


def _seconds_of_sampling(model: TinyLM, config: CharLMConfig, limit: float) -> float:
    """Median of up to 20 batches, the first one left out where there is another."""
    generator = make_generator(0)
    seconds: list[float] = []
    while len(seconds) < 21 and (len(seconds) < 1 or sum(seconds) < limit):
        started = time.perf_counter()
        sample_completions(model, PIZZA_PROMPT, config, generator)  # ends with texts, so a GPU has been waited for
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds[1:] or seconds)


# --- reliability ---


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One run.

    Attributes:
        curve: Success before the first step, and then every few steps.
        end: Success after the last one.
        steps_to_goal: None: never.
        well_formed: Exact probability of a well-formed completion at the end, mean over the prompts.
        kl: In the last step, as the run's own metrics say it.
        seconds: CPU time of the run and its measurements.
    """

    curve: list[float]
    end: float
    steps_to_goal: int | None
    well_formed: float
    kl: float
    seconds: float


def train_once(name: str, lr: float, steps: int, seed: int) -> Outcome:
    """Train from the shipped weights with one seed."""
    torch.set_num_threads(1)
    task = TASKS[name]
    task = replace(task, config=replace(task.config, lr=lr, steps=steps))
    policy, record = load_model(), Record(task.exact, every=EVERY[name])
    start = task.exact(policy)
    started = time.process_time()
    history = train_and_record(policy, load_model(), task, seed, record)
    return Outcome(
        curve=[start, *record.curve],
        end=task.exact(policy),
        steps_to_goal=record.steps_to_goal(),
        well_formed=well_formed_probability(policy, task.prompts),
        kl=history[-1]["kl"],
        seconds=time.process_time() - started,
    )


def well_formed_probability(policy: nn.Module, prompts: Sequence[str]) -> float:
    """Exact probability of a well-formed completion, mean over the prompts."""
    return statistics.mean(completion_logp(policy, prompt, WELL_FORMED).exp().sum().item() for prompt in prompts)


def reliability(arguments: argparse.Namespace) -> None:
    """The same training with many seeds."""
    task = TASKS[arguments.task]
    lr, steps = arguments.lr or task.config.lr, arguments.steps or task.config.steps
    seeds = arguments.seeds or (1000 if arguments.task == "pizza" else 10)
    # A fresh interpreter for each process: a fork of one that has used torch may hang.
    with ProcessPoolExecutor(arguments.processes, multiprocessing.get_context("spawn")) as pool:
        parts = ([arguments.task] * seeds, [lr] * seeds, [steps] * seeds, range(seeds))
        runs = pool.map(train_once, *parts, chunksize=5)
        outcomes = list(track(runs, description="runs", total=seeds, disable=not sys.stderr.isatty()))
    title = f"{arguments.task}, lr {lr:g}, {steps} steps, seeds 0 to {seeds - 1}"
    print(f"{title}; torch {torch.__version__}, one thread")
    _print_reliability(outcomes)
    if arguments.out:
        stem = f"{arguments.task}-lr{lr:g}-{seeds}-seeds"
        curves = [outcome.curve for outcome in outcomes]
        write_histogram([outcome.end for outcome in outcomes], arguments.out / f"{stem}-histogram.csv")
        write_curve(curves, EVERY[arguments.task], arguments.out / f"{stem}-curve.csv")
        print(f"written to {arguments.out}: {stem}-histogram.csv, {stem}-curve.csv")


def _print_reliability(outcomes: list[Outcome]) -> None:
    ends = [outcome.end for outcome in outcomes]
    well_formed = [outcome.well_formed for outcome in outcomes]
    kl = [outcome.kl for outcome in outcomes]
    print(f"  success before training        {outcomes[0].curve[0]:.4f}")
    print(f"  success after it               mean {statistics.mean(ends):.4f}, lowest {min(ends):.4f}")
    print(f"    seeds below 0.9 / 0.95       {sum(e < 0.9 for e in ends)} / {sum(e < 0.95 for e in ends)}")
    steps = median_and_worst([outcome.steps_to_goal for outcome in outcomes], "d")
    print(f"  steps to {GOAL}, median / worst  {steps}")
    print(f"  well-formed, exact             mean {statistics.mean(well_formed):.4f}, lowest {min(well_formed):.4f}")
    print(f"  KL in the last step, nats      mean {statistics.mean(kl):.4f}, highest {max(kl):.4f}")
    print(f"  CPU seconds per run            median {statistics.median(o.seconds for o in outcomes):.2f}")


def write_histogram(values: Sequence[float], path: Path, bins: int = 200) -> None:
    """Count values from 0 to 1 in bins of equal width; bins below the lowest value are left out."""
    counts = Counter(min(bins - 1, int(value * bins)) for value in values)
    rows = [(f"{place / bins:g}", f"{(place + 1) / bins:g}", counts[place]) for place in range(min(counts), bins)]
    _write_csv(path, ("from", "below", "seeds"), rows)


def write_curve(curves: Sequence[Sequence[float]], every: int, path: Path) -> None:
    """Success over the steps: mean, lowest and highest of all seeds."""
    rows = [
        (place * every, f"{statistics.mean(values):.6f}", f"{min(values):.6f}", f"{max(values):.6f}")
        for place, values in enumerate(zip(*curves, strict=True))
    ]
    _write_csv(path, ("step", "mean", "lowest", "highest"), rows)


def _write_csv(path: Path, names: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([names, *rows])


# --- command line ---


def main(argv: Sequence[str]) -> None:
    """Run one of the three commands; without one, the first."""
    parser = argparse.ArgumentParser(prog="bench_charlm.py", description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    one = commands.add_parser("side-by-side", help="against the naive loop and TRL (default)")
    one.add_argument("--seeds", type=_count, default=50, metavar="N", help="of the model answers (50)")
    one.add_argument("--slow-seeds", type=_count, default=3, metavar="N", help="of the others (3)")
    one.set_defaults(work=side_by_side)

    two = commands.add_parser("scale", help="larger models, and a GPU")
    two.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES), help="which (all)")
    two.add_argument("--rollouts", nargs="+", type=_count, metavar="N", help="per step (32; on a GPU 32 and 1024)")
    two.add_argument("--limit", type=float, default=10.0, metavar="S", help="seconds for each measurement (10)")
    two.add_argument("--threads", type=_count, default=1, metavar="N", help="on the CPU (1)")
    two.add_argument("--pretrain", type=_count, metavar="N", help="steps for other sizes than tiny (1500 with a GPU)")
    two.add_argument("--cache", type=_folder, metavar="FOLDER", help="keep pretrained weights there")
    two.set_defaults(work=scale)

    three = commands.add_parser("reliability", help="many seeds")
    three.add_argument("--task", choices=TASKS, default="pizza", help="what to train for (pizza)")
    three.add_argument("--seeds", type=_count, metavar="N", help="how many (1000; 10 for arithmetic)")
    three.add_argument("--lr", type=float, metavar="X", help="learning rate (that of the task)")
    three.add_argument("--steps", type=_count, metavar="N", help="of a run (those of the task)")
    three.add_argument("--processes", type=_count, default=2, metavar="N", help="at the same time (2)")
    three.add_argument("--out", type=_folder, metavar="FOLDER", help="write histogram and curve there (.csv)")
    three.set_defaults(work=reliability)

    named = argv and (argv[0] in commands.choices or argv[0] in ("-h", "--help"))
    arguments = parser.parse_args(argv if named else ["side-by-side", *argv])
    arguments.work(arguments)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1, got {text}")
    return int(text)


def _folder(text: str) -> Path:
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"must be a folder that exists, got {text}")
    return Path(text)


if __name__ == "__main__":
    main(sys.argv[1:])
