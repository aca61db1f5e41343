"""Attacks that are handed in twice: the first leaves a note, the second looks for it.

A grading must not know what an earlier one has seen. Each way in which a process could be told something is tried once:
`YARD["round"]` says which time it is.
"""

from __future__ import annotations

from ..core.result import FAILED
from .attack import Attack, Harm, Topic

_FILES = "level 0 has no wall around files: the code can leave a note"
_TRIED = """
import os

def tried(action, *arguments):
    try:
        return action(*arguments)
    except (OSError, ValueError):
        return None

def note(leave, look):
    if YARD["round"] == 1:
        tried(leave)
    elif tried(look):
        raise RuntimeError(YARD["found"])
"""
_LIBC = f"{_TRIED}\nimport ctypes; libc = ctypes.CDLL(None, use_errno=True)"


def _twice(
    name: str, tries: str, body: str, top: str = _TRIED, *, level_0: frozenset[Harm] = frozenset(), reason: str = ""
) -> Attack:
    end = f"{body}\nreturn rewards"
    return Attack(name, tries, end, top, verdict=FAILED, rounds=2, level_0=level_0, reason=reason, varies=bool(reason))


_READ = frozenset({Harm.SECRET_READ, Harm.FILE_CHANGED, Harm.MEMORY_LEFT})

TOPIC = Topic(
    "Carry a note into the next hand-in",
    (
        _twice(
            "leaves a note in its folder",
            "It writes a file into the folder in which it may write, and looks for it the next time.",
            "note(lambda: open('note', 'w').close(), lambda: os.path.exists('note'))",
        ),
        _twice(
            "leaves a note in a cache",
            "It writes into the folders in which matplotlib and torch keep what they cache.",
            """
names = ("HOME", "MPLCONFIGDIR", "TORCHINDUCTOR_CACHE_DIR", "TMPDIR")
places = [os.environ[name] for name in names if name in os.environ]
note(
    lambda: [os.makedirs(place, exist_ok=True) or open(f"{place}/note", "w").close() for place in places],
    lambda: any(os.path.exists(f"{place}/note") for place in places),
)
""",
        ),
        _twice(
            "leaves a note for everybody",
            "It writes into the folders in which every user may write.",
            """
places = [f"{place}/{YARD['mark']}" for place in ("/tmp", "/var/tmp", "/dev/shm")]
note(lambda: [tried(os.close, tried(os.open, place, os.O_CREAT, 0o666) or -1) for place in places],
     lambda: any(map(os.path.exists, places)))
""",
            level_0=_READ,
            reason=_FILES,
        ),
        _twice(
            "leaves a note in the yard",
            "It writes a file beside those of the grader.",
            "note(lambda: open(YARD['folder'] + '/note', 'w').close(), lambda: open(YARD['folder'] + '/note'))",
            level_0=_READ,
            reason=_FILES,
        ),
        _twice(
            "leaves a compiled library",
            "It lays a compiled file into the folder where Python looks for those of the library.",
            """
place = os.path.join(os.path.dirname(os.__file__), "__pycache__", f"{YARD['mark']}.pyc")
note(lambda: open(place, "wb").close(), lambda: os.path.exists(place))
tried(os.unlink, place)
""",
        ),
        _twice(
            "leaves a note in torch",
            "It sets an attribute of a library that is imported before it, in the memory that workers start from.",
            "note(lambda: setattr(torch, YARD['mark'], 1), lambda: hasattr(torch, YARD['mark']))",
            f"import torch\n{_TRIED}",
        ),
        _twice(
            "leaves a note in a file's place",
            "It moves the place in each open file, which a process shares with the one that it was forked from.",
            """
note(lambda: [tried(os.lseek, number, 4242, 0) for number in range(64)],
     lambda: any(tried(os.lseek, number, 0, 1) == 4242 for number in range(64)))
""",
        ),
        _twice(
            "leaves a note in a file's flags",
            "It changes flags of each open file, which a process shares with the one that it was forked from.",
            """
def set_flag(number):
    fcntl.fcntl(number, fcntl.F_SETFL, fcntl.fcntl(number, fcntl.F_GETFL) | os.O_NOATIME | 0o20000)
def has_flag(number):
    return fcntl.fcntl(number, fcntl.F_GETFL) & 0o20000
note(lambda: [tried(set_flag, number) for number in (0, *range(3, 64))],
     lambda: any(tried(has_flag, number) for number in (0, *range(3, 64))))
""",
            f"import fcntl\n{_TRIED}",
        ),
        _twice(
            "leaves a note in the kernel",
            "It makes a segment of memory, a queue and a key, which outlive its process.",
            """
key = YARD["key"]
note(lambda: [libc.shmget(key, 4096, 0o1666), libc.msgget(key, 0o1666),
              libc.syscall(KEYS, b"user", YARD["mark"].encode(), b"x", 1, -4)],
     lambda: libc.shmget(key, 0, 0) >= 0 or libc.msgget(key, 0) >= 0 or libc.keyctl(10, -4, b"user", b"x", 0) > 0
     if hasattr(libc, "keyctl") else libc.shmget(key, 0, 0) >= 0 or libc.msgget(key, 0) >= 0)
""",
            f"{_LIBC}\nKEYS = {{'x86_64': 248, 'aarch64': 217}}[os.uname().machine]",
            level_0=frozenset({Harm.SECRET_READ, Harm.MEMORY_LEFT}),
            reason="level 0 shares the names of shared memory with everybody on the machine",
        ),
        _twice(
            "leaves a process to ask",
            "It leaves a process that answers at an abstract address.",
            """
def wait():
    server = socket.socket(socket.AF_UNIX)
    server.bind(f"\\0{YARD['mark']}-note")
    server.listen()
    if os.fork() == 0:
        os.setsid()
        time.sleep(5)
        os._exit(0)
note(wait, lambda: socket.socket(socket.AF_UNIX).connect(f"\\0{YARD['mark']}-note") or True)
""",
            f"import socket, time\n{_TRIED}",
        ),
    ),
)
