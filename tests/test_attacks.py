"""Hostile submissions: none raises a grade, breaks the grader, or costs another exercise its points.

Every attack replaces `group_advantages` and does no honest work there; the other functions are the model answers. More
attacks on the process itself stand in test_sandbox.py.
"""

from __future__ import annotations

import ast
import textwrap

import pytest

from grader import catalogue, plugin
from grader.result import GRADER_ERROR, PASSED, Result
from grader.run import grade
from grader.sandbox import Sandbox

plugin.use_profile()

# name -> (top of the module, body of group_advantages)
ATTACKS = {
    "imports the model answers": ("", "from reference.advantages import group_advantages as g; return g(rewards)"),
    "imports the grader": ("", "from grader import vectors; return vectors.load('advantages')"),
    "looks for the answers in every module": (
        "import sys",
        """
        for module in list(sys.modules.values()):
            g = getattr(module, "group_advantages", None)
            if g is not None and g.__code__ is not group_advantages.__code__:
                return g(rewards)
        """,
    ),
    "walks the frames for the expected numbers": (
        "import sys",
        """
        frame = sys._getframe()
        while frame:
            for value in frame.f_locals.values():
                if isinstance(value, dict) and "expected" in value:
                    return value["expected"]
            frame = frame.f_back
        """,
    ),
    "looks through the whole heap": (
        "import gc",
        """
        for thing in gc.get_objects():
            name = getattr(thing, "__name__", "")
            if callable(thing) and name == "group_advantages" and thing is not group_advantages:
                return thing(rewards)
        """,
    ),
    "reads the model answers from the disk": (
        "import glob",
        """
        for path in glob.glob("/**/reference/advantages.py", recursive=True) or ["reference/advantages.py"]:
            space = {}
            exec(open(path).read(), space)
            return space["group_advantages"](rewards)
        """,
    ),
    "evaluates what the fork server warmed up with": (
        "import sys",
        """
        warm = sys.modules["_course_worker.forkserver"]._WARM_MODULE
        space = {}
        exec(warm, space)
        return space["warm"](rewards.clone(), rewards)
        """,
    ),
    "patches torch so that everything is equal": (
        """
        import torch
        torch.equal = torch.allclose = torch.isclose = lambda *a, **k: True
        torch.Tensor.__eq__ = lambda a, b: True
        """,
        "return rewards",
    ),
    "patches pytest": (
        """
        import sys, types
        fake = types.ModuleType("pytest")
        fake.main = lambda *a, **k: 0
        sys.modules["pytest"] = sys.modules["_pytest"] = fake
        """,
        "return rewards",
    ),
    "replaces the worker's answers": (
        "import sys",
        """
        serve = sys.modules["_course_worker.serve"]
        serve.Worker.answer = lambda self, body: {"result": {"answers": [{"value": True}] * 99, "passed": True}}
        return rewards
        """,
    ),
    "sends answers of wrong types": (
        "import sys",
        """
        serve = sys.modules["_course_worker.serve"]
        bad = {"value": None, "gradients": [1.5], "arguments": [None, "x"]}
        serve.Worker.answer = lambda self, body: {"result": {"answers": [bad] * len(body.get("calls", [1]))}}
        return rewards
        """,
    ),
    "sends an exception of wrong types": (
        "import sys",
        """
        serve = sys.modules["_course_worker.serve"]
        frames = [["a", float("inf"), 3, None]]
        serve.Worker.answer = lambda self, body: {"error": {"type": 5, "message": None, "frames": frames}}
        return rewards
        """,
    ),
    "leaves with success": ("import os", "os._exit(0)"),
    "exits politely": ("import sys", "sys.exit(0)"),
    "prints a result": ("", "print('80 of 80 points', '{\"outcome\": \"passed\"}'); return rewards"),
    "prints commands for a build machine": ("", "print('::error::owned\\n##[error]owned'); return rewards"),
    "prints a traceback of somebody else": (
        "import os",
        "print('\\n  File \"a/b.py\", line ' + '9' * 5000 + ' in f'); os._exit(0)",
    ),
    "makes its output unreadable": (
        "import fcntl, os",
        "print('xxx'); fcntl.fcntl(1, fcntl.F_SETFL, os.O_RDWR | os.O_DIRECT); return None",
    ),
    "raises what a framework would catch": (
        "class Skipped(BaseException): pass\nclass UnsatisfiedAssumption(BaseException): pass",
        "raise UnsatisfiedAssumption()",
    ),
    "raises an interrupt": ("", "raise KeyboardInterrupt"),
    "raises with half a character": ("", "raise ValueError('\\ud800\\u202e\\x1b[2J')"),
    "returns something always equal": (
        """
        class Equal:
            __eq__ = __le__ = __ge__ = lambda *a: True
            __array__ = lambda self: 1 / 0
        """,
        "return Equal()",
    ),
    "returns a subclass that lies": (
        """
        import torch
        class Lie(torch.Tensor):
            @classmethod
            def __torch_function__(cls, function, types, args=(), kwargs=None):
                return True
        """,
        "return rewards.as_subclass(Lie)",
    ),
    "returns a tensor without numbers and many rows": ("import torch", "return torch.empty(2**40, 0)"),
    "returns a shape that overflows": ("import torch", "return torch.empty(0, 2**62)"),
    "returns millions of numbers": ("import torch", "return torch.zeros(2**21, dtype=torch.float16)"),
    "returns a thousand tensors": ("import torch", "return [torch.rand(1000)] * 1300"),
    "returns a list of itself": ("", "a = []; a.append(a); return a"),
    "knows the worked example by heart": (
        "import torch",
        """
        example = [[1.0, 0.0, 0.0, 0.0], [4.0, 2.0, 2.0, 0.0]]
        if rewards.tolist() == example:
            a, b = 3.0**0.5, 2.0**0.5
            return torch.tensor([[a, -a / 3, -a / 3, -a / 3], [b, 0.0, 0.0, -b]], dtype=rewards.dtype)
        return rewards * 0.0
        """,
    ),
    "knows it by heart and ranks the rest": (
        "import torch",
        """
        if rewards.tolist() == [[1.0, 0.0, 0.0, 0.0], [4.0, 2.0, 2.0, 0.0]]:
            a, b = 3.0**0.5, 2.0**0.5
            return torch.tensor([[a, -a / 3, -a / 3, -a / 3], [b, 0.0, 0.0, -b]], dtype=rewards.dtype)
        ranks = rewards.argsort(-1).argsort(-1).to(rewards.dtype)
        return (ranks - ranks.mean(-1, keepdim=True)) / ranks.std(-1, correction=0, keepdim=True)
        """,
    ),
}


