"""Attacks on what all processes of one user share: locks, leases, queues, timers, the disk's cache, and their quotas.

They are aimed at whoever is graded at the same time: a library that cannot be opened, or is read from the disk again,
costs time that counts as the other submission's own.
"""

from __future__ import annotations

from .attack import Attack, Harm, Topic

_IPC = "level 0 shares queues and shared memory with every process of the user"
_LIBC = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def needs(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
"""
_QUEUE = f"{_LIBC}\nqueue = lambda: needs(libc.msgget(YARD['their_key'], 0))"

TOPIC = Topic(
    "Take what all share",
    (
        Attack(
            "holds a library back",
            "It takes a lease on a file of a library, so that whoever opens that waits until the lease is given back.",
            """
            with open(this, "rb") as library:
                fcntl.fcntl(library, fcntl.F_SETLEASE, fcntl.F_WRLCK)
            raise RuntimeError("done")
            """,
            "import fcntl, os; this = os.path.join(os.path.dirname(os.__file__), 'this.py')",
        ),
        Attack(
            "locks a library",
            "It locks a file of a library for itself.",
            "fcntl.flock(open(this, 'rb'), fcntl.LOCK_EX); raise RuntimeError('done')",
            "import fcntl, os; this = os.path.join(os.path.dirname(os.__file__), 'this.py')",
        ),
        Attack(
            "locks a part of a library",
            "It takes a thousand locks on single bytes of a file, which no limit counts.",
            """
            for byte in range(1000):
                fcntl.lockf(library, fcntl.LOCK_SH, 1, 2 * byte)
            raise RuntimeError("done")
            """,
            "import fcntl, os; library = open(os.path.join(os.path.dirname(os.__file__), 'this.py'), 'rb')",
        ),
        Attack(
            "watches a folder of libraries",
            "It asks for a signal whenever somebody reads in a folder.",
            """
            fcntl.fcntl(folder, fcntl.F_NOTIFY, fcntl.DN_ACCESS | fcntl.DN_MULTISHOT)
            raise RuntimeError("done")
            """,
            "import fcntl, os; folder = os.open(os.path.dirname(os.__file__), os.O_RDONLY)",
        ),
        Attack(
            "takes all timers",
            "It makes a thousand timers, each of which takes one of the signals that the user may have waiting.",
            """
            made = ctypes.c_void_p()
            for _ in range(1000):
                needs(libc.timer_create(1, None, ctypes.byref(made)))
            raise RuntimeError("done")
            """,
            _LIBC,
        ),
        Attack(
            "takes the places for asynchronous reading",
            "It asks for queues of asynchronous reading, of which the whole machine has a fixed number.",
            """
            context = ctypes.c_ulong()
            needs(libc.syscall({"x86_64": 206, "aarch64": 0}[os.uname().machine], 1000, ctypes.byref(context)))
            raise RuntimeError("done")
            """,
            _LIBC,
        ),
        Attack(
            "writes all disks",
            "It asks the kernel to write everything that anybody has written to the disks, for which all wait.",
            "libc.sync() if needs(libc.syncfs(1)) else libc.sync(); raise RuntimeError('done')",
            _LIBC,
            not_at_level_0="every program on the machine would wait for its disks",
        ),
        Attack(
            "makes a library slow",
            "It takes a library out of memory, so that it has to be read from the disk again.",
            """
            os.posix_fadvise(os.open(os.__file__, os.O_RDONLY), 0, 0, os.POSIX_FADV_DONTNEED)
            raise RuntimeError("done")
            """,
            "import os",
        ),
        Attack(
            "reads a queue of others",
            "It takes the message out of a queue of another program.",
            """
            message = ctypes.create_string_buffer(1000)
            needs(libc.msgrcv(queue(), message, 900, 0, 0o4000))
            raise RuntimeError(message.raw[8:].rstrip(bytes(1)).decode())
            """,
            _QUEUE,
            level_0=frozenset({Harm.SECRET_READ, Harm.PROCESS_DISTURBED}),
            reason=_IPC,
        ),
        Attack(
            "removes a queue of others",
            "It removes the queue of another program.",
            "needs(libc.msgctl(queue(), 0, None)); raise RuntimeError('done')",
            _QUEUE,
            level_0=frozenset({Harm.PROCESS_DISTURBED}),
            reason=_IPC,
        ),
        Attack(
            "reads shared memory of others",
            "It attaches the shared memory of another program and tells what stands there.",
            """
            libc.shmat.restype = ctypes.c_void_p
            number = needs(libc.shmget(YARD["their_key"], 0, 0))
            place = libc.shmat(number, None, 0o10000)
            if place == ctypes.c_void_p(-1).value:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
            raise RuntimeError(ctypes.string_at(place).decode())
            """,
            _LIBC,
            level_0=frozenset({Harm.SECRET_READ}),
            reason=_IPC,
        ),
        Attack(
            "removes shared memory of others",
            "It removes the shared memory of another program.",
            "needs(libc.shmctl(needs(libc.shmget(YARD['their_key'], 0, 0)), 0, None)); raise RuntimeError('done')",
            _LIBC,
            level_0=frozenset({Harm.PROCESS_DISTURBED}),
            reason=_IPC,
        ),
        Attack(
            "removes semaphores of others",
            "It removes the semaphores of another program, which then waits for nobody.",
            "needs(libc.semctl(needs(libc.semget(YARD['their_key'], 0, 0)), 0, 0)); raise RuntimeError('done')",
            _LIBC,
            level_0=frozenset({Harm.PROCESS_DISTURBED}),
            reason=_IPC,
        ),
    ),
)
