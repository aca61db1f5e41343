"""Attacks on time and memory: never end, end badly, or take all that the machine has."""

TITLE = "Take time and memory"
SHARED: dict[str, str] = {}
ATTACKS = r"""
loops forever
    while True: pass

loops forever on import
    while True: pass
    ----

sleeps forever: uses no processor time
    time.sleep(1e6)

loops in C: computes a power that takes days, and Python cannot interrupt it
    return 10 ** (10 ** 9)

matches forever: a regular expression that takes years
    import re; re.match('(a+)+$', 'a' * 60 + 'b'); return rewards

catches everything in a loop
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass

ignores polite signals: and sleeps
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        tried(signal.signal, number, signal.SIG_IGN)
    time.sleep(1e6)

uses nearly all its time: answers just before the limit of every call
- failed
    time.sleep(YARD['limit'] / 2)

stops the clock: replaces all of Python's clocks
- passed
    for name in ("time", "monotonic", "perf_counter", "process_time"):
        setattr(time, name, lambda: 0.0)

sets an alarm: a signal every millisecond, with a handler that raises
    def ring(*_):
        raise KeyboardInterrupt("ring")
    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    while True:
        pass

recurses without end: lifts Python's limit first
    sys.setrecursionlimit(10**9)
    return [*map(attack, [rewards])]

crashes: reads address 0
    ctypes.string_at(0)

aborts
    os.abort()

exits with status 0
    os._exit(0)

exits on import
    os._exit(0)
    ----

raises SystemExit
    sys.exit(0)

raises SystemExit on import
    sys.exit(0)
    ----

takes all memory
    taken = []
    while True:
        taken.append(bytes(1 << 24))

takes 40 GB at once
    return torch.ones(5 * 10**9, dtype=torch.float64)

takes 40 GB of shared memory
    mmap.mmap(-1, 40 << 30)

takes memory as a file: writes 64 MB to a file that lies in memory
    file = os.memfd_create("filler")
    for _ in range(64):
        os.write(file, bytes(1 << 20))

locks its memory: keeps the system from moving it out
- failed
    libc.mlockall(3)

opens endless files
    opened = []
    while True:
        opened.append(open("/dev/null"))

leaves a memory segment: System V shared memory outlives its process
- level 0: memory left behind (memory)
    needs(libc.shmget(YARD["key"], 1 << 20, 0o1666))

leaves a semaphore
- level 0: memory left behind (memory)
    needs(libc.semget(YARD["key"], 10, 0o1666))

leaves a System V message queue
- level 0: memory left behind (memory)
    needs(libc.msgget(YARD["key"], 0o1666))

leaves named shared memory: which is a file in /dev/shm as well
- level 0: memory left behind, file changed (memory)
    from multiprocessing import shared_memory
    shared_memory._USE_POSIX and shared_memory._posixshmem.shm_open(YARD["mark"], 0o102, mode=0o666)

leaves a POSIX message queue
- level 0: memory left behind (memory)
    needs(libc.mq_open(f"/{YARD['mark']}".encode(), 0o102, 0o666, None))

waits as if for a disk: membarrier puts it into the same state
    while True:
        libc.syscall(324, 1, 0, 0)
"""
