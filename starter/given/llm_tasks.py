"""The tasks of `run_llm`: prompts, and a rule that rewards completions.

Given code. A program computes every reward: reinforcement learning with verifiable rewards.

Left out on purpose: models as judges, and completions that are code to run.
"""

import random
import runpy
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from reprlib import repr as short

import torch
from torch import Tensor

LARGEST_ADDEND = 49
HELD_OUT = 256


class TaskFailed(ValueError):
    """A student's own task does not work; the text says what to change."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """A task to train a model on.

    Attributes:
        name: Name of the task on the command line, or its file.
        prompts: Prompts to train on.
        held_out: Prompts that are used only to measure the accuracy.
        reward: Maps a prompt and its completion to a number; 1 is a right answer.
        max_new_tokens: Length limit of a completion, in tokens.
        measure: Name of the score: the mean reward of the most probable completions of `held_out`.
    """

    name: str
    prompts: Sequence[str]
    held_out: Sequence[str]
    reward: Callable[[str, str], float]
    max_new_tokens: int
    measure: str

    def rewards(self, prompts: Sequence[str], completions: Sequence[str]) -> Tensor:
        """Map B prompts and their B completions to rewards of shape (B,), float32, as `train` expects them.

        Raises:
            TaskFailed: a reward is missing, or is not a finite number in float32.
        """
        return torch.tensor([self._paid(*pair) for pair in zip(prompts, completions, strict=True)])

    def _paid(self, prompt: str, completion: str) -> float:
        call = f"--task {self.name}: reward({short(prompt)}, {short(completion)})"
        try:
            paid = float(self.reward(prompt, completion))
        except Exception as error:  # student code may raise anything
            raise TaskFailed(f"{call} does not work: {_what_and_where(error, Path(self.name))}") from error
        if not torch.tensor(paid).isfinite():
            raise TaskFailed(f"{call} must return a finite number, got {paid}")
        return paid


def first_line(completion: str) -> str:
    """The first line of a completion, without spaces around it."""
    return completion.split("\n")[0].strip()


def sums() -> Task:
    """Two finished sums, then one to complete: `7 + 41 =`. Both addends are from 1 to 49."""
    addends = range(1, LARGEST_ADDEND + 1)
    prompts = [f"4 + 9 = 13\n21 + 7 = 28\n{a} + {b} =" for a in addends for b in addends]
    return _task("sums", prompts, _exactly(_right_sum), "share of right sums", max_new_tokens=4)


def _right_sum(prompt: str) -> str:
    a, b = prompt.rsplit("\n", 1)[1].removesuffix(" =").split(" + ")
    return str(int(a) + int(b))


_STORIES = (
    "{who} has {a} {things} and gets {b} more. How many {things} does {who} have?",
    "{who} has {a} {things} and gives {b} away. How many {things} does {who} have?",
)
_PEOPLE = ("Anna", "Ben", "Carla", "David", "Emma", "Felix")
_THINGS = ("apples", "books", "coins", "pens")


def word_problems() -> Task:
    """A word problem in one line, after two examples; the right number earns the reward."""
    prompts = [
        "Tom has 3 pens and gets 4 more. How many pens does Tom have? 7\n"
        "Lisa has 12 coins and gives 5 away. How many coins does Lisa have? 7\n"
        + story.format(who=who, things=things, a=a, b=b)
        for story in _STORIES
        for who in _PEOPLE
        for things in _THINGS
        for a in range(5, 21, 3)
        for b in range(1, 5)
    ]
    return _task("word-problems", prompts, _exactly(_right_count), "share of right numbers", max_new_tokens=4)


def _right_count(prompt: str) -> str:
    words = prompt.rsplit("\n", 1)[1].split()
    a, b = (int(word) for word in words if word.isdigit())
    return str(a + b if "gets" in words else a - b)


def short_answers() -> Task:
    """A question to answer in a sentence: half the reward for the right number, half for writing only a number."""
    prompts = [f"Question: What is {a} plus {b}?\nAnswer:" for a in range(1, 21) for b in range(1, 21)]

    def reward(prompt: str, completion: str) -> float:
        a, b = (int(word.strip("?")) for word in prompt.split() if word.strip("?").isdigit())
        answer = first_line(completion).rstrip(".")
        return 0.5 * (str(a + b) in answer.split()) + 0.5 * answer.isdigit()

    measure = "mean reward: half for the right number, half for writing only a number"
    return _task("short-answers", prompts, reward, measure, max_new_tokens=16)


TASKS: dict[str, Callable[[], Task]] = {
    "sums": sums,
    "word-problems": word_problems,
    "short-answers": short_answers,
}


def own_task(path: Path, *, max_new_tokens: int) -> Task:
    """The task in a file with `prompts()`, which returns texts, and `reward(prompt, completion)`, a number.

    Raises:
        TaskFailed: the file cannot be read, lacks one of the two functions, or one of them returns something else.
    """
    if not path.is_file():
        raise TaskFailed(f"--task {path}: there is no such Python file")
    try:
        module = runpy.run_path(str(path))
        reward, prompts = module["reward"], [*module["prompts"]()]
    except Exception as error:  # student code may raise anything
        what = _what_and_where(error, path)
        raise TaskFailed(f"--task {path}: prompts() or reward(prompt, completion) does not work: {what}") from error
    if not all(isinstance(prompt, str) and prompt for prompt in prompts) or len({*prompts}) < 2:
        raise TaskFailed(f"--task {path}: prompts() must return at least two different texts, none of them empty")
    # Sorted, because the order of a set differs between processes. No duplicates: a prompt is trained on or held out.
    task = _task(str(path), sorted({*prompts}), reward, "mean reward", max_new_tokens=max_new_tokens)
    task.rewards(task.prompts[:1], [" something\n"])
    return task


def _what_and_where(error: Exception, file: Path) -> str:
    """An error, and the last line of a file in its traceback."""
    lines = [place.lineno for place in traceback.extract_tb(error.__traceback__) if Path(place.filename) == file]
    return f"{type(error).__name__}: {error}" + (f" in line {lines[-1]}" if lines else "")


def _exactly(right: Callable[[str], str]) -> Callable[[str, str], float]:
    """A reward of 1 for the right completion of a prompt, 0 for any other."""
    return lambda prompt, completion: float(first_line(completion) == right(prompt))


def _task(
    name: str, prompts: list[str], reward: Callable[[str, str], float], measure: str, *, max_new_tokens: int
) -> Task:
    """A task whose held-out prompts are the same for every seed."""
    shuffled = random.Random(0).sample(prompts, len(prompts))
    size = min(HELD_OUT, len(prompts) // 4 or 1)
    return Task(
        name=name,
        prompts=shuffled[size:],
        held_out=shuffled[:size],
        reward=reward,
        max_new_tokens=max_new_tokens,
        measure=measure,
    )
