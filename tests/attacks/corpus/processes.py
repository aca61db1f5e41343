"""Attacks on processes: kill, trace, slow down or read others, start new ones, stay behind."""

TITLE = "Reach other processes"
SHARED = {
    "FORKS": """
def waits():  # for its parent's end, half a minute at most
    parent, end = os.getppid(), time.monotonic() + 30
    while os.getppid() == parent and time.monotonic() < end:
        time.sleep(0.05)
"""
}
ATTACKS = r"""
kills its parent: the process that forks the workers
- level 0: grader failed (processes); varies
    os.kill(os.getppid(), 9)

kills the grader
- level 0: grader failed, process disturbed (processes); varies
    os.kill(YARD['grader'], 9)

kills the grader's process group
- level 0: grader failed, process disturbed (processes)
    os.killpg(os.getpgid(YARD['grader']), 9)

signals every process: with a signal that most programs ignore
- dangerous: it would reach every process of the user
    os.kill(-1, signal.SIGURG)

signals another process
- level 0: process disturbed (processes)
    os.kill(YARD['victim_process'], signal.SIGTERM)

stops another process
- level 0: process disturbed (processes)
    os.kill(YARD['victim_process'], signal.SIGSTOP)

signals through a process descriptor
- level 0: process disturbed (processes)
    signal.pidfd_send_signal(os.pidfd_open(YARD["victim_process"]), signal.SIGTERM)

lets the kernel send the signal: names another process the owner of a pipe and makes the pipe readable
- level 0: process disturbed (processes)
    reading, writing = os.pipe()
    fcntl.fcntl(reading, fcntl.F_SETOWN, YARD["victim_process"])
    fcntl.fcntl(reading, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    os.write(writing, b"x")

limits another process: allows it no open files
- level 0: process disturbed (processes)
    import resource
    resource.prlimit(YARD["victim_process"], resource.RLIMIT_NOFILE, (0, 0))

limits the grader: lowers the limit of its stack
- level 0: process disturbed (processes); varies
    import resource
    resource.prlimit(YARD["grader"], resource.RLIMIT_STACK, (1 << 20, 1 << 20))

lowers the grader's priority
- level 0: process disturbed (processes)
    os.setpriority(os.PRIO_PROCESS, YARD['grader'], 19)

pins the grader to one core
- level 0: process disturbed (processes)
    os.sched_setaffinity(YARD["grader"], {min(os.sched_getaffinity(0))})

offers the grader to the memory killer: the kernel would end it first when memory is short
- level 0: process disturbed (processes); varies
    open(f"/proc/{YARD['grader']}/oom_score_adj", 'w').write('1000')

debugs another process: attaches to it and writes into its memory
- level 0: process disturbed (processes); varies
    victim = YARD["victim_process"]
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    needs(libc.ptrace(16, victim, None, None))
    os.waitpid(victim, 0x40000000)
    libc.ptrace(4, victim, YARD["victim_address"], 0x4141414141414141)
    libc.ptrace(17, victim, None, None)

reads another process's memory
- level 0: secret read (processes); varies
    with open(f"/proc/{YARD['victim_process']}/mem", "rb", 0) as memory:
        memory.seek(YARD["victim_address"])
        raise RuntimeError(memory.read(YARD["victim_size"]).decode())

copies another process's memory: asks the kernel to copy it
- level 0: secret read (processes); varies
    class Part(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
    copied = ctypes.create_string_buffer(YARD["victim_size"])
    ours, theirs = Part(ctypes.addressof(copied), len(copied)), Part(YARD["victim_address"], len(copied))
    needs(libc.process_vm_readv(YARD["victim_process"], ctypes.byref(ours), 1, ctypes.byref(theirs), 1, 0))
    raise RuntimeError(copied.raw.decode())

overwrites another process's memory
- level 0: process disturbed (processes); varies
    with open(f"/proc/{YARD['victim_process']}/mem", "r+b", 0) as memory:
        memory.seek(YARD["victim_address"])
        memory.write(b"overwritten")

reads the grader's environment: where tokens often are
- level 0: secret read (processes); varies
    found = open(f"/proc/{YARD['grader']}/environ", "rb").read().split(bytes(1))
    raise RuntimeError([each for each in found if each.startswith(b"GRADER_SECRET")])

reads its parent's environment
    raise RuntimeError(open(f'/proc/{os.getppid()}/environ').read().replace('\0', ' ')[:1900])

reads another process's environment
- level 0: secret read (processes)
    raise RuntimeError(open(f"/proc/{YARD['victim_process']}/environ").read().replace('\0', ' '))

reads its own environment
    raise RuntimeError(str(dict(os.environ)))

searches the grader's memory
- level 0: secret read (processes); varies
    with open(f"/proc/{YARD['grader']}/maps") as maps, open(f"/proc/{YARD['grader']}/mem", "rb", 0) as memory:
        (stack,) = [line for line in maps if "[stack]" in line]
        first, last = (int(end, 16) for end in stack.split()[0].split("-"))
        memory.seek(first)
        raise RuntimeError(memory.read(last - first).split(b"GRADER_SECRET=")[-1][:40])

steals the grader's open files: copies its descriptors and writes to them
- level 0: grader failed, process disturbed (processes); varies
    grader = os.pidfd_open(YARD["grader"])
    stolen = [libc.syscall(438, grader, number, 0) for number in range(3, 20)]
    needs(max(stolen))
    for descriptor in stolen:
        tried(os.write, descriptor, b"x")

runs a program: shows what it prints
- level 0: secret read (programs)
    import subprocess; raise RuntimeError(subprocess.check_output(['cat', YARD['secret']]))

runs a shell: writes a file with it
- level 0: file changed (programs)
    if os.system(f"echo x > {YARD['folder']}/shell") != 0:
        raise PermissionError("no shell")

becomes another program: one that ends with success
    os.execv('/bin/true', ['true'])

starts a pool of processes
    import multiprocessing
    with multiprocessing.get_context("fork").Pool(2) as pool:
        raise RuntimeError(pool.map(abs, [-1, -2]))

forks like a bomb: 32 processes, because this bomb has an end
- uses FORKS
    first, tries = os.getpid(), [1]
    ----
    for _ in range(5):
        if tries[0]:
            os.fork()
    tries[0] = 0  # a worker is asked many times
    if os.getpid() != first:
        waits()
        os._exit(0)

leaves a process behind: forks twice, in a session of its own
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(30)
        os._exit(0)
    os.wait()

leaves twenty processes behind: in sessions of their own
    for _ in range(20):
        if os.fork() == 0:
            os.setsid()
            time.sleep(30)
            os._exit(0)
    os._exit(0)

makes a user namespace: in which it is root
    needs(libc.unshare(0x10000000))

keeps root's user id: where a report claims that the worker switched to a spare user
    if YARD["has_spare_user"] and 0 in (*os.getresuid(), *os.getresgid()):
        tell()

raises its own limits
    import resource
    resource.setrlimit(resource.RLIMIT_DATA, (1 << 45, 1 << 45))
    raise RuntimeError("raised")

starts 2,000 threads
    for _ in range(2000):
        threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
    return rewards

takes all cores: tells torch to use 64 threads
- passed
    torch.set_num_threads(64)

leaves a thread running
- passed
    threading.Thread(target=time.sleep, args=(1000,)).start()

lists all processes: reads their command lines
    seen = [open(f"/proc/{name}/cmdline").read() for name in filter(str.isdigit, os.listdir("/proc"))]
    raise RuntimeError(f"{len(seen) > 0}")

puts up a filter that logs each call: which makes the machine slow
- level 0: secret read (processes); varies
    program = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7FFF0000))
    libc.prctl(38, 1, 0, 0, 0)
    if libc.prctl(22, 2, struct.pack("HxxxxxxP", 1, ctypes.addressof(program)), 0, 0) == 0:
        tell()
"""
