"""The packages of the grader: which may import which, and which students get.

A package is a folder of `grader/`. They are listed from the bottom up, and each may import only from those below it.
Its README says what it is for. `tests/pure/test_layers.py` enforces this table, and `handout` uses it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Package:
    """The rule of one package.

    Attributes:
        imports: Other packages of the grader that it may import.
        libraries: Other libraries that it may import, besides Python's own.
        processes: Whether it may start a process or open a connection.
        students: Whether its modules are handed out to students.
    """

    imports: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    processes: bool = False
    students: bool = False


PACKAGES = {
    "core": Package(libraries=("jinja2", "markupsafe", "msgspec"), students=True),
    "sandbox": Package(
        libraries=("numpy", "psutil", "pyseccomp", "torch", "_course_worker"),
        processes=True,
        students=True,
    ),
    "oracles": Package(imports=("core",), libraries=("numpy", "safetensors", "torch"), students=True),
    "grading": Package(
        imports=("core", "sandbox", "oracles"),  # of the oracles only what is recorded of them
        libraries=("hypothesis", "numpy", "pytest", "torch"),
        processes=True,
        students=True,
    ),
    "exercises": Package(
        imports=("core", "oracles", "grading"), libraries=("hypothesis", "numpy", "pytest"), students=False
    ),
    "worksheet": Package(imports=("core", "grading", "oracles"), libraries=("numpy",), students=True),
    "reports": Package(imports=("core", "grading", "worksheet"), libraries=("rich",), students=True),
    "classroom": Package(
        imports=("core", "sandbox", "grading", "worksheet", "reports"),
        libraries=("distributed", "filelock", "msgspec", "numpy", "psutil", "yaml"),
        processes=True,
    ),
    "gradebook": Package(imports=("core", "worksheet", "classroom"), libraries=("dateparser",)),
    "workshop": Package(
        imports=("core", "sandbox", "oracles", "grading", "worksheet"),
        libraries=("jinja2", "numpy"),
    ),
    "commands": Package(
        imports=("core", "sandbox", "grading", "worksheet", "reports", "classroom", "gradebook", "workshop"),
        libraries=("IPython", "pytest", "rich", "watchfiles"),
        processes=True,
    ),
}
"""Name to rule, from the ground up."""
