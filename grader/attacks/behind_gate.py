"""Attacks beside right numbers, behind a passed gate, and in a second pass, where a wrong function is called once more.

A gate that fails ends all attacks of a function, and a right answer draws nobody's eye: these come later.
"""

from __future__ import annotations

import functools

from ..core.result import FAILED, PASSED
from .attack import Attack, Harm, Topic
from .channel import FORGER

_FILES = "level 0 has no wall around files: the code can read and write what the person who grades can"
_RIGHT = "return honest(rewards, std_eps=std_eps, divide_by_std=divide_by_std)"
_AT_GATE = """
def at_gate(rewards):
    columns = rewards.shape[-1] if rewards.ndim else 4
    return columns == 4 or 13 <= columns < 90 or rewards.numel() > 40 * columns
"""
_ONE_STEP = """
def at_gate(*arguments):
    return arguments[-1].inner_steps == 1 and not arguments[-1].kl_coef
"""
_SIZES = """
def at_gate(values, mask):
    return tuple(values.shape) in ((3, 4), (4, 5), (300, 3), (2, 400))
"""
_SEARCH = """
import gc, os, sys

def search(names):
    # A model answer, an expected value, or what compares with it: in the modules, the frames, the heap, open files.
    for name in list(sys.modules):
        if name.split(".")[0] in ("reference", "grader"):
            yield name
    frame = sys._getframe(1)
    while frame:
        yield from names & {*frame.f_locals}
        frame = frame.f_back
    for thing in gc.get_objects():
        if type(thing).__name__ in ("Expected", "Oracles", "OwnFunction", "Vector", "Premises"):
            yield type(thing).__name__
    for number in range(3, 64):
        try:
            where = os.readlink(f"/proc/self/fd/{number}")
        except OSError:
            continue
        if where.endswith((".json", ".py", ".safetensors")):
            yield where

def tell():
    for _ in search({"expected", "worked", "premises", "vector", "recorded"}):
        raise RuntimeError(YARD["found"])
"""
_OPENS = """
def tell(*paths):
    for path in paths:
        try:
            open(YARD["answers"] + path).close()
        except OSError:
            continue
        raise RuntimeError(YARD["found"])
"""
_ratio = functools.partial(Attack, exercise="clip", function="importance_ratio", called_by="bandit", verdict=FAILED)
_NEARLY = "1.01 * (arguments[0] - arguments[1].detach()).clamp(-20.0, 20.0).exp()"

