"""What a worker does to itself before it sees a line of student code.

Covered: files outside the standard library and the imported packages cannot be read, no file can be written but in a
folder of its own, no process started, no program executed, no socket opened, no other process seen, signalled or
traced; memory, CPU time, open files and the size of written files are limited. Each wall is a few lines of the Linux
kernel's own interfaces, needs no privilege, and together they cost about 2 ms.

Not covered: bugs of the kernel; the names, sizes and times of files, which Landlock does not hide; threads, which are
allowed. Namespaces are put up around the fork server, see `bubblewrap.py`. seccomp is a deny list here.

Sources: Linux `landlock(7)`, `seccomp(2)`, `prctl(2)`, `setrlimit(2)`.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import itertools
import os
import struct
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypedDict

LANDLOCK, SECCOMP, RLIMITS, SPARE_USER, NAMESPACES = "Landlock", "seccomp", "rlimits", "spare user", "namespaces"
LEVELS: dict[int, tuple[str, ...]] = {
    0: (),
    1: (LANDLOCK, SECCOMP, RLIMITS),
    2: (LANDLOCK, SECCOMP, RLIMITS, NAMESPACES),
}
"""The walls that a worker of each level must have; one that has more is of the same level."""


class WorkerSettings(TypedDict):
    """What one worker is started with. It is a dictionary because it travels as JSON."""

    walls: list[str]  # to put up
    around: list[str]  # walls that stand around the process already
    user: int | None  # a spare user id
    processes: int | None  # how many the user may have
    readable: list[str]  # paths
    home: str  # the only folder that it may write files in
    device: str  # "cpu" or "cuda"
    memory_bytes: int  # more than the warm process holds
    cpu_seconds: int  # of the whole worker
    file_bytes: int  # of a file that it writes
    imports: list[str]  # slow modules that a worker without a fork server imports before it is ready


_libc: Any = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
_PR_SET_PDEATHSIG, _PR_GET_DUMPABLE, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP = 1, 3, 4, 24
_PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS, _PR_GET_NO_NEW_PRIVS = 36, 38, 39
_CAPABILITY_VERSION_3 = 0x20080522
_SYS_LANDLOCK_CREATE, _SYS_LANDLOCK_ADD, _SYS_LANDLOCK_RESTRICT = 444, 445, 446

_DENIED = """
    ptrace process_vm_readv process_vm_writev process_madvise pidfd_open pidfd_getfd pidfd_send_signal kcmp kill
    tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo setpriority sched_setscheduler sched_setattr sched_setparam
    ioprio_set migrate_pages move_pages socket socketpair bind listen connect accept accept4 fork vfork execve
    execveat setsid setns unshare mount umount2 pivot_root chroot move_mount open_tree fsopen fsmount bpf
    perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register keyctl add_key request_key
    memfd_create memfd_secret shmget shmat shmctl msgget msgsnd msgrcv msgctl semget semop semtimedop semctl
    mq_open mq_unlink init_module finit_module delete_module
    kexec_load open_by_handle_at name_to_handle_at mknod mknodat swapon swapoff reboot chmod fchmod fchmodat
    fchmodat2 chown fchown lchown fchownat utime utimes utimensat futimesat truncate setxattr lsetxattr
    fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat personality acct quotactl syslog
    fanotify_init inotify_init inotify_init1 seccomp setuid setgid setresuid setresgid setreuid setregid
    mount_setattr fspick fsconfig open_tree_attr kexec_file_load sethostname setdomainname settimeofday
    clock_settime adjtimex clock_adjtime iopl ioperm vhangup uselib lookup_dcookie setrlimit capset
    fallocate vmsplice splice tee sendmsg sendmmsg recvmsg recvmmsg getsockopt setsockopt file_setattr
    flock sync syncfs fsync fdatasync sync_file_range msync timer_create io_setup quotactl_fd
