"""What a grading process is asked: one submission, and what a whole class is graded with.

A request travels as JSON, between processes and machines. msgspec reads it back and refuses what has another type.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from ..core.contents import NoWorksheet
from ..core.secret import PUBLIC, fingerprint
from ..worksheet.questions import EXERCISE as WORKSHEET


@dataclass(frozen=True)
class ClassSettings:
    """What a whole class is graded with.

    Attributes:
        exercises: Names, in course order.
        worksheet: Whether the worksheet is graded too.
        seed: Of the generated inputs.
        secret: Of the class; see `core/secret.py`.
        examples: Inputs for every invariant; None for the usual number.
        require_level: Isolation level below which nothing is run.
        level: Use this isolation level and not the best one; None: the best one.
    """

    exercises: tuple[str, ...]
    worksheet: bool = False
    seed: int = 0
    secret: str = field(default=PUBLIC, repr=False)
    examples: int | None = None
    require_level: int = 1
    level: int | None = None

    @property
    def graded(self) -> tuple[str, ...]:
        """Names of all that is graded, in course order."""
        return graded_by(vars(self))

    def noted(self) -> dict[str, Any]:
        """By name, to be written beside the results: of the secret only what tells it from another one."""
        return {**vars(self), "secret": fingerprint(self.secret)}

    @classmethod
    def of(cls, noted: Mapping[str, Any], secret: str) -> ClassSettings:
        """What `noted` wrote, with the secret that it left out.

        Raises:
            ValueError: it wrote no such thing, or of another secret.
        """
        if noted.get("secret") != fingerprint(secret):
            raise ValueError("it was graded with another secret; name its file with --secret")
        return msgspec.convert({**noted, "secret": secret}, cls)


def graded_by(noted: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of all that is graded with settings as `noted` wrote them; empty where nothing has been graded."""
    return (*noted.get("exercises", ()), *((WORKSHEET,) if noted.get("worksheet") else ()))


@dataclass(frozen=True)
class Request:
    """One grading.

    Attributes:
        files: Text of each module, by its name.
        problems: Why a module cannot be read, by its name.
        worksheet: The bytes of the file; None if it is not graded.
        settings: What the submission is graded with.
        course_version: Of the one who asks.
        course_digest: Of all that a result depends on, as the one who asks has it.
    """

    files: dict[str, str]
    problems: dict[str, str]
    worksheet: bytes | NoWorksheet | None
    settings: ClassSettings
    course_version: str
    course_digest: str

    @property
    def key(self) -> str:
        """Digest of everything that changes the result: equal keys give equal results, except for timings."""
        # The level does not change the result; a result at level 0 is never stored if level 1 was required.
        identity = replace(self, settings=replace(self.settings, level=None))
        return hashlib.sha256(identity.as_json()).hexdigest()

    def as_json(self) -> bytes:
        """One line, the same for equal requests; whatever a text holds, it is ASCII."""
        return json.dumps(msgspec.to_builtins(self), sort_keys=True).encode()


def read_request(line: bytes | str) -> Request:
    """The request that `as_json` wrote."""
    return msgspec.convert(json.loads(line), Request)