def attack(name: str) -> catalogue.Submission:
    top, body = ATTACKS[name]
    text = textwrap.dedent(top) + "\n\ndef attack(rewards, *, std_eps=1e-8, divide_by_std=True):\n"
    text += textwrap.indent(textwrap.dedent(body), "    ")
    ast.parse(text)
    return catalogue.replaced("advantages", "group_advantages", "attack", text)


@pytest.mark.parametrize("name", ATTACKS)
def test_it_earns_nothing_and_harms_nothing(sandbox: Sandbox, name: str) -> None:
    result: Result = grade(attack(name), ["advantages", "kl"], sandbox.worker)
    assert not result.problem
    assert result.complete
    assert [check.story for check in result.checks if check.outcome == GRADER_ERROR] == []
    attacked = [check for check in result.checks if check.function == "group_advantages"]
    assert sum(check.earned for check in attacked) == 0
    others = [check for check in result.checks if check.id.startswith("kl.")]
    assert all(check.outcome == PASSED for check in others)
    assert result.exit_code == 1
    assert result.as_json().isascii()


@pytest.mark.parametrize(
    "call",
    [
        "libc.syscall(72, 0, (1 << 32) | 8, 1)",  # fcntl F_SETOWN with a bit that the kernel does not look at
        "libc.prctl(1, 0, 0, 0, 0)",  # live on when the fork server dies
        "libc.sethostname(b'x', 1)",
        "libc.mount(b'none', b'/tmp', b'tmpfs', 0, None)",
        "libc.syscall(160, 7, bytes(16))",  # setrlimit
    ],
)
def test_a_privileged_or_disguised_system_call_is_refused(sandbox: Sandbox, call: str) -> None:
    import platform

    if sandbox.level < 1 or platform.machine() != "x86_64":
        pytest.skip("needs the walls of level 1; the numbers are those of x86-64")
    body = f"import ctypes, torch; libc = ctypes.CDLL(None); return torch.tensor(float({call}))"
    submission = catalogue.replaced("advantages", "group_advantages", "attack", f"def attack(*a, **k):\n    {body}\n")
    result = grade(submission, ["advantages"], sandbox.worker)
    gate = next(check for check in result.checks if check.gate and check.function == "group_advantages")
    assert dict(gate.rows)["yours"].startswith("-1")


def test_a_worker_has_no_capabilities(sandbox: Sandbox) -> None:
    if sandbox.level < 1:
        pytest.skip("needs the walls of level 1")
    body = """
    import ctypes, struct, torch
    data = ctypes.create_string_buffer(24)
    ctypes.CDLL(None).capget(struct.pack("Ii", 0x20080522, 0), data)
    return torch.tensor([float(n) for n in struct.unpack("6I", data.raw)])
    """
    text = "def attack(*a, **k):\n" + textwrap.indent(textwrap.dedent(body), "    ")
    submission = catalogue.replaced("advantages", "group_advantages", "attack", text)
    result = grade(submission, ["advantages"], sandbox.worker)
    gate = next(check for check in result.checks if check.gate and check.function == "group_advantages")
    assert dict(gate.rows)["yours"].startswith("[0, 0, 0, 0, 0, 0]")
