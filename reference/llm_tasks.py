"""What `run_llm` teaches a pretrained language model: prompts, and a rule that pays for completions.

Given code. Every reward is a program's verdict (reinforcement learning with verifiable rewards), so nobody is asked and
nothing is learned that could be fooled.

Left out on purpose: judges that are models themselves, and code that has to be run.
"""

import importlib.util
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

LARGEST_ADDEND = 49
HELD_OUT = 256


@dataclass(frozen=True, kw_only=True)
class Task:
    """What the model is trained for.

    Attributes:
        name: What the task is called on the command line, or the file that it comes from.
        prompts: To train on.
        held_out: Prompts that are never trained on; the accuracy is measured on them.
        reward: Maps a prompt and its completion to a number; 1 is a right answer.
        max_new_tokens: Tokens of a completion at most.
        measure: What the mean reward of the most probable completions of `held_out` is.
    """

    name: str
    prompts: Sequence[str]
    held_out: Sequence[str]
    reward: Callable[[str, str], float]
    max_new_tokens: int
    measure: str

    def rewards(self, prompts: Sequence[str], completions: Sequence[str]) -> Tensor:
        """Map B prompts and their B completions to rewards of shape (B,), float32, as `train` asks for them.

        Raises:
            ValueError: a reward is not a finite number.
        """
        found = [float(self.reward(*pair)) for pair in zip(prompts, completions, strict=True)]
        if not all(map(math.isfinite, found)):
            raise ValueError(f"every reward must be a finite number, got {found}")
        return torch.tensor(found)


def first_line(completion: str) -> str:
    """The text of a completion up to the end of its line, without spaces around it."""
    return completion.split("\n")[0].strip()


def sums() -> Task:
    """Two sums that are right, then one to finish: `7 + 41 =`. Both addends are from 1 to 49."""
    addends = range(1, LARGEST_ADDEND + 1)
    prompts = [f"4 + 9 = 13\n21 + 7 = 28\n{a} + {b} =" for a in addends for b in addends]
    return _rule_checked("sums", prompts, _right_sum, "share of right sums", max_new_tokens=4)


def _right_sum(prompt: str) -> str:
    a, b = prompt.rsplit("\n", 1)[1].removesuffix(" =").split(" + ")
    return str(int(a) + int(b))


_STORIES = (
    ("{who} has {a} {things} and gets {b} more. How many {things} does {who} have?", 1),
    ("{who} has {a} {things} and gives {b} away. How many {things} does {who} have?", -1),
)
_PEOPLE = ("Anna", "Ben", "Carla", "David", "Emma", "Felix")
_THINGS = ("apples", "books", "coins", "pens")


def word_problems() -> Task:
    """A word problem in one line, with two examples before it; the right number is paid for."""
    prompts = [
        "Tom has 3 pens and gets 4 more. How many pens does Tom have? 7\n"
        "Lisa has 12 coins and gives 5 away. How many coins does Lisa have? 7\n"
        + story.format(who=who, things=things, a=a, b=b)
        for story, _ in _STORIES
        for who in _PEOPLE
        for things in _THINGS
        for a in range(5, 21, 3)
        for b in range(1, 5)
    ]
    return _rule_checked("word-problems", prompts, _right_count, "share of right numbers", max_new_tokens=4)


def _right_count(prompt: str) -> str:
    words = prompt.rsplit("\n", 1)[1].split()
    a, b = (int(word) for word in words if word.isdigit())
    return str(a + b if "gets" in words else a - b)


def short_answers() -> Task:
    """A question whose answer may be a sentence: half is paid for the right number, half for nothing but a number."""
    prompts = [f"Question: What is {a} plus {b}?\nAnswer:" for a in range(1, 21) for b in range(1, 21)]

    def reward(prompt: str, completion: str) -> float:
        a, b = (int(word.strip("?")) for word in prompt.split() if word.strip("?").isdigit())
        answer = first_line(completion).rstrip(".")
        return 0.5 * (str(a + b) in answer.split()) + 0.5 * answer.isdigit()

    train, held_out = _split(prompts)
    return Task(
        name="short-answers",
        prompts=train,
        held_out=held_out,
        reward=reward,
        max_new_tokens=16,
        measure="mean reward: half for the right number, half for nothing but a number",
    )


TASKS: dict[str, Callable[[], Task]] = {
    "sums": sums,
    "word-problems": word_problems,
    "short-answers": short_answers,
}


def own_task(path: Path, *, max_new_tokens: int) -> Task:
    """The task in a file with `prompts()`, which returns texts, and `reward(prompt, completion)`, a number.

    Raises:
        ValueError: the file cannot be read, lacks one of the two functions, or they return something else; the text
            says what to change.
    """
    spec = importlib.util.spec_from_file_location("own_task", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ValueError(f"--task {path}: there is no such Python file")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        prompts = [*module.prompts()]
        paid = float(module.reward(prompts[0], " something\n"))
    except Exception as error:  # somebody else's code may raise anything
        raise ValueError(f"--task {path}: prompts() or reward(prompt, completion) does not work: {error!r}") from error
    if len(prompts) < 2 or not all(isinstance(prompt, str) and prompt for prompt in prompts):
        raise ValueError(f"--task {path}: prompts() must return at least two texts, none of them empty")
    if not math.isfinite(paid):
        raise ValueError(f"--task {path}: reward(prompt, completion) must return a finite number, got {paid}")
    train, held_out = _split(prompts)
    return Task(
        name=str(path),
        prompts=train,
        held_out=held_out,
        reward=module.reward,
        max_new_tokens=max_new_tokens,
        measure="mean reward",
    )


def _rule_checked(
    name: str, prompts: list[str], right: Callable[[str], str], measure: str, *, max_new_tokens: int
) -> Task:
    train, held_out = _split(prompts)
    return Task(
        name=name,
        prompts=train,
        held_out=held_out,
        reward=lambda prompt, completion: float(first_line(completion) == right(prompt)),
        max_new_tokens=max_new_tokens,
        measure=measure,
    )


def _split(prompts: list[str]) -> tuple[list[str], list[str]]:
    """Prompts to train on and those to measure with: always the same ones, whatever the seed of the run."""
    shuffled = random.Random(0).sample(prompts, len(prompts))
    size = min(HELD_OUT, len(prompts) // 4 or 1)
    return shuffled[size:], shuffled[:size]
