"""The secret of a class: what the fresh inputs of its gradings are drawn from.

Drawn from the secret and the digest of a submission, they are the same for the same files and new after every change,
so that nothing which a report tells about one submission helps the next. Without a secret a constant takes its place,
so that a student's own gradings can be repeated by anybody.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
from pathlib import Path

from .refusal import FileRefused

FILE_NAME = "class-secret"
_MAKE = 'python -c "import secrets; print(secrets.token_hex(32))"'
PUBLIC = ""
"""In place of a secret: known to everybody."""


def fresh_seed(secret: str, digest: str, check: str) -> int:
    """What the fresh inputs of one check are drawn from, 128 bits.

    Args:
        secret: Of the class, or `PUBLIC`.
        digest: Of the submission.
        check: Id of the check; adding a check does not change the inputs of the others.
    """
    drawn = hmac.digest(secret.encode() or b"public", f"{digest} {check}".encode(), "sha256")
    return int.from_bytes(drawn[:16])


def fingerprint(secret: str) -> str:
    """Tells two secrets apart, and gives none of them away; empty for `PUBLIC`."""
    return hashlib.sha256(secret.encode()).hexdigest()[:16] if secret else ""


def read_secret(path: Path) -> str:
    """The secret in a file.

    Raises:
        FileRefused: it cannot be read, or holds something else.
    """
    try:
        text = path.read_text("ascii").strip()
    except (OSError, ValueError) as error:
        raise FileRefused(f"{path} cannot be read as the secret of a class ({error})") from None
    if not re.fullmatch(r"[0-9a-f]{64}", text):
        raise FileRefused(
            f"{path} holds no secret of a class: a word can be guessed, so a secret is 64 random hexadecimal digits. "
            "Give the name of a file that does not exist yet, and the command makes one. To make one yourself: "
            f"{_MAKE} > FILE. Keep it as long as you grade this class"
        )
    return text


def secret_in(path: Path) -> str:
    """The secret in a file, which is made if it is missing, readable by its owner only.

    Raises:
        FileRefused: as for `read_secret`.
        OSError: the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return read_secret(path)
    with os.fdopen(descriptor, "w", encoding="ascii", newline="\n") as file:
        file.write(f"{secrets.token_hex(32)}\n")
    return read_secret(path)