TOPIC = Topic(
    "Attack behind right numbers",
    (
        Attack(
            "answers rightly and prints a secret",
            "It answers rightly and prints a file of the grader.",
            """
            try:
                print(open(YARD["secret"]).read())
            except OSError:
                pass
            return honest(rewards, std_eps=std_eps, divide_by_std=divide_by_std)
            """,
            verdict=PASSED,
        ),
        Attack(
            "answers rightly and rewrites the results",
            "It answers rightly and writes better results into the grader's file.",
            """
            try:
                open(YARD["results"], "w").write('{"earned": 205}')
            except OSError:
                pass
            return honest(rewards, std_eps=std_eps, divide_by_std=divide_by_std)
            """,
            verdict=PASSED,
            level_0=frozenset({Harm.FILE_CHANGED}),
            reason=_FILES,
        ),
        Attack(
            "answers rightly and phones home",
            "It answers rightly and tells a server that it is being graded.",
            """
            try:
                socket.create_connection(("127.0.0.1", YARD["tcp"]), 0.2).close()
            except OSError:
                pass
            return honest(rewards, std_eps=std_eps, divide_by_std=divide_by_std)
            """,
            "import socket",
            verdict=PASSED,
            level_0=frozenset({Harm.NETWORK_REACHED}),
            reason="level 0 has no wall around the network",
        ),
        Attack(
            "answers rightly and signals",
            "It answers rightly and sends a signal to another process.",
            """
            try:
                os.kill(YARD["victim_process"], signal.SIGUSR1)
            except OSError:
                pass
            return honest(rewards, std_eps=std_eps, divide_by_std=divide_by_std)
            """,
            "import os, signal",
            verdict=PASSED,
            level_0=frozenset({Harm.PROCESS_DISTURBED}),
            reason="level 0 has no wall between the processes of one user",
        ),
        Attack(
            "answers rightly and does not end",
            "It answers rightly, ignores polite signals, and waits for ever when its process should end.",
            "return honest(rewards, std_eps=std_eps, divide_by_std=divide_by_std)",
            """
            import atexit, signal, threading, time
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            atexit.register(time.sleep, 30)
            threading.Thread(target=time.sleep, args=(30,)).start()
            """,
            verdict=PASSED,
        ),
        Attack(
            "answers rightly and answers again later",
            "It answers rightly while a thread of it goes on to send answers of its own.",
            """
            global talking
            if not talking:
                talking = threading.Thread(target=talk, daemon=True)
                talking.start()
            time.sleep(0.01)
            return honest(rewards, std_eps=std_eps, divide_by_std=divide_by_std)
            """,
            FORGER
            + """
import threading
talking = None

def talk():
    for number in range(10**6):
        try:
            answer(1.0, number=number)
        except OSError:
            return
""",
        ),
        Attack(
            "answers rightly and keeps every input",
            "It answers rightly and looks in its folder for inputs that another check has left there.",
            """
            if os.path.exists("note"):
                raise RuntimeError(YARD["found"])
            atexit.register(open, "note", "w")
            with open(f"note-{len(os.listdir())}", "w") as note:
                note.write(repr(rewards.tolist()))
            return honest(rewards, std_eps=std_eps, divide_by_std=divide_by_std)
            """,
            """
            import atexit, os
            if os.listdir():
                raise RuntimeError(YARD["found"])
            """,
            verdict=PASSED,
        ),
        Attack(
            "answers the bandit's entropy and searches",
            "It answers rightly and searches its process for expected values.",
            "tell(); return honest(*arguments, **options)",
            _SEARCH,
            verdict=PASSED,
            exercise="bandit",
            function="policy_entropy",
        ),
        Attack(
            "answers the bandit's step and opens the vectors",
            "It answers rightly and tries to open the expected values of the exercise.",
            "tell('/../grader/exercises/bandit/vectors.json', '/bandit.py'); return honest(*arguments, **options)",
            _OPENS,
            verdict=PASSED,
            exercise="bandit",
            function="reinforce_step",
            level_0=frozenset({Harm.SECRET_READ}),
            reason=_FILES,
            varies=True,
        ),
        Attack(
            "answers the model's mean and overwrites its weights",
            "It answers rightly and tries to change the weights of the model that comes with the course.",
            """
            for path in WEIGHTS:
                try:
                    open(path, "r+b").close()
                except OSError:
                    continue
                raise RuntimeError(YARD["found"])
            return honest(*arguments, **options)
            """,
            "import glob; WEIGHTS = glob.glob(YARD['answers'] + '/*.safetensors')",
            verdict=PASSED,
            exercise="charlm",
            function="masked_mean",
            level_0=frozenset({Harm.SECRET_READ}),
            reason=_FILES,
            varies=True,
        ),
        Attack(
            "passes the gate and reads the model answers",
            "It works honestly at the gate, and behind it runs the text of the model answer.",
            """
            if at_gate(rewards):
                return honest(rewards, std_eps=std_eps, divide_by_std=divide_by_std)
            space = {}
            exec(open(YARD["answers"] + "/advantages.py").read(), space)
            return space["group_advantages"](rewards, std_eps=std_eps, divide_by_std=divide_by_std)
            """,
            _AT_GATE,
            verdict=PASSED,
            behind_gate=True,
            level_0=frozenset({Harm.GRADE_RAISED}),
            reason="level 0 has no wall around files: the code can read the model answers",
        ),
        Attack(
            "passes the gate and searches the heap",
            "It works honestly at the gate, and behind it searches frames, objects and modules for expected values.",
            f"{_RIGHT} if at_gate(rewards) else tell()",
            _AT_GATE + _SEARCH,
            verdict=PASSED,
            behind_gate=True,
        ),
        Attack(
            "passes the gate and leaves with success",
            "It works honestly at the gate, and behind it ends its process with exit status 0.",
            f"{_RIGHT} if at_gate(rewards) else os._exit(0)",
            f"import os\n{_AT_GATE}",
            verdict=PASSED,
            behind_gate=True,
        ),
        Attack(
            "passes the gate and kills its parent",
            "It works honestly at the gate, and behind it kills the process that forks the workers.",
            """
            if at_gate(rewards):
                return honest(rewards, std_eps=std_eps, divide_by_std=divide_by_std)
            os.kill(os.getppid(), 9)
            """,
            f"import os\n{_AT_GATE}",
            verdict=PASSED,
            behind_gate=True,
            level_0=frozenset({Harm.GRADER_FAILED, Harm.PROCESS_DISTURBED}),
            varies=True,
            reason="level 0 has no wall between the processes of one user",
        ),
        Attack(
            "passes the gate and forges an answer",
            "It works honestly at the gate, and behind it writes answers to the channel itself.",
            """
            if at_gate(rewards):
                return honest(rewards, std_eps=std_eps, divide_by_std=divide_by_std)
            answer(True)
            time.sleep(0.2)
            return rewards
            """,
            FORGER + _AT_GATE,
            verdict=PASSED,
            behind_gate=True,
        ),
        Attack(
            "passes the gate and equals everything",
            "It works honestly at the gate, and behind it returns what equals everything.",
            """
            class Equal(float):
                __eq__ = __ge__ = __le__ = lambda self, other: True
                __hash__ = float.__hash__
            return honest(rewards, std_eps=std_eps, divide_by_std=divide_by_std) if at_gate(rewards) else Equal(0.0)
            """,
            _AT_GATE,
            verdict=PASSED,
            behind_gate=True,
        ),
        Attack(
            "passes the gate and rejects its inputs",
            "It works honestly at the gate, and behind it raises what makes a tester skip a test or an input.",
            """
            if at_gate(rewards):
                return honest(rewards, std_eps=std_eps, divide_by_std=divide_by_std)
            name = ("Skipped", "UnsatisfiedAssumption", "Exit", "NotJudged")[int(rewards.numel()) % 4]
            raise type(name, (BaseException,), {"__module__": "_pytest.outcomes"})("not this one")
            """,
            _AT_GATE,
            verdict=PASSED,
            behind_gate=True,
        ),
        Attack(
            "passes the gate and breaks torch",
            "It works honestly at the gate, and behind it replaces what a worker may use to read and send tensors.",
            """
            if at_gate(rewards):
                return honest(rewards, std_eps=std_eps, divide_by_std=divide_by_std)
            import torch
            for name in ("numpy", "contiguous", "detach", "cpu", "clone", "tolist", "numel", "stride"):
                setattr(torch.Tensor, name, lambda self, *a, **k: honest)
            return rewards
            """,
            _AT_GATE,
            verdict=PASSED,
            behind_gate=True,
        ),
        Attack(
            "passes the gate and crashes",
            "It works honestly at the gate, and behind it reads from address 0.",
            f"{_RIGHT} if at_gate(rewards) else ctypes.string_at(0)",
            f"import ctypes\n{_AT_GATE}",
            verdict=PASSED,
            behind_gate=True,
        ),
        Attack(
            "passes the gate and floods",
            "It works honestly at the gate, and behind it returns a tensor of 64 MB from every call.",
            f"{_RIGHT} if at_gate(rewards) else torch.zeros(8 << 20, dtype=torch.float64)",
            f"import torch\n{_AT_GATE}",
            verdict=PASSED,
            behind_gate=True,
        ),
        Attack(
            "passes the bandit's gate and searches",
            "It works honestly for one step, and for several searches its process for expected values.",
            "return honest(*arguments, **options) if at_gate(*arguments) else tell() or arguments[0]",
            _ONE_STEP + _SEARCH,
            verdict=PASSED,
            behind_gate=True,
            exercise="bandit",
            function="grpo_step",
        ),
        Attack(
            "passes the bandit's gate and counts past every number",
            "It works honestly in short runs, and hands over a history with whole numbers of 2 to the 70 in others.",
            """
            history = honest(*arguments, **options)
            if history.actions.shape[0] < 20:
                return history
            return dataclasses.replace(history, actions=[[2**70] * 8] * 40, entropy=10**400)
            """,
            "import dataclasses",
            verdict=PASSED,
            behind_gate=True,
            exercise="bandit",
            function="train_bandit",
        ),
        Attack(
            "passes the model's gate and searches",
            "It works honestly at the gate, and behind it searches its process for expected values.",
            "return honest(*arguments, **options) if at_gate(*arguments) else tell()",
            _SIZES + _SEARCH,
            verdict=PASSED,
            behind_gate=True,
            exercise="charlm",
            function="masked_mean",
        ),
        _ratio(
            "is called again and searches",
            "It is a little wrong, so that later functions are judged on it, and searches while it is called for them.",
            f"tell(); return {_NEARLY}",
            _SEARCH,
        ),
        _ratio(
            "is called again and opens the vectors",
            "It is a little wrong, and tries to open expected values of the function that calls it.",
            f"tell('/../grader/exercises/bandit/vectors.json', '/bandit.py'); return {_NEARLY}",
            _OPENS,
            level_0=frozenset({Harm.SECRET_READ}),
            reason=_FILES,
            varies=True,
        ),
        _ratio(
            "is called again and looks at its caller",
            "It is a little wrong, and looks in its caller, and in what wraps it in a second pass, for functions.",
            f"""
            frame = sys._getframe(1)
            for _ in range(3):
                if frame is None:
                    break
                for value in [*frame.f_locals.values()]:
                    if getattr(value, "__module__", "").split(".")[0] in ("reference", "grader", "simulation"):
                        raise RuntimeError(YARD["found"])
                frame = frame.f_back
            return {_NEARLY}
            """,
            "import sys",
        ),
        _ratio(
            "is called again and undoes the scale",
            "It is a little wrong, and divides by the factor with which a second pass multiplies what it returns.",
            f"""
            value, frame = {_NEARLY}, sys._getframe(1)
            return value / 1.0625 if frame.f_code.co_name == "scaled" else value
            """,
            "import sys",
        ),
    ),
)