""".split()  # noqa: SIM905 - a list of strings would be three times as long
_NUMBERS = {"memfd_secret": 447, "fchmodat2": 452, "setxattrat": 463, "removexattrat": 466, "open_tree_attr": 467}
_NUMBERS |= {"file_setattr": 469, "quotactl_fd": 443}
"""Calls that the installed library may be too old to know; since 424 they have one number on every architecture."""
_NEWER = range(470, 520)
"""Calls that are newer than this list. Callers get ENOSYS, as on an older kernel."""
_UNSEEN_ARGUMENTS = (435, 437)
"""clone3 and openat2: a filter cannot look at their flags. Callers that get ENOSYS fall back to the older calls."""
_CLONE_THREAD = 0x10000
_LOW_32_BITS = 0xFFFFFFFF  # the kernel looks at these only; comparing all 64 would let a high bit through
_PRCTL_ALLOWED = (0, 2, 3, 15, 16, 21, 23, 39)
"""Reading what the walls did, and names of threads (15, 16); 0 is no command. A filter of its own could log calls."""
_FCNTL_ALLOWED = (0, 1, 2, 3, 4, 1030, 1032)
"""F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC, F_GETPIPE_SZ. All others are refused, known or not:
locks and leases make others wait for a file, F_NOTIFY, F_SETOWN and F_SETSIG send signals, a large pipe holds memory
that no limit counts."""
_ALL_64_BITS = (1 << 64) - 1
_FORGET_FILE = 4  # POSIX_FADV_DONTNEED: other processes would have to read a library from the disk again
_FORGET_PAGES = (20, 21)  # MADV_COLD, MADV_PAGEOUT: the same for what is mapped
_IOCTL_SIGNALS_BY_PROXY = (0x5452,)  # FIOASYNC
_IOCTL_OF_SOCKETS = (_LOW_32_BITS - 0xFF, 0x8900)  # all commands 0x89..: they tell of the network, or send signals
_IOCTL_GIVES_DATA = 1 << 30  # in the number of every newer command that sets something, of a file system above all
_MSG_OOB = 1
_ACCESS_MODE, _O_TRUNC, _O_TMPFILE = 0o3, 0o1000, 0o20000000
_PROCESSES = 64  # and threads, of a spare user; the kernel counts them per user


def landlock_version() -> int:
    """The kernel's Landlock version; 0 where there is none."""
    if _libc is None:
        return 0
    return max(0, int(_libc.syscall(_SYS_LANDLOCK_CREATE, None, ctypes.c_size_t(0), 1)))


def has_seccomp() -> bool:
    """Whether a filter can be built here. Finding the library costs a search, so do it before the fork."""
    try:
        import pyseccomp  # noqa: F401
    except (ImportError, OSError, RuntimeError):
        return False
    return True


