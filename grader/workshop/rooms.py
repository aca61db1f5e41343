"""The packages of the grader ("rooms"): which may import which, and which students get.

A room is a folder of `grader/`. Rooms are listed from the bottom up, and a room may import only from rooms below it.
Its README says what it is for. `tests/pure/test_layers.py` enforces this table, and `handout` uses it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Room:
    """The rule of one room.

    Attributes:
        imports: Other rooms that it may import.
        packages: Packages that it may import, besides the standard library.
        processes: Whether it may start a process or open a connection.
        students: Whether its modules are handed out to students.
    """

    imports: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    processes: bool = False
    students: bool = False


ROOMS = {
    "core": Room(packages=("jinja2", "markupsafe", "msgspec"), students=True),
    "sandbox": Room(
        packages=("numpy", "psutil", "pyseccomp", "torch", "_course_worker"),
        processes=True,
        students=True,
    ),
    "oracles": Room(imports=("core",), packages=("numpy", "safetensors", "torch"), students=True),
    "grading": Room(
        imports=("core", "sandbox", "oracles"),  # of the oracles only what is recorded of them
        packages=("hypothesis", "numpy", "pytest", "torch"),
        processes=True,
        students=True,
    ),
    "exercises": Room(
        imports=("core", "oracles", "grading"), packages=("hypothesis", "numpy", "pytest"), students=False
    ),
    "worksheet": Room(imports=("core", "grading", "oracles"), packages=("numpy",), students=True),
    "reports": Room(imports=("core", "grading", "worksheet"), packages=("rich",), students=True),
    "classroom": Room(
        imports=("core", "sandbox", "grading", "worksheet", "reports"),
        packages=("distributed", "filelock", "msgspec", "numpy", "psutil", "yaml"),
        processes=True,
    ),
    "gradebook": Room(imports=("core", "worksheet", "classroom"), packages=("dateparser",)),
    "workshop": Room(
        imports=("core", "sandbox", "oracles", "grading", "worksheet"),
        packages=("jinja2", "markdown", "numpy", "py_mini_racer", "pylatexenc", "rich"),
    ),
    "commands": Room(
        imports=("core", "sandbox", "grading", "worksheet", "reports", "classroom", "gradebook", "workshop"),
        packages=("rich", "watchfiles"),
        processes=True,
    ),
}
"""Name to law, from the ground up."""
