"""What counts as an attempt at a written question: enough signs and words, and not only those of the question.

What an answer says is for a person to judge, so nothing here looks for a right word. Text is compared as a reader sees
it: without invisible characters, and without the difference between large and small, or wide and narrow letters.
Letters of other alphabets that look the same are not recognized.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Mapping

from ..core.text import counted, is_invisible
from .questions import QUESTIONS, Question

MIN_CHARACTERS, MIN_WORDS = 20, 4
_TEXTS = 3 * len(QUESTIONS)  # ids, questions and answers
# A sign that is a syllable or a word says as much as three letters. As unicodedata.name() begins.
_SYLLABLES = ("CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "BOPOMOFO", "HANGUL")
_LETTERS_IN_A_SIGN = 3
# Without spaces between words: each sign counts as one.
_WITHOUT_SPACES = (*_SYLLABLES, "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN")


def is_blank(text: str) -> bool:
    """Whether there is nothing to see."""
    return not _normal(text)


def why_not(question: Question, text: str, others: Mapping[str, str]) -> str:
    """Why an answer is no attempt, as the rest of "the answer ..."; "" if it is one.

    Args:
        question: What it answers.
        text: The answer.
        others: The other answers, by the ids of their questions.
    """
    characters, words = _characters(text), _words(text)
    different = set(words)
    if characters < MIN_CHARACTERS or len(different) < MIN_WORDS:
        return f"has {counted(characters, 'character')} and {counted(len(different), 'different word')}"
    if different <= _asked(question):
        return "has only words of the question"
    for other in QUESTIONS:
        if set(_words(other.text)) <= different <= _asked(other):
            return f"repeats question {other.id}"
    same = next((name for name, written in others.items() if _words(written) == words), None)
    return f"is the same as that to {same}" if same else ""


def _asked(question: Question) -> set[str]:
    """The words of a question as the page shows it, with its number."""
    return {*_words(question.id), *_words(question.text)}


def _characters(text: str) -> int:
    signs = _normal(text)
    return len(signs) + (_LETTERS_IN_A_SIGN - 1) * sum(_is_of(sign, _SYLLABLES) for sign in signs)


@functools.lru_cache(_TEXTS)  # every answer is compared with every other
def _words(text: str) -> tuple[str, ...]:
    """Letters, digits and their marks in a row; a row of marks alone is no word."""
    apart = "".join(map(_apart, _normal(text))).split()
    return tuple(word for word in apart if any(unicodedata.category(sign)[0] in "LN" for sign in word))


def _apart(sign: str) -> str:
    """A sign as a part of its word, as a word, or as a gap between two."""
    if unicodedata.category(sign)[0] not in "LMN":
        return " "
    return f" {sign} " if _is_of(sign, _WITHOUT_SPACES) else sign


def _is_of(sign: str, scripts: tuple[str, ...]) -> bool:
    return not sign.isascii() and unicodedata.name(sign, "").startswith(scripts)


def _normal(text: str) -> str:
    """The text as it is compared, with one space where there are several."""
    shown = "".join(sign for sign in text if sign.isspace() or not is_invisible(sign))
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", shown).casefold())
    return " ".join(folded.split())
