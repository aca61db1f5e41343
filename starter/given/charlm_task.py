"""Given code of the language model exercise: tokens, corpus, prompts and rewards.

The corpus mixes two kinds of sentences in equal parts:

- "ravin likes pizza." There are eight people and eight foods. Each person ranks the foods, and likes the first with
  probability 0.22, the second with 0.18, and so on (`RANKS`). Ravin ranks pizza fifth: 0.11.
- "3+4=7." Both numbers are from 0 to 9. Many sums are wrong: sums up to 4 are right with probability 0.95, sums from 5
  to 9 with 0.30, larger ones with 0.10. A wrong result is off by one or two.

So one pretrained model serves both tasks. For this model some additions are easy, some are within reach and some are
hard. Every probability is known before training.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

ALPHABET = ". abcdefghijklmnopqrstuvwxyz0123456789+="
"""All characters of the corpus, one token each. The first one ends every sentence."""

EOS_ID = 0
"""The token that ends a sentence. It also pads rows after their end, because there is no separate padding token."""

NAMES = ("ravin", "anna", "ben", "chloe", "dario", "emma", "felix", "grace")
FOODS = ("apples", "ice cream", "lettuce", "cookies", "pizza", "donuts", "soda", "salad")
RANKS = (0.22, 0.18, 0.15, 0.12, 0.11, 0.09, 0.08, 0.05)

PIZZA_PROMPT = "ravin likes "
ADDITION_PROMPTS = tuple(f"{a}+{b}=" for a in range(10) for b in range(10))


RewardFunction = Callable[[Sequence[str], Sequence[str]], Tensor]
"""Maps B prompts and their B completions to rewards of shape (B,)."""


class CharTokenizer:
    """One token per character.

    Args:
        alphabet: The characters, in the order of their tokens; the first one ends a sentence.
    """

    def __init__(self, alphabet: str = ALPHABET) -> None:
        self.alphabet = alphabet
        self._ids = {character: number for number, character in enumerate(alphabet)}

    def encode(self, text: str) -> list[int]:
        """Tokens of a text.

        Raises:
            ValueError: the text contains a character that is not in the alphabet.
        """
        unknown = sorted(set(text) - self._ids.keys())
        if unknown:
            raise ValueError(f"these characters are not in the alphabet {self.alphabet!r}: {unknown}")
        return [self._ids[character] for character in text]

    def decode(self, tokens: Sequence[int]) -> str:
        """Text of some tokens."""
        return "".join(self.alphabet[token] for token in tokens)


def food_probabilities(name: str) -> dict[str, float]:
    """How often the corpus says that a person likes each food. Each person has the same ranking, rotated."""
    turn = NAMES.index(name)
    return {food: RANKS[(place + turn) % len(RANKS)] for place, food in enumerate(FOODS)}


def is_well_formed(completion: str) -> bool:
    """Whether a completion could be from the corpus: a food or a number up to 18, then the end of the sentence."""
    body, end = completion[:-1], completion[-1:]
    return end == "." and (body in FOODS or body in map(str, range(19)))


@dataclass(frozen=True)
class TextReward:
    """A reward for exactly one completion.

    The whole completion must match. If the reward only required an *ending* in "pizza.", it would also reward
    "pizzpizza.", and sooner or later the policy would find that.

    Attributes:
        completion: The text that earns the reward, with its end.
        reward: The reward of this text; any other text gets 0.
    """

    completion: str
    reward: float

    def __call__(self, prompts: Sequence[str], completions: Sequence[str]) -> Tensor:
        """Map B completions to rewards of shape (B,), float32; the prompts have no effect."""
        return torch.tensor([self.reward if text == self.completion else 0.0 for text in completions])


pizza_reward = TextReward("pizza.", 4.0)


def right_sum(prompt: str) -> str:
    """The right completion of a prompt: "7." for "3+4="."""
    return f"{sum(map(int, prompt[:-1].split('+')))}."


def addition_reward(prompts: Sequence[str], completions: Sequence[str]) -> Tensor:
    """1 for the right sum, 0 for any other completion. A program can verify it.

    Args:
        prompts: B texts like "3+4=".
        completions: B texts; "7." is right.

    Returns:
        Shape (B,), float32.
    """
    pairs = zip(prompts, completions, strict=True)
    return torch.tensor([float(completion == right_sum(prompt)) for prompt, completion in pairs])


@dataclass
class LetterReward:
    """A reward for experiments: how often a letter occurs in the completion.

    Attributes:
        letter: The letter to look for.
        worth: Reward per occurrence; negative for a letter to avoid.
        seen: The prompts and completions of every call so far.
    """

    letter: str
    worth: float = 1.0
    seen: list[tuple[list[str], list[str]]] = field(default_factory=list)

    def __call__(self, prompts: Sequence[str], completions: Sequence[str]) -> Tensor:
        """Map B prompts and completions to rewards of shape (B,), in float64 so that every digit can be checked."""
        self.seen.append((list(prompts), list(completions)))
        counts = [completion.count(self.letter) for completion in completions]
        return self.worth * torch.tensor(counts, dtype=torch.float64)
