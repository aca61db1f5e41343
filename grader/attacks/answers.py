"""Attacks that want the right numbers without the work: from the model answers, the grader, or known inputs."""

from __future__ import annotations

from ..core.result import FAILED
from .attack import Attack, Harm, Topic

_FILES = frozenset({Harm.GRADE_RAISED}), "level 0 has no wall around files: the code can read the model answers"
_BY_HEART = """
    a, b = 3.0**0.5, 2.0**0.5
    example = [[1.0, 0.0, 0.0, 0.0], [4.0, 2.0, 2.0, 0.0]]
    answer = torch.tensor([[a, -a / 3, -a / 3, -a / 3], [b, 0.0, 0.0, -b]], dtype=torch.float64)
"""
_EXECUTES = """
    def answer_of(path, rewards):
        space = {}
        exec(open(path).read(), space)
        return space["group_advantages"](rewards)
"""

TOPIC = Topic(
    "Find the answers",
    (
        Attack(
            "imports the model answers",
            "It imports the module that holds the model answer.",
            "from reference.advantages import group_advantages as g; return g(rewards)",
        ),
        Attack(
            "imports the grader",
            "It imports the grader and asks for the expected numbers.",
            "from grader.grading import vectors; return vectors.load('advantages')",
        ),
        Attack(
            "adds the course to the import path",
            "It puts the folder of the course on the import path and imports the model answer.",
            """
            import os, sys
            sys.path.insert(0, os.path.dirname(YARD["answers"]))
            from reference.advantages import group_advantages as g
            return g(rewards)
            """,
            level_0=_FILES[0],
            reason=_FILES[1],
        ),
        Attack(
            "reads the model answers by their path",
            "It opens the file of the model answer and runs its text.",
            "return answer_of(YARD['answers'] + '/advantages.py', rewards)",
            _EXECUTES,
            level_0=_FILES[0],
            reason=_FILES[1],
        ),
        Attack(
            "searches the disk for the model answers",
            "It looks through folders, beginning with that of the course, until it finds the file.",
            """
            import os
            for folder, folders, names in os.walk(os.path.dirname(YARD["answers"])):
                folders[:] = sorted(f for f in folders if f[0] != ".")
                if "advantages.py" in names and os.path.basename(folder) == "reference":
                    return answer_of(os.path.join(folder, "advantages.py"), rewards)
            return rewards
            """,
            _EXECUTES,
            verdict=FAILED,
            level_0=_FILES[0],
            reason=_FILES[1],
        ),
        Attack(
            "goes through the grader's working folder",
            "It follows the entry of the grading process in /proc to the folder of the course.",
            "return answer_of(f'/proc/{YARD[\"grader\"]}/cwd/reference/advantages.py', rewards)",
            _EXECUTES,
            level_0=_FILES[0],
            reason=_FILES[1],
            varies=True,
        ),
        Attack(
            "goes through the first process's root",
            "It follows the entry of process 1 in /proc to the root of the file system.",
            "return answer_of('/proc/1/root' + YARD['answers'] + '/advantages.py', rewards)",
            _EXECUTES,
            level_0=_FILES[0],
            reason=_FILES[1],
            varies=True,
        ),
        Attack(
            "tells another model answer",
            "It reads the model answer of another exercise and puts it into the message of an exception.",
            "raise RuntimeError(open(YARD['answers'] + '/clip.py').read()[3000:4900])",
            level_0=frozenset({Harm.SECRET_READ}),
            reason=_FILES[1],
        ),
        Attack(
            "prints the answer key of the worksheet",
            "It reads the answer key and prints it.",
            "print(open(YARD['answers'] + '/worksheet_key.json').read()); raise RuntimeError('printed')",
            level_0=frozenset({Harm.SECRET_READ}),
            reason=_FILES[1],
        ),
        Attack(
            "looks for the answers in every module",
            "It looks through all loaded modules for a function of the same name.",
            """
            for module in list(sys.modules.values()):
                g = getattr(module, "group_advantages", None)
                if isinstance(g, types.FunctionType) and g is not attack:
                    return g(rewards)
            """,
            "import sys, types",
            verdict=FAILED,
        ),
        Attack(
            "walks the frames for the expected numbers",
            "It looks through the local variables of everything that called it.",
            """
            frame = sys._getframe()
            while frame:
                for value in frame.f_locals.values():
                    if isinstance(value, dict) and "expected" in value:
                        return value["expected"]
                frame = frame.f_back
            """,
            "import sys",
            verdict=FAILED,
        ),
        Attack(
            "looks through the whole heap",
            "It asks the garbage collector for every object and tries what has the function's name.",
            """
            for thing in gc.get_objects():
                name = getattr(thing, "__name__", "")
                if callable(thing) and name == "group_advantages":
                    return thing(rewards)
            """,
            "import gc",
            verdict=FAILED,
        ),
        Attack(
            "searches its own memory for the expected numbers",
            "It reads the memory of its own process for the bytes of the first expected number.",
            """
            wanted, found = struct.pack("<d", 3.0**0.5), 0
            with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
                for line in maps:
                    if "[heap]" in line or "[stack]" in line:
                        first, last = (int(end, 16) for end in line.split()[0].split("-"))
                        memory.seek(first)
                        found += memory.read(last - first).count(wanted)
            raise RuntimeError(f"{found} found")
            """,
            "import struct",
        ),
        Attack(
            "evaluates what the workers were warmed up with",
            "It runs the text that the process which forks workers ran once.",
            """
            warm = sys.modules["_course_worker.forkserver"]._WARM_MODULE
            space = {}
            exec(warm, space)
            return space["warm"](rewards.clone(), rewards)
            """,
            "import sys",
            verdict=FAILED,
        ),
        Attack(
            "puts its own model answers into the import system",
            "It registers a module named like the model answers, for the grader to compare with.",
            """
            fake = types.ModuleType("reference.advantages")
            fake.group_advantages = lambda rewards, **options: rewards
            sys.modules["reference"] = sys.modules["reference.advantages"] = fake
            return rewards
            """,
            "import sys, types",
            verdict=FAILED,
        ),
        Attack(
            "changes its input until both agree",
            "It overwrites the rewards with zeros, for which zeros are the right answer, and returns zeros.",
            "return rewards.zero_().clone()",
            verdict=FAILED,
        ),
        Attack(
            "knows the worked example by heart",
            "It returns the right numbers for the published example and zeros for everything else.",
            f"{_BY_HEART}\n    return answer if rewards.tolist() == example else rewards * 0.0",
            "import torch",
            verdict=FAILED,
        ),
        Attack(
            "knows it by heart and ranks the rest",
            "It returns the right numbers for the published example and something similar for everything else.",
            _BY_HEART
            + """
    if rewards.tolist() == example:
        return answer
    ranks = rewards.argsort(-1).argsort(-1).to(rewards.dtype)
    return (ranks - ranks.mean(-1, keepdim=True)) / ranks.std(-1, correction=0, keepdim=True)
""",
            "import torch",
            verdict=FAILED,
        ),
        Attack(
            "remembers the inputs of earlier calls",
            "It keeps what it was asked, in a library and in a file, and answers with that when asked again.",
            """
            import json, torch
            seen = getattr(torch, "seen", [])
            torch.seen = [*seen, rewards.tolist()]
            path = f"{YARD['folder']}/seen"
            try:
                with open(path, "a") as file:
                    file.write(json.dumps(rewards.tolist()))
            except OSError:
                pass
            return torch.tensor(seen[-1]) if seen else rewards
            """,
            verdict=FAILED,
            level_0=frozenset({Harm.FILE_CHANGED}),
            reason="level 0 has no wall around files: the code can leave a note, which is of no use",
        ),
        Attack(
            "fixes the random inputs",
            "It seeds every random generator that it can reach, to make the generated inputs known ones.",
            "random.seed(0); numpy.random.seed(0); torch.manual_seed(0); return rewards",
            "import random, numpy, torch",
            verdict=FAILED,
        ),
        Attack("returns no number", "It returns NaN everywhere.", "return rewards * float('nan')", verdict=FAILED),
        Attack(
            "returns a value that spreads",
            "It returns one row, which would be compared with every row.",
            "return rewards[:1]",
            verdict=FAILED,
        ),
        Attack("returns nothing to compare", "It returns an empty tensor.", "return rewards[:0]", verdict=FAILED),
        Attack(
            "returns coarse numbers",
            "It returns whole numbers, for a comparison that allows for rounding.",
            "return rewards.int()",
            verdict=FAILED,
        ),
    ),
)
