"""Makes the submissions of a class that never was: right, half done, mistaken, untouched, broken and hostile."""

from __future__ import annotations

import io
import random
import shutil
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from grader.core import course
from grader.core.contents import read_submission
from grader.workshop.catalogue import fair_variants, known_mistakes
from grader.workshop.stubs import make_stubs

Files = dict[str, str]

HOSTILE = {
    "ends the process": "import os\nos._exit(0)\n", "never returns": "while True: pass\n",
    "wants all memory": "x = bytearray(1 << 34)\n", "leaves pytest": "raise SystemExit(0)\n",
    "forks": "import os\nwhile True: os.fork()\n",
    "kills its parent": "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n",
    "crashes": "import ctypes\nctypes.string_at(0)\n", "floods": "while True: print('::error::' + 'x' * 10_000)\n",
    "reads the answers": "print(open('/etc/passwd').read())\nfrom reference.kl import *\n",
    "is no Python": "def kl_estimate(:\n",
}  # fmt: skip
"""Text of a module by what it does when it is imported. Loops fit a line: in which one they are stopped is a timing."""


def make_class(folder: Path, *, students: int, seed: int = 0, hostile: int | None = None) -> dict[str, str]:
    """Write a class in mixed packings.

    Args:
        folder: Where; made.
        students: How many.
        seed: The same seed gives the same class.
        hostile: How many of them are hostile; None for as many as there are of any other kind.

    Returns:
        Name of each submission to its kind.
    """
    draw = random.Random(seed)
    makers = _makers(draw)
    if hostile is None:
        drawn = [draw.choice(list(makers)) for _ in range(students)]
    else:
        drawn = [draw.choice([kind for kind in makers if kind != "hostile"]) for _ in range(students - hostile)]
        drawn += ["hostile"] * hostile
        draw.shuffle(drawn)
    kinds = {}
    for number, kind in enumerate(drawn):
        name = f"student-{number:04d}"
        _PACKINGS[number % len(_PACKINGS)](folder, name, makers[kind]())
        kinds[name] = kind
    return kinds


def model_files() -> Files:
    """The model answers."""
    files = read_submission(course.MODEL_ANSWERS).files
    return {exercise.file_name: files[exercise.file_name] for exercise in course.EXERCISES}


def _makers(draw: random.Random) -> Mapping[str, Callable[[], Files]]:
    stub = {name: text for name, text in make_stubs(course.MODEL_ANSWERS).items() if name in model_files()}
    names = [exercise.name for exercise in course.EXERCISES]
    wrong = {name: known_mistakes(name) for name in names}
    fair = {name: fair_variants(name) for name in names}

    def partial() -> Files:
        done = names[: draw.randrange(1, len(names))]
        return stub | {f"{name}.py": _own(model_files()[f"{name}.py"], draw) for name in done}

    def mistaken() -> Files:
        files = {name: _own(text, draw) for name, text in model_files().items()}
        for name in draw.sample(names, draw.randrange(1, 4)):
            files[f"{name}.py"] = draw.choice(wrong[name]).submission.files[f"{name}.py"]
        return files

    def variant() -> Files:
        return {f"{name}.py": draw.choice(fair[name]).submission.files[f"{name}.py"] for name in names}

    def hostile() -> Files:
        name = draw.choice(names)
        return model_files() | {f"{name}.py": HOSTILE[draw.choice(list(HOSTILE))] + model_files()[f"{name}.py"]}

    def right() -> Files:
        return {name: _own(text, draw) for name, text in model_files().items()}

    makers = {"stub": lambda: dict(stub), "right": right, "variant": variant, "hostile": hostile}
    return {**makers, "partial": partial, "partial again": partial, "mistaken": mistaken, "mistaken again": mistaken}


def _own(text: str, draw: random.Random) -> str:
    """The same answer with a line of somebody's own: no two submissions of people are equal."""
    return f"{text}\n# {draw.random()}\n"


def _folder(place: Path, name: str, files: Files) -> None:
    (place / name).mkdir(parents=True)
    for file, text in files.items():
        (place / name / file).write_text(text, "utf-8")


def _starter(place: Path, name: str, files: Files) -> None:
    _folder(place / name, "starter", files)


def zip_bytes(files: Mapping[str, str | bytes]) -> bytes:
    """A zip in memory; the same bytes at any time."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, text)
    return data.getvalue()


def tar_bytes(files: Mapping[str, str | bytes], mode: str = "w") -> bytes:
    """A tar in memory."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode=mode) as archive:  # type: ignore[call-overload]
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            content = text if isinstance(text, bytes) else text.encode()
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return data.getvalue()


def _zip(place: Path, name: str, files: Files) -> None:
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{name}.zip").write_bytes(zip_bytes({f"my answers/{file}": text for file, text in files.items()}))


def _tar(place: Path, name: str, files: Files) -> None:
    _folder(place, name, files)
    with tarfile.open(place / f"{name}.tar.gz", "w:gz") as archive:
        archive.add(place / name, arcname=name)
    shutil.rmtree(place / name)


_PACKINGS = (_folder, _starter, _zip, _tar)