def hide_from_same_user() -> None:
    """Make the memory and environment of this process unreadable for other processes of the same user."""
    if _libc is not None:
        _libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends, so that none can slip away."""
    if _libc is not None:
        _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def namespaces() -> dict[str, str]:
    """Kind of namespace to the number of the one that this process is in; empty where there are none."""
    kinds = ("pid", "net", "ipc", "mnt")
    try:
        return {kind: os.readlink(f"/proc/self/ns/{kind}") for kind in kinds}
    except OSError:
        return {}


def apply(settings: WorkerSettings) -> list[str]:
    """Put up the walls of this process, and look whether they are up. There is no way back.

    Returns:
        The walls that are up, with those around it.

    Raises:
        OSError: a wall that was asked for is not up. The worker must not go on.
    """
    wanted = settings["walls"]
    spare_user = settings["user"] if SPARE_USER in wanted else None
    limits = _limit_resources(settings, processes=settings["processes"] if spare_user is None else _PROCESSES)
    if _libc is not None:
        if wanted:
            _drop_bounding_capabilities()  # while it may: another user cannot
        if spare_user is not None:
            _become(spare_user)
        _libc.prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0)  # not earlier: a change of user clears it
        if wanted:
            _drop_capabilities()
            hide_from_same_user()
            _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        if LANDLOCK in wanted:
            _landlock(settings["readable"], settings["home"])
        if SECCOMP in wanted:  # last: it refuses what the others need
            _seccomp()
    return [*settings["around"], *_seen(wanted, spare_user, limits)]


def _seen(wanted: list[str], spare_user: int | None, limits: dict[int, int]) -> list[str]:
    """The walls that are up, by what they do: that a call reported no error proves nothing."""
    up = {RLIMITS: _has_limits(limits)} if limits else {}
    if _libc is not None and wanted:
        up["no capabilities"] = not any(_capabilities())
        up["not dumpable"] = _libc.prctl(_PR_GET_DUMPABLE, 0, 0, 0, 0) == 0
        up["no_new_privs"] = _libc.prctl(_PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1
    if spare_user is not None:
        up[SPARE_USER] = {*os.getresuid(), *os.getresgid()} == {spare_user} and not os.getgroups()
    if LANDLOCK in wanted:
        up[LANDLOCK] = _cannot_open_root()
    if SECCOMP in wanted:  # what it refuses here would change nothing
        up[SECCOMP] = _libc.prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0) != 0
    if missing := [wall for wall, is_up in up.items() if not is_up]:
        raise OSError(f"not up, although every call for it succeeded: {', '.join(missing)}")
    return [wall for wall in up if wall in (RLIMITS, SPARE_USER, LANDLOCK, SECCOMP)]


def _has_limits(limits: dict[int, int]) -> bool:
    import resource

    return all(resource.getrlimit(kind) == (value, value) for kind, value in limits.items())


def _capabilities() -> bytes:
    data = ctypes.create_string_buffer(24)
    if _libc.capget(struct.pack("Ii", _CAPABILITY_VERSION_3, 0), data) != 0:
        raise OSError(ctypes.get_errno(), "the capabilities could not be read")
    return data.raw


def _cannot_open_root() -> bool:
    """Whether the folder that everybody may list cannot be opened."""
    try:
        os.close(os.open("/", os.O_RDONLY))
    except PermissionError:
        return True
    return False


def _limit_resources(settings: WorkerSettings, *, processes: int | None) -> dict[int, int]:
    """Set the limits. Returns them; none where the system has none."""
    try:
        import resource
    except ImportError:  # Windows
        return {}
    limits = {
        resource.RLIMIT_CPU: settings["cpu_seconds"],
        resource.RLIMIT_FSIZE: settings["file_bytes"],
        resource.RLIMIT_NOFILE: 128,
        resource.RLIMIT_CORE: 0,
    }
    if processes is not None:
        limits[resource.RLIMIT_NPROC] = processes
    used = _memory_in_use()
    if used and settings["device"] == "cpu":  # relative to what the warm process holds; CUDA reserves far more
        limits[resource.RLIMIT_DATA] = used["VmData"] + settings["memory_bytes"]
        limits[resource.RLIMIT_AS] = used["VmSize"] + settings["memory_bytes"] + (256 << 20)
    for kind, value in limits.items():
        _, hard = resource.getrlimit(kind)
        limits[kind] = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (limits[kind], limits[kind]))
    return limits


def _memory_in_use() -> dict[str, int]:
    try:
        with open("/proc/self/status") as file:
            fields = [line.split() for line in file if line.startswith("Vm")]
    except OSError:
        return {}
    return {field[0].rstrip(":"): int(field[1]) << 10 for field in fields}


def _become(user: int) -> None:
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def _drop_bounding_capabilities() -> None:
    """No program could give them back. Fails for an ordinary user, who has none; no_new_privs does the same."""
    for capability in range(64):
        _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)


def _drop_capabilities() -> None:
    """Give up every capability, ambient ones too: a worker of root's without a spare user keeps none of its powers."""
    if _libc.capset(struct.pack("Ii", _CAPABILITY_VERSION_3, 0), bytes(24)) != 0:
        raise OSError(ctypes.get_errno(), "the capabilities could not be dropped")


def _landlock(readable: Iterable[str], home: str) -> None:
    version = landlock_version()
    files = (1 << 13) - 1
    # Truncation and ioctl on devices. To move files to other folders (13) is refused by every ruleset.
    for since, right in ((3, 14), (5, 15)):
        if version >= since:
            files |= 1 << right
    network = 3 if version >= 4 else 0  # TCP bind and connect
    scope = 3 if version >= 6 else 0  # abstract sockets, signals
    attributes = struct.pack("QQQ", files, network, scope)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = _syscall(_SYS_LANDLOCK_CREATE, attributes, ctypes.c_size_t(size), 0)
    read_file, read_folder = 1 << 2, 1 << 3
    # Write, remove and make plain files, and truncate them: no folders, links or devices.
    write_files = files & (1 << 1 | 1 << 5 | 1 << 8 | 1 << 14)
    for path in (*readable, "/dev/null", "/dev/urandom", "/dev/zero", home):
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue  # not there: nothing to allow
        rights = read_file | read_folder if os.path.isdir(path) else read_file
        rights |= write_files if path == home else 0
        _syscall(_SYS_LANDLOCK_ADD, ruleset, 1, struct.pack("<Qi", rights, descriptor), 0)
        os.close(descriptor)
    _syscall(_SYS_LANDLOCK_RESTRICT, ruleset, 0)
    os.close(ruleset)


