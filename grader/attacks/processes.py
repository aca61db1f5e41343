"""Attacks on processes: kill, trace, slow down or read others, start new ones, stay behind."""

from __future__ import annotations

from ..core.result import PASSED
from .attack import Attack, Harm, Topic

_FAILED, _READ = frozenset({Harm.GRADER_FAILED}), frozenset({Harm.SECRET_READ})
_DISTURBED = frozenset({Harm.PROCESS_DISTURBED})
_SIGNALS = "level 0 has no wall between processes of the same user"
_TRACING = "level 0 has no wall between processes of the same user; kernels that restrict tracing refuse it"
_ROOT = "level 0 has no wall between processes of the same user; the grader hides itself, but not from root"

TOPIC = Topic(
    "Reach other processes",
    (
        Attack(
            "kills its parent",
            "It kills the process that forks the workers.",
            "import os; os.kill(os.getppid(), 9); raise RuntimeError('done')",
            level_0=_FAILED,
            reason=_SIGNALS,
        ),
        Attack(
            "kills the grader",
            "It kills the grading process.",
            "import os; os.kill(YARD['grader'], 9); raise RuntimeError('done')",
            level_0=_FAILED | _DISTURBED,
            reason=_SIGNALS,
        ),
        Attack(
            "kills the grader's process group",
            "It kills all processes that were started together with the grader.",
            "import os; os.killpg(os.getpgid(YARD['grader']), 9); raise RuntimeError('done')",
            level_0=_FAILED | _DISTURBED,
            reason=_SIGNALS,
        ),
        Attack(
            "signals every process",
            "It sends a signal, which most programs ignore, to all processes that it may signal.",
            "import os, signal; os.kill(-1, signal.SIGURG); raise RuntimeError('done')",
            not_at_level_0="it would reach every process of the person who grades",
        ),
        Attack(
            "signals another process",
            "It sends a signal to a process of the same user.",
            "import os, signal; os.kill(YARD['victim_process'], signal.SIGTERM); raise RuntimeError('done')",
            level_0=_DISTURBED,
            reason=_SIGNALS,
        ),
        Attack(
            "stops another process",
            "It stops a process, so that whoever waits for it waits for ever.",
            "import os, signal; os.kill(YARD['victim_process'], signal.SIGSTOP); raise RuntimeError('done')",
            level_0=_DISTURBED,
            reason=_SIGNALS,
        ),
        Attack(
            "signals through a process descriptor",
            "It opens a descriptor of the process and signals that.",
            """
            import os, signal
            signal.pidfd_send_signal(os.pidfd_open(YARD["victim_process"]), signal.SIGTERM)
            raise RuntimeError("done")
            """,
            level_0=_DISTURBED,
            reason=_SIGNALS,
        ),
        Attack(
            "lets the kernel send the signal",
            "It names another process the owner of a pipe, and makes the pipe readable.",
            """
            import fcntl, os
            reading, writing = os.pipe()
            fcntl.fcntl(reading, fcntl.F_SETOWN, YARD["victim_process"])
            fcntl.fcntl(reading, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
            os.write(writing, b"x")
            raise RuntimeError("done")
            """,
            level_0=_DISTURBED,
            reason=_SIGNALS,
        ),
        Attack(
            "limits another process",
            "It takes all open files from another process by a limit.",
            """
            import resource
            resource.prlimit(YARD["victim_process"], resource.RLIMIT_NOFILE, (0, 0))
            raise RuntimeError("done")
            """,
            level_0=_DISTURBED,
            reason=_SIGNALS,
        ),
        Attack(
            "limits the grader",
            "It lowers a limit of the grading process.",
            """
            import resource
            soft, hard = resource.prlimit(YARD["grader"], resource.RLIMIT_CORE)
            resource.prlimit(YARD["grader"], resource.RLIMIT_STACK, (1 << 20, 1 << 20))
            raise RuntimeError("done")
            """,
            level_0=_DISTURBED,
            reason=_SIGNALS,
            varies=True,
        ),
        Attack(
            "lowers the grader's priority",
            "It makes the grading process the last one to get the processor.",
            "import os; os.setpriority(os.PRIO_PROCESS, YARD['grader'], 19); raise RuntimeError('done')",
            level_0=_DISTURBED,
            reason=_SIGNALS,
        ),
        Attack(
            "pins the grader to one core",
            "It allows the grading process one processor only.",
            """
            import os
            os.sched_setaffinity(YARD["grader"], {min(os.sched_getaffinity(0))})
            raise RuntimeError("done")
            """,
            level_0=_DISTURBED,
            reason=_SIGNALS,
        ),
        Attack(
            "offers the grader to be killed first",
            "It tells the kernel to end the grading process first when memory is short.",
            "open(f\"/proc/{YARD['grader']}/oom_score_adj\", 'w').write('1000'); raise RuntimeError('done')",
            level_0=_DISTURBED,
            reason=_SIGNALS,
            varies=True,
        ),
        Attack(
            "traces another process",
            "It attaches to a process as a debugger does and writes into its memory.",
            """
            import ctypes, os, time
            libc, victim = ctypes.CDLL(None, use_errno=True), YARD["victim_process"]
            libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
            if libc.ptrace(16, victim, None, None) != 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
            os.waitpid(victim, 0x40000000)
            libc.ptrace(4, victim, YARD["victim_address"], 0x4141414141414141)
            libc.ptrace(17, victim, None, None)
            raise RuntimeError("done")
            """,
            level_0=_DISTURBED,
            reason=_TRACING,
            varies=True,
        ),
        Attack(
            "reads the memory of another process",
            "It reads the secret from the file of the process's memory.",
            """
            with open(f"/proc/{YARD['victim_process']}/mem", "rb", 0) as memory:
                memory.seek(YARD["victim_address"])
                raise RuntimeError(memory.read(YARD["victim_size"]).decode())
            """,
            level_0=_READ,
            reason=_TRACING,
            varies=True,
        ),
        Attack(
            "copies the memory of another process",
            "It asks the kernel to copy the secret from one process to the other.",
            """
            import ctypes, os
            libc = ctypes.CDLL(None, use_errno=True)
            copied = ctypes.create_string_buffer(YARD["victim_size"])
            class Part(ctypes.Structure):
                _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
            ours = Part(ctypes.addressof(copied), len(copied))
            theirs = Part(YARD["victim_address"], len(copied))
            if libc.process_vm_readv(YARD["victim_process"], ctypes.byref(ours), 1, ctypes.byref(theirs), 1, 0) < 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
            raise RuntimeError(copied.raw.decode())
            """,
            level_0=_READ,
            reason=_TRACING,
            varies=True,
        ),
        Attack(
            "overwrites the memory of another process",
            "It writes into the file of the process's memory.",
            """
            with open(f"/proc/{YARD['victim_process']}/mem", "r+b", 0) as memory:
                memory.seek(YARD["victim_address"])
                memory.write(b"overwritten")
            raise RuntimeError("done")
            """,
            level_0=_DISTURBED,
            reason=_TRACING,
            varies=True,
        ),
        Attack(
            "reads the environment of the grader",
            "It reads the environment variables of the grading process, where tokens often are.",
            """
            found = open(f"/proc/{YARD['grader']}/environ", "rb").read().split(bytes(1))
            raise RuntimeError([each for each in found if each.startswith(b"GRADER_SECRET")])
            """,
            level_0=_READ,
            reason=_ROOT,
            varies=True,
        ),
        Attack(
            "reads the environment of its parent",
            "It reads the environment variables of the process that forked it.",
            "raise RuntimeError(open(f'/proc/{os.getppid()}/environ').read().replace('\\0', ' ')[:1900])",
            "import os",
        ),
        Attack(
            "reads the environment of another process",
            "It reads the environment variables of a process of the same user.",
            "raise RuntimeError(open(f\"/proc/{YARD['victim_process']}/environ\").read().replace('\\0', ' '))",
            level_0=_READ,
            reason=_SIGNALS,
        ),
        Attack(
            "reads its own environment",
            "It looks for tokens among its environment variables.",
            "import os; raise RuntimeError(str(dict(os.environ)))",
        ),
        Attack(
            "searches the memory of the grader",
            "It looks for a secret in the memory of the grading process.",
            """
            with open(f"/proc/{YARD['grader']}/maps") as maps, open(f"/proc/{YARD['grader']}/mem", "rb", 0) as memory:
                (stack,) = [line for line in maps if "[stack]" in line]
                first, last = (int(end, 16) for end in stack.split()[0].split("-"))
                memory.seek(first)
                raise RuntimeError(memory.read(last - first).split(b"GRADER_SECRET=")[-1][:40])
            """,
            level_0=_READ,
            reason=_ROOT,
            varies=True,
        ),
        Attack(
            "steals a descriptor of the grader",
            "It copies open files of the grading process into its own and writes to them.",
            """
            import ctypes, os
            libc = ctypes.CDLL(None, use_errno=True)
            grader = os.pidfd_open(YARD["grader"])
            stolen = [libc.syscall(438, grader, number, 0) for number in range(3, 20)]
            if max(stolen) < 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
            for descriptor in filter(lambda number: number >= 0, stolen):
                try:
                    os.write(descriptor, b"x")
                except OSError:
                    pass
            raise RuntimeError("written")
            """,
            level_0=_FAILED | _DISTURBED,
            reason=_ROOT,
            varies=True,
        ),
        Attack(
            "runs a program",
            "It starts another program and tells what that prints.",
            "import subprocess; raise RuntimeError(subprocess.check_output(['cat', YARD['secret']]))",
            level_0=_READ,
            reason="level 0 lets the code run programs",
        ),
        Attack(
            "runs a shell",
            "It hands a command to the shell, which writes a file.",
            """
            import os
            if os.system(f"echo x > {YARD['folder']}/shell") != 0:
                raise PermissionError("no shell")
            raise RuntimeError("done")
            """,
            level_0=frozenset({Harm.FILE_CHANGED}),
            reason="level 0 lets the code run programs",
        ),
        Attack(
            "becomes another program",
            "It replaces its own process by another program, which ends with success.",
            "import os; os.execv('/bin/true', ['true'])",
        ),
        Attack(
            "starts a pool of processes",
            "It lets helpers do the work.",
            """
            import multiprocessing
            with multiprocessing.get_context("fork").Pool(2) as pool:
                raise RuntimeError(pool.map(abs, [-1, -2]))
            """,
        ),
        Attack(
            "forks like a bomb",
            "It forks, and its children fork too: 32 processes, because this one is not without end.",
            """
            for _ in range(5):
                if tries[0]:
                    os.fork()
            tries[0] = 0  # a worker is asked many times
            if os.getpid() != first:
                time.sleep(30)
                os._exit(0)
            raise RuntimeError("done")
            """,
            "import os, time; first, tries = os.getpid(), [1]",
        ),
        Attack(
            "leaves a process behind",
            "It forks twice and starts a session of its own, so that nobody is left who would end the process.",
            """
            import os, time
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    time.sleep(30)
                os._exit(0)
            os.wait()
            raise RuntimeError("done")
            """,
        ),
        Attack(
            "leaves many processes behind",
            "It starts twenty processes in sessions of their own and ends.",
            """
            import os, time
            for _ in range(20):
                if os.fork() == 0:
                    os.setsid()
                    time.sleep(30)
                    os._exit(0)
            os._exit(0)
            """,
        ),
        Attack(
            "makes a user namespace",
            "It makes a namespace in which it is root.",
            """
            import ctypes, os
            if ctypes.CDLL(None, use_errno=True).unshare(0x10000000) != 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
            raise RuntimeError("done")
            """,
        ),
        Attack(
            "raises its own limits",
            "It asks for more memory, open files and processes than it was given.",
            """
            import resource
            resource.setrlimit(resource.RLIMIT_DATA, (1 << 45, 1 << 45))
            raise RuntimeError("raised")
            """,
        ),
        Attack(
            "starts threads without end",
            "It starts threads until it is refused, 2,000 at most.",
            """
            import threading, time
            for _ in range(2000):
                threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
            return rewards
            """,
        ),
        Attack(
            "takes all cores",
            "It tells torch to use 64 threads, and then works honestly.",
            "import torch; torch.set_num_threads(64); return honest(rewards)",
            verdict=PASSED,
        ),
        Attack(
            "leaves a thread running",
            "It starts a thread that never ends, and then works honestly.",
            """
            import threading, time
            threading.Thread(target=time.sleep, args=(1000,)).start()
            return honest(rewards)
            """,
            verdict=PASSED,
        ),
        Attack(
            "watches its neighbors",
            "It reads the command lines of all processes that it can see.",
            """
            import os
            seen = []
            for name in filter(str.isdigit, os.listdir("/proc")):
                with open(f"/proc/{name}/cmdline") as file:
                    seen.append(file.read())
            raise RuntimeError(f"{len(seen) > 0}")
            """,
        ),
    ),
)
