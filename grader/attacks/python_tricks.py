"""Attacks by Python's own means: objects that lie, libraries that are patched, exceptions that mean something else."""

from __future__ import annotations

from ..core.result import FAILED, PASSED
from .attack import Attack, Topic

TOPIC = Topic(
    "Trick Python",
    (
        Attack(
            "patches torch",
            "It replaces torch's comparisons by ones that always agree.",
            "return rewards",
            """
            import torch
            torch.equal = torch.allclose = torch.isclose = lambda *a, **k: True
            torch.Tensor.__eq__ = lambda a, b: True
            """,
            verdict=FAILED,
        ),
        Attack(
            "patches numpy",
            "It replaces numpy's comparisons and assertions by ones that always agree.",
            "return rewards",
            """
            import numpy, numpy.testing
            numpy.allclose = numpy.isclose = numpy.array_equal = lambda *a, **k: True
            numpy.testing.assert_allclose = numpy.testing.assert_array_equal = lambda *a, **k: None
            """,
            verdict=FAILED,
        ),
        Attack(
            "patches pytest",
            "It puts another pytest into the import system, with reports that are always good.",
            "return rewards",
            """
            import sys, types
            fake = types.ModuleType("pytest")
            fake.main = lambda *a, **k: 0
            sys.modules["pytest"] = sys.modules["_pytest"] = fake
            """,
            verdict=FAILED,
        ),
        Attack(
            "patches hypothesis",
            "It puts another hypothesis into the import system, which tries no inputs.",
            "return rewards",
            """
            import sys, types
            fake = types.ModuleType("hypothesis")
            fake.given = lambda *a, **k: lambda test: lambda *a, **k: None
            fake.settings = fake.example = fake.given
            sys.modules["hypothesis"] = fake
            """,
            verdict=FAILED,
        ),
        Attack(
            "patches the built-in functions",
            "It replaces isinstance, all and any by ones that agree with everything.",
            "return rewards",
            """
            import builtins
            builtins.isinstance = builtins.all = builtins.any = lambda *a: True
            """,
        ),
        Attack(
            "breaks the import system",
            "It empties the list of loaded modules and refuses every further import.",
            """
            import builtins, sys
            sys.modules.clear()
            sys.meta_path.clear()
            builtins.__import__ = lambda *a, **k: 1 / 0
            return rewards
            """,
            verdict=FAILED,
        ),
        Attack(
            "listens to every event",
            "It adds an audit hook that raises at every event of the interpreter.",
            """
            import sys
            def hook(*_):
                raise RuntimeError("no")
            sys.addaudithook(hook)
            return rewards
            """,
        ),
        Attack(
            "returns something always equal",
            "It returns an object that equals everything.",
            "return Equal()",
            """
            class Equal:
                __eq__ = __le__ = __ge__ = lambda *a: True
                __array__ = lambda self: 1 / 0
                __float__ = __rsub__ = __sub__ = lambda *a: 0.0
            """,
            verdict=FAILED,
        ),
        Attack(
            "returns a tensor that lies",
            "It returns a subclass of Tensor that answers every question with True.",
            "return rewards.as_subclass(Lie)",
            """
            import torch
            class Lie(torch.Tensor):
                @classmethod
                def __torch_function__(cls, function, types, args=(), kwargs=None):
                    return True
            """,
            verdict=FAILED,
        ),
        Attack(
            "returns an array that lies",
            "It returns a subclass of numpy's array that answers every question with True.",
            "return rewards.numpy().view(Lie)",
            """
            import numpy
            class Lie(numpy.ndarray):
                def __array_ufunc__(self, *a, **k): return True
                def __array_function__(self, *a, **k): return True
            """,
            verdict=FAILED,
        ),
        Attack(
            "returns an array of objects",
            "It returns an array of Python objects, each of which equals everything.",
            """
            import numpy
            class Equal:
                __eq__ = lambda *a: True
            return numpy.array([Equal()] * 4, dtype=object)
            """,
            verdict=FAILED,
        ),
        Attack(
            "returns a command",
            "It returns an object that runs a command when it is unpickled.",
            """
            import os
            class Run:
                def __reduce__(self):
                    return os.system, (f"touch {YARD['folder']}/unpickled",)
            return Run()
            """,
            verdict=FAILED,
        ),
        Attack(
            "returns a generator", "It returns code to be run later.", "return (row for row in rewards)", verdict=FAILED
        ),
        Attack(
            "returns a class with a name",
            "It returns an object whose class has a name of a million signs and line breaks.",
            r"return type('x\n' * 10**6 + '\x1b[2J', (), {})()",
            verdict=FAILED,
        ),
        Attack(
            "returns a tensor without numbers and many rows",
            "It returns a tensor of 2 to the power of 40 empty rows.",
            "import torch; return torch.empty(2**40, 0)",
        ),
        Attack(
            "returns a shape that overflows",
            "It returns an empty tensor with an axis of 2 to the power of 62.",
            "import torch; return torch.empty(0, 2**62)",
        ),
        Attack(
            "returns 800 MB",
            "It returns one number, seen 100 million times.",
            "import torch; return torch.ones(1, dtype=torch.float64).expand(10**8)",
        ),
        Attack(
            "returns millions of numbers",
            "It returns two million numbers of 16 bits.",
            "import torch; return torch.zeros(2**21, dtype=torch.float16)",
            verdict=FAILED,
        ),
        Attack(
            "returns a thousand tensors",
            "It returns a list of 1,300 tensors.",
            "import torch; return [torch.rand(1000)] * 1300",
        ),
        Attack("returns a list of itself", "It returns a list that holds itself.", "a = []; a.append(a); return a"),
        Attack(
            "returns a list nested deeply",
            "It returns a list in a list, a hundred thousand times.",
            """
            a = []
            for _ in range(10**5):
                a = [a]
            return a
            """,
        ),
        Attack(
            "returns a set of colliding numbers",
            "It returns a set whose members all have the same hash.",
            """
            class Number(int):
                __hash__ = lambda self: 1
            return {Number(n) for n in range(500)}
            """,
            verdict=FAILED,
        ),
        Attack(
            "raises what a framework would catch",
            "It raises an exception named like one of the testing framework's own.",
            "raise UnsatisfiedAssumption()",
            "class UnsatisfiedAssumption(BaseException): pass",
        ),
        Attack(
            "skips the check",
            "It raises the exception with which a test of the standard library skips itself.",
            "import unittest; raise unittest.SkipTest('not today')",
        ),
        Attack(
            "imports pytest to skip the check",
            "It calls pytest's own functions to skip, to expect a failure, and to end the run.",
            """
            import pytest
            for end in (pytest.skip, pytest.xfail, pytest.exit):
                end("not today")
            """,
        ),
        Attack("raises an interrupt", "It raises what Ctrl-C raises.", "raise KeyboardInterrupt"),
        Attack("closes itself like a generator", "It raises GeneratorExit.", "raise GeneratorExit"),
        Attack(
            "raises an exception whose text never ends",
            "It raises an exception that loops when it is printed.",
            "raise Endless()",
            """
            class Endless(Exception):
                def __str__(self):
                    while True:
                        pass
            """,
        ),
        Attack(
            "raises an exception whose text raises",
            "It raises an exception that ends the process when it is printed.",
            "raise Broken()",
            """
            class Broken(Exception):
                def __str__(self):
                    raise SystemExit(0)
            """,
        ),
        Attack(
            "raises an exception with a giant text",
            "It raises an exception with 100 MB of text.",
            "raise ValueError('x' * 10**8)",
        ),
        Attack(
            "raises an endless chain",
            "It raises an exception that is its own cause.",
            """
            error = ValueError("around")
            error.__context__ = other = ValueError("and around")
            other.__context__ = error
            raise error
            """,
        ),
        Attack(
            "works when it is thrown away",
            "It returns a value whose destructor never ends.",
            "return Sticky()",
            """
            class Sticky:
                def __del__(self):
                    while True:
                        pass
            """,
        ),
        Attack(
            "works at the end",
            "It registers a function that never ends for the end of its process, and then works honestly.",
            """
            import atexit, time
            atexit.register(time.sleep, 1000)
            return honest(rewards)
            """,
            verdict=PASSED,
        ),
        Attack("opens a debugger", "It stops at a breakpoint and waits for a person.", "breakpoint()"),
        Attack("asks a person", "It waits for input.", "return float(input('grade? '))"),
        Attack(
            "detects that it is graded",
            "It looks for signs of the grader, and is wrong only when it finds them.",
            """
            import sys
            return rewards if "_course_worker.serve" in sys.modules else honest
            """,
            verdict=FAILED,
        ),
    ),
)