def _syscall(number: int, *arguments: Any) -> int:
    result = int(_libc.syscall(number, *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def _seccomp() -> None:
    import pyseccomp

    program = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    refuse = pyseccomp.ERRNO(errno.EPERM)
    for name in _DENIED:
        with contextlib.suppress(ValueError, OSError):  # a call that this architecture or this library does not know
            program.add_rule(refuse, name)
            continue
        if name in _NUMBERS:
            program.add_rule(refuse, _NUMBERS[name])
    for number in _NEWER:
        program.add_rule(pyseccomp.ERRNO(errno.ENOSYS), number)
    program.add_rule(refuse, "clone", pyseccomp.Arg(0, pyseccomp.MASKED_EQ, _CLONE_THREAD, 0))
    for number in _UNSEEN_ARGUMENTS:
        program.add_rule(pyseccomp.ERRNO(errno.ENOSYS), number)
    program.add_rule(refuse, "prlimit64", pyseccomp.Arg(0, pyseccomp.NE, 0))
    program.add_rule(refuse, "prlimit64", pyseccomp.Arg(2, pyseccomp.NE, 0))  # reading limits is fine
    program.add_rule(refuse, "sched_setaffinity", pyseccomp.Arg(0, pyseccomp.NE, 0))
    commands = {
        "fadvise64": (3, (_FORGET_FILE,)),
        "madvise": (2, _FORGET_PAGES),
        "ioctl": (1, _IOCTL_SIGNALS_BY_PROXY),
    }
    program.add_rule(refuse, "ioctl", pyseccomp.Arg(1, pyseccomp.MASKED_EQ, _IOCTL_GIVES_DATA, _IOCTL_GIVES_DATA))
    program.add_rule(refuse, "ioctl", pyseccomp.Arg(1, pyseccomp.MASKED_EQ, *_IOCTL_OF_SOCKETS))
    for call, position in (("open", 1), ("openat", 2)):  # for reading, and emptied: before version 3 Landlock lets it
        with contextlib.suppress(ValueError, OSError):
            flags = pyseccomp.Arg(position, pyseccomp.MASKED_EQ, _ACCESS_MODE | _O_TRUNC, _O_TRUNC)
            program.add_rule(refuse, call, flags)
            program.add_rule(refuse, call, pyseccomp.Arg(position, pyseccomp.MASKED_EQ, _O_TMPFILE, _O_TMPFILE))
    program.add_rule(refuse, "sendto", pyseccomp.Arg(3, pyseccomp.MASKED_EQ, _MSG_OOB, _MSG_OOB))
    for call, (position, values) in commands.items():
        for value in values:
            program.add_rule(refuse, call, pyseccomp.Arg(position, pyseccomp.MASKED_EQ, _LOW_32_BITS, value))
    for call, position, allowed in (("fcntl", 1, _FCNTL_ALLOWED), ("prctl", 0, _PRCTL_ALLOWED)):
        for first, size in _blocks_between(allowed):
            program.add_rule(
                refuse, call, pyseccomp.Arg(position, pyseccomp.MASKED_EQ, _ALL_64_BITS - (size - 1), first)
            )
        program.add_rule(refuse, call, pyseccomp.Arg(position, pyseccomp.GT, max(allowed)))
    program.load()


def _blocks_between(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """What lies between ascending numbers, as (first, size) of blocks that one mask describes: a rule of a filter can
    compare an argument once, and so knows no ranges."""
    for low, high in itertools.pairwise(numbers):
        first = low + 1
        while first < high:
            size = first & -first
            while first + size > high:
                size //= 2
            yield first, size
            first += size
