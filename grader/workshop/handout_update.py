"""What a newer handout changes in an older one: everything but the modules that students write.

Left out on purpose: merging. A module that a student has written stays as it is, byte for byte; where a function of it
is called in another way now, that is said.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from . import handout


@dataclass(frozen=True)
class Update:
    """What has to be done in a folder.

    Attributes:
        before: Version of the course there.
        after: Version of the course here.
        written: Path to content of the files to write: given code, checks, pages, and stubs that are missing.
        removed: Paths of files that are no longer handed out.
        kept: Paths of the modules that students write, which stay.
        signatures: Sentences about functions that are called in another way now.
    """

    before: str
    after: str
    written: Mapping[str, bytes]
    removed: tuple[str, ...]
    kept: tuple[str, ...]
    signatures: tuple[str, ...]


def plan(folder: Path, files: Mapping[str, bytes]) -> Update:
    """Compare a folder with the files of a new handout.

    Args:
        folder: An older handout, as it is now.
        files: What `handout.make` made.

    Raises:
        OSError: a file cannot be read.
        ValueError: it is no handout, or its manifest is damaged.
    """
    given = json.loads((folder / handout.MANIFEST).read_text("utf-8"))
    new = json.loads(files[handout.MANIFEST])
    own = files.keys() - new.keys() - {handout.MANIFEST}
    written = {
        name: content
        for name, content in files.items()
        if not (folder / name).is_file()
        or (name not in own and handout.digest((folder / name).read_bytes()) != handout.digest(content))
    }
    return Update(
        before=_version((folder / "pyproject.toml").read_bytes()),
        after=_version(files["pyproject.toml"]),
        written=written,
        removed=tuple(name for name in sorted(given.keys() - files.keys()) if (folder / name).is_file()),
        kept=tuple(name for name in sorted(own) if name not in written),
        signatures=tuple(_other_signatures(folder, files)),
    )


def carry_out(update: Update, folder: Path) -> None:
    """Write and remove what has to be. If it is interrupted, the same again finishes it.

    Raises:
        OSError: a file cannot be written or removed.
    """
    manifest = {handout.MANIFEST: update.written[handout.MANIFEST]} if handout.MANIFEST in update.written else {}
    handout.write_folder({name: each for name, each in update.written.items() if name not in manifest}, folder)
    for name in update.removed:
        (folder / name).unlink(missing_ok=True)
    handout.write_folder(manifest, folder)  # last: until then the folder is the older handout


def _version(project: bytes) -> str:
    version: str = tomllib.loads(project.decode())["project"]["version"]
    return version


def _other_signatures(folder: Path, files: Mapping[str, bytes]) -> Iterator[str]:
    for name, content in files.items():
        if name.endswith("/functions.json") and (folder / name).is_file():
            before = json.loads((folder / name).read_bytes())["functions"]
            names = {signature.partition("(")[0] for signature in before}
            for signature in sorted({*json.loads(content)["functions"]} - {*before}):
                if signature.partition("(")[0] in names:
                    yield f"starter/{Path(name).parent.name}.py: the signature is {signature} now"
