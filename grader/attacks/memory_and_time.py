"""Attacks on time and memory: never end, end badly, or take all that the machine has."""

from __future__ import annotations

from ..core.result import FAILED, PASSED
from .attack import Attack, Harm, Topic

_LEFT = frozenset({Harm.MEMORY_LEFT})
_NAMES = "level 0 shares the names of shared memory with everybody on the machine"

TOPIC = Topic(
    "Take time and memory",
    (
        Attack("loops for ever", "It never returns.", "while True: pass"),
        Attack("loops for ever when imported", "It never gets to its function.", "return rewards", "while True: pass"),
        Attack("sleeps", "It sleeps, which a limit of processor time does not see.", "time.sleep(1e6)", "import time"),
        Attack(
            "loops in C",
            "It computes a power that takes days, and Python gets no chance to stop it.",
            "return 10 ** (10 ** 9)",
        ),
        Attack(
            "matches for ever",
            "It gives the regular expression engine a pattern that takes years.",
            "import re; re.match('(a+)+$', 'a' * 60 + 'b'); return rewards",
        ),
        Attack(
            "catches everything in a loop",
            "It catches whatever would stop it and goes on.",
            """
            while True:
                try:
                    while True:
                        pass
                except BaseException:
                    pass
            """,
        ),
        Attack(
            "ignores polite signals",
            "It ignores every signal that a process may ignore, and sleeps.",
            """
            import signal, time
            for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
                try:
                    signal.signal(number, signal.SIG_IGN)
                except (OSError, ValueError):
                    pass
            time.sleep(1e6)
            """,
        ),
        Attack(
            "takes nearly all the time it has",
            "It answers just before the time limit, each time.",
            "import time; time.sleep(YARD['limit'] - 0.5); return rewards",
            verdict=FAILED,
        ),
        Attack(
            "turns the clock",
            "It replaces every clock of Python by one that stands still.",
            """
            for name in ("time", "monotonic", "perf_counter", "process_time"):
                setattr(time, name, lambda: 0.0)
            return honest(rewards)
            """,
            "import time",
            verdict=PASSED,
        ),
        Attack(
            "sets an alarm",
            "It asks for a signal every millisecond, with a handler that raises.",
            """
            import signal
            def ring(*_):
                raise KeyboardInterrupt("ring")
            signal.signal(signal.SIGALRM, ring)
            signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
            while True:
                pass
            """,
        ),
        Attack(
            "recurses without end",
            "It lifts Python's limit and calls itself.",
            """
            sys.setrecursionlimit(10**9)
            return [*map(attack, [rewards])]
            """,
            "import sys",
        ),
        Attack("crashes", "It reads from address 0.", "import ctypes; ctypes.string_at(0)"),
        Attack("aborts", "It asks the system to abort its process.", "import os; os.abort()"),
        Attack("leaves with success", "It ends its process with exit status 0.", "import os; os._exit(0)"),
        Attack(
            "leaves with success when imported",
            "It ends its process before the grader has called anything.",
            "return rewards",
            "import os; os._exit(0)",
        ),
        Attack("exits politely", "It raises SystemExit.", "import sys; sys.exit(0)"),
        Attack("exits politely when imported", "It raises SystemExit.", "return rewards", "import sys; sys.exit(0)"),
        Attack(
            "takes all memory",
            "It collects bytes until there are no more.",
            """
            taken = []
            while True:
                taken.append(bytearray(1 << 24))
            """,
        ),
        Attack(
            "takes 40 GB at once",
            "It asks torch for a tensor that is larger than the machine.",
            "import torch; return torch.ones(5 * 10**9, dtype=torch.float64)",
        ),
        Attack(
            "takes shared memory",
            "It maps 40 GB that belong to no process alone.",
            "import mmap; mmap.mmap(-1, 40 << 30); raise RuntimeError('done')",
        ),
        Attack(
            "takes memory as a file",
            "It makes a file that lies in memory and writes 64 MB to it.",
            """
            import os
            file = os.memfd_create("filler")
            for _ in range(64):
                os.write(file, bytes(1 << 20))
            raise RuntimeError("done")
            """,
        ),
        Attack(
            "locks its memory",
            "It forbids the system to move its memory out of the way.",
            """
            import ctypes
            failed = ctypes.CDLL(None).mlockall(3)
            return rewards
            """,
            verdict=FAILED,
        ),
        Attack(
            "opens files without end",
            "It opens a file again and again and closes none.",
            """
            opened = []
            while True:
                opened.append(open("/dev/null"))
            """,
        ),
        Attack(
            "leaves a segment of memory",
            "It makes a segment of System V shared memory, which outlives its process.",
            """
            import ctypes, os
            libc = ctypes.CDLL(None, use_errno=True)
            if libc.shmget(YARD["key"], 1 << 20, 0o1666) < 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
            raise RuntimeError("done")
            """,
            level_0=_LEFT,
            reason=_NAMES,
        ),
        Attack(
            "leaves a semaphore",
            "It makes System V semaphores, of which a machine has few.",
            """
            import ctypes, os
            libc = ctypes.CDLL(None, use_errno=True)
            if libc.semget(YARD["key"], 10, 0o1666) < 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
            raise RuntimeError("done")
            """,
            level_0=_LEFT,
            reason=_NAMES,
        ),
        Attack(
            "leaves a message",
            "It makes a System V message queue.",
            """
            import ctypes, os
            libc = ctypes.CDLL(None, use_errno=True)
            if libc.msgget(YARD["key"], 0o1666) < 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
            raise RuntimeError("done")
            """,
            level_0=_LEFT,
            reason=_NAMES,
        ),
        Attack(
            "leaves named shared memory",
            "It makes POSIX shared memory, the kind of Python's own library.",
            """
            from multiprocessing import shared_memory
            shared_memory._USE_POSIX and shared_memory._posixshmem.shm_open(YARD["mark"], 0o102, mode=0o666)
            raise RuntimeError("done")
            """,
            level_0=frozenset({Harm.MEMORY_LEFT, Harm.FILE_CHANGED}),
            reason=f"{_NAMES}; it is a file in /dev/shm as well",
        ),
        Attack(
            "leaves a message queue",
            "It makes a POSIX message queue.",
            """
            import ctypes, os
            libc = ctypes.CDLL(None, use_errno=True)
            if libc.mq_open(f"/{YARD['mark']}".encode(), 0o102, 0o666, None) < 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
            raise RuntimeError("done")
            """,
            level_0=_LEFT,
            reason=_NAMES,
        ),
    ),
)
