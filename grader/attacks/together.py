"""Attacks on whoever is graded at the same time: take what one user's processes share, and hold it as long as may be.

`shared.py` asks whether such a call is refused; these go on trying while a neighbor is graded.
"""

from __future__ import annotations

from ..core.result import FAILED
from .attack import Attack, Harm, Topic

_OPEN = "level 0 has no wall between the folders of two submissions"
_HOLD = """
import time
end = time.monotonic() + 0.6 * YARD["limit"]

def tried(action, *arguments):
    try:
        return action(*arguments)
    except (OSError, ValueError, RuntimeError):
        return None

def hold():
    while time.monotonic() < end:
        time.sleep(0.05)
    raise RuntimeError("done")
"""
_LIBC = f"{_HOLD}\nimport ctypes, os; libc = ctypes.CDLL(None, use_errno=True)"
_LIBRARIES = f"""{_HOLD}
import fcntl, os
folder = os.path.dirname(os.__file__)
LIBRARIES = [os.path.join(folder, name) for name in ("colorsys.py", "tempfile.py", "random.py", "glob.py")]
opened = [tried(open, path, "rb") for path in LIBRARIES]
"""

TOPIC = Topic(
    "Take what a neighbor needs",
    (
        Attack(
            "holds leases while a neighbor imports",
            "It takes leases on libraries that a neighbor imports and keeps asking for them.",
            """
            while time.monotonic() < end:
                for file in filter(None, opened):
                    tried(fcntl.fcntl, file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
                    tried(fcntl.fcntl, file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
                time.sleep(0.01)
            hold()
            """,
            _LIBRARIES,
        ),
        Attack(
            "holds every kind of lock",
            "It takes locks of the three kinds on libraries, whole and of single bytes, and holds them.",
            """
            for file in filter(None, opened):
                tried(fcntl.flock, file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                tried(fcntl.lockf, file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                tried(fcntl.fcntl, file, 37, bytes(32))  # F_OFD_SETLK
            hold()
            """,
            _LIBRARIES,
        ),
        Attack(
            "holds pipes full of bytes",
            "It fills as many pipes as it may open, whose pages the kernel counts for the user.",
            """
            held = []
            while pair := tried(os.pipe):
                os.set_blocking(pair[1], False)
                tried(fcntl.fcntl, pair[1], 1031, 1 << 20)  # F_SETPIPE_SZ
                tried(os.write, pair[1], bytes(1 << 20))
                held.append(pair)
            hold()
            """,
            f"import fcntl, os\n{_HOLD}",
        ),
        Attack(
            "holds every event",
            "It opens all the epoll and event descriptors that it may and lets them watch each other.",
            """
            events = [libc.eventfd(1, 0) for _ in range(50)]
            polls = [poll for _ in range(50) if (poll := tried(select.epoll))]
            for poll in polls:
                for event in events:
                    tried(poll.register, event)
            hold()
            """,
            f"import select\n{_LIBC}",
        ),
        Attack(
            "holds every watch",
            "It asks to watch each library, of which a user may watch a fixed number.",
            """
            watcher = libc.inotify_init()
            for path in LIBRARIES * 10_000:
                if libc.inotify_add_watch(watcher, path.encode(), 4095) < 0:
                    break
            hold()
            """,
            f"{_LIBRARIES}\n{_LIBC}",
        ),
        Attack(
            "holds every key",
            "It fills the user's keyring, whose size has a limit.",
            """
            for number in range(300):
                libc.syscall(KEYS, b"user", b"k%d" % number, bytes(1000), 1000, -4)
            hold()
            """,
            f"{_LIBC}\nKEYS = {{'x86_64': 248, 'aarch64': 217}}[os.uname().machine]",
        ),
        Attack(
            "holds signals back",
            "It blocks every signal and sends itself as many as may wait, which the kernel counts for the user.",
            """
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGRTMIN})
            for _ in range(40_000):
                if libc.sigqueue(os.getpid(), signal.SIGRTMIN, None) != 0:
                    break
            hold()
            """,
            f"import signal\n{_LIBC}",
        ),
        Attack(
            "holds timers",
            "It makes all the timers that it may, of every kind that there is, and lets them ring.",
            """
            signal.signal(signal.SIGALRM, signal.SIG_IGN)
            signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
            made = ctypes.c_void_p()
            for clock in range(12):
                for _ in range(500):
                    if libc.timer_create(clock, None, ctypes.byref(made)) != 0:
                        break
            timers = [libc.timerfd_create(1, 0) for _ in range(60)]
            hold()
            """,
            f"import signal\n{_LIBC}",
        ),
        Attack(
            "holds objects that outlive it",
            "It makes a thousand queues, semaphores and segments, of which the kernel has a fixed number for all.",
            """
            for number in range(1000):  # not all that there are: this one would outlive a wall with a hole
                key = 0 if number else YARD["key"]
                made = [libc.msgget(key, 0o1666), libc.semget(key, 100, 0o1666), libc.shmget(key, 4096, 0o1666)]
                if max(made) < 0:
                    break
            hold()
            """,
            _LIBC,
            not_at_level_0="they would stay on the machine",
        ),
        Attack(
            "holds the disk",
            "It fills its own folder to the limit, and every folder for temporary files that it can reach.",
            """
            for folder in (".", "/tmp", "/var/tmp", "/dev/shm", os.path.dirname(os.getcwd())):
                for number in range(40):
                    file = tried(open, os.path.join(folder, f"{YARD['mark']}-{number}"), "wb")
                    if file is None or tried(file.write, bytes(1 << 20)) is None:
                        break
                    tried(file.close)
            hold()
            """,
            f"import os\n{_HOLD}",
            level_0=frozenset({Harm.FILE_CHANGED}),
            reason="level 0 has no wall around files: the code can read and write what the person who grades can",
        ),
        Attack(
            "empties a neighbor's folder",
            "It looks for the folders of other workers beside its own and deletes what it finds there.",
            """
            above = os.path.dirname(os.getcwd())
            while time.monotonic() < end:
                for name in tried(os.listdir, above) or ():
                    if os.path.join(above, name) != os.getcwd() and "yard" not in name:
                        tried(os.rmdir, os.path.join(above, name)) if hostile(name) else None
                time.sleep(0.05)
            hold()
            """,
            f"""import os
{_HOLD}
def hostile(name):
    return name.startswith(os.path.basename(os.getcwd())[:6])  # what a worker's folder is called
""",
        ),
        Attack(
            "reads a neighbor's process",
            "It looks through all processes for memory, environment, open files or a folder that it may read.",
            """
            while time.monotonic() < end:
                for process in filter(str.isdigit, tried(os.listdir, "/proc") or ()):
                    if int(process) in (os.getpid(), 1):
                        continue
                    for what in ("environ", "mem", "maps", "stack", "fd/0", "cwd/advantages.py"):
                        if tried(open, f"/proc/{process}/{what}", "rb"):
                            raise RuntimeError(YARD["found"])
                time.sleep(0.1)
            hold()
            """,
            f"import os\n{_HOLD}",
            level_0=frozenset({Harm.SECRET_READ}),
            reason="level 0 has no wall between the processes of one user",
            varies=True,
        ),
        Attack(
            "sits on a neighbor's core",
            "It asks for more than its share of a core and computes there until its time is over.",
            """
            tried(os.nice, -10)
            tried(os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(10))
            tried(os.sched_setaffinity, 0, {max(os.sched_getaffinity(0))})
            while time.monotonic() < end:
                pass
            return rewards
            """,
            f"import os\n{_HOLD}",
            verdict=FAILED,
        ),
        Attack(
            "empties the caches of a core",
            "It walks through as much memory as it may have, so that whoever computes beside it waits for memory.",
            """
            filler = torch.zeros(1 << 23)
            while time.monotonic() < end:
                filler += 1.0
            return rewards
            """,
            f"import torch\n{_HOLD}",
            verdict=FAILED,
        ),
        Attack(
            "pushes libraries out of memory",
            "It asks the kernel to drop the pages of libraries that a neighbor has mapped, again and again.",
            """
            size = os.path.getsize(torch._C.__file__)
            mapped = mmap.mmap(os.open(torch._C.__file__, os.O_RDONLY), size, mmap.MAP_SHARED, mmap.PROT_READ)
            while time.monotonic() < end:
                for advice in (4, 8, 20, 21):
                    tried(mapped.madvise, advice)
                time.sleep(0.01)
            hold()
            """,
            f"import mmap, os, torch\n{_HOLD}",
        ),
        Attack(
            "starts threads and holds them",
            "It starts all the threads that it may and keeps them as long as it lives.",
            """
            try:
                for _ in range(5000):
                    threading.Thread(target=hold_still, daemon=True).start()
            except RuntimeError:
                pass
            hold()
            """,
            f"""import threading
{_HOLD}
def hold_still():
    time.sleep(20)
threading.stack_size(64 << 10)
""",
        ),
    ),
)
