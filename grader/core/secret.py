"""The secret of a class, from which its gradings draw fresh inputs.

They depend on the secret alone and never on a submission's bytes, so a comment cannot roll the dice of a statistical
check again. No report shows them, so the report on one submission does not help the next. Students at home have no
secret and draw from a constant, so that anybody can repeat their gradings.
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
"""Instead of a secret: known to everybody."""


def fresh_seed(secret: str, check: str) -> int:
    """The seed of one check's fresh inputs, 128 bits, which does not depend on other checks."""
    drawn = hmac.digest(secret.encode() or b"public", check.encode(), "sha256")
    return int.from_bytes(drawn[:16])


def fingerprint(secret: str) -> str:
    """Tells two secrets apart without giving them away; empty for `PUBLIC`."""
    return hashlib.sha256(secret.encode()).hexdigest()[:16] if secret else ""


def read_secret(path: Path) -> str:
    """The secret in a file.

    Raises:
        FileRefused: it cannot be read, or holds something else.
    """
    try:
        text = path.read_text("ascii").strip()
    except (OSError, ValueError) as error:
        raise FileRefused(f"cannot read {path} as the secret of a class ({error})") from None
    if not re.fullmatch(r"[0-9a-f]{64}", text):
        raise FileRefused(
            f"{path} is not the secret of a class. A secret is 64 random hexadecimal digits, which nobody can guess. "
            "Give the name of a file that does not exist yet, and the command creates one. To create one yourself: "
            f"{_MAKE} > FILE. Keep it for as long as you grade this class"
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
