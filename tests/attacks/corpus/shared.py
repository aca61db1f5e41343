"""Attacks on what all processes of one user share: locks, leases, queues, timers, the disk's cache, and their quotas.

They are aimed at submissions graded at the same time: a library that cannot be opened, or is read from the disk again,
costs time that counts as the other submission's own.
"""

TITLE = "Take what all processes share"
SHARED = {"THIS": "this = os.path.join(os.path.dirname(os.__file__), 'this.py')"}
ATTACKS = r"""
leases a library file: others wait until the lease is given back
- uses THIS
    with open(this, "rb") as library:
        fcntl.fcntl(library, fcntl.F_SETLEASE, fcntl.F_WRLCK)

locks a library file
- uses THIS
    fcntl.flock(open(this, 'rb'), fcntl.LOCK_EX)

locks single bytes of a library: a thousand locks, which no limit counts
- uses THIS
    library = open(this, "rb")
    for byte in range(1000):
        fcntl.lockf(library, fcntl.LOCK_SH, 1, 2 * byte)

watches a library folder: asks for a signal whenever somebody reads in it
    folder = os.open(os.path.dirname(os.__file__), os.O_RDONLY)
    fcntl.fcntl(folder, fcntl.F_NOTIFY, fcntl.DN_ACCESS | fcntl.DN_MULTISHOT)

takes all timers: each takes one of the user's pending signals
    made = ctypes.c_void_p()
    for _ in range(1000):
        needs(libc.timer_create(1, None, ctypes.byref(made)))

takes all asynchronous reads: the machine has a fixed number of places
    context = ctypes.c_ulong()
    needs(libc.syscall({"x86_64": 206, "aarch64": 0}[os.uname().machine], 1000, ctypes.byref(context)))

flushes all disks: everybody waits for them
- dangerous: every program on the machine would wait for its disks
    needs(libc.syncfs(1)); libc.sync()

makes a library slow: drops it from memory, so that it is read from the disk again
    os.posix_fadvise(os.open(os.__file__, os.O_RDONLY), 0, 0, os.POSIX_FADV_DONTNEED)

reads another program's queue
- level 0: secret read, process disturbed (memory)
    message = ctypes.create_string_buffer(1000)
    needs(libc.msgrcv(needs(libc.msgget(YARD["their_key"], 0)), message, 900, 0, 0o4000))
    raise RuntimeError(message.raw[8:].rstrip(bytes(1)).decode())

removes another program's queue
- level 0: process disturbed (memory)
    needs(libc.msgctl(needs(libc.msgget(YARD["their_key"], 0)), 0, None))

reads another program's shared memory
- level 0: secret read (memory)
    libc.shmat.restype = ctypes.c_void_p
    place = libc.shmat(needs(libc.shmget(YARD["their_key"], 0, 0)), None, 0o10000)
    needs(-1 if place == ctypes.c_void_p(-1).value else 0)
    raise RuntimeError(ctypes.string_at(place).decode())

removes another program's shared memory
- level 0: process disturbed (memory)
    needs(libc.shmctl(needs(libc.shmget(YARD['their_key'], 0, 0)), 0, None))

removes another program's semaphores
- level 0: process disturbed (memory)
    needs(libc.semctl(needs(libc.semget(YARD['their_key'], 0, 0)), 0, 0))
"""
