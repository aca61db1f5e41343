"""A hand-in that is data: the text of the file, which a check reads in place of calling a worker.

What a check raises about it is told as it is, in a class with a secret too: the check itself says no more than it may.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..core.secret import PUBLIC


@dataclass(frozen=True)
class HandIn:
    """What was handed in for one exercise, and what it is graded with.

    Attributes:
        file_name: Of the file, for messages.
        text: Of the file.
        secret: Of the class, or `PUBLIC`.
    """

    file_name: str
    text: str
    secret: str = field(default=PUBLIC, repr=False)


class WrongAnswer(Exception):
    """An answer in the hand-in is wrong, or cannot be read. The text is a sentence for the student."""


class NotAnswered(Exception):
    """There is no answer yet. The text says where it belongs."""


class NotCounted(Exception):
    """An answer is not wrong, and earns nothing yet. The text says what it waits for."""
