"""What a worker does to itself before it sees a line of student code.

Covered: files outside the standard library and the imported packages cannot be read, no file can be written, no process
started, no program executed, no socket opened, no other process seen, signalled or traced; memory, CPU time, open files
and the size of written files are limited. Each wall is a few lines of the Linux kernel's own interfaces, needs no
privilege, and together they cost about 2 ms.

Not covered: bugs of the kernel; the names, sizes and times of files, which Landlock does not hide; threads, which are
allowed. Namespaces (bubblewrap) are the next level. seccomp is a deny list here.

Sources: Linux `landlock(7)`, `seccomp(2)`, `prctl(2)`, `setrlimit(2)`.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
from collections.abc import Iterable
from typing import Any

# The process numbers of what a level needs are told to the grader as these words.
LANDLOCK, SECCOMP, RLIMITS, SPARE_USER = "Landlock", "seccomp", "rlimits", "spare user"
LEVEL_1 = (LANDLOCK, SECCOMP, RLIMITS)

_libc: Any = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38
_PR_CAPBSET_DROP, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 24, 47, 4
_CAPABILITY_VERSION_3 = 0x20080522
_SYS_LANDLOCK_CREATE, _SYS_LANDLOCK_ADD, _SYS_LANDLOCK_RESTRICT = 444, 445, 446

_DENIED = """
    ptrace process_vm_readv process_vm_writev process_madvise pidfd_open pidfd_getfd pidfd_send_signal kcmp kill
    tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo setpriority sched_setscheduler sched_setattr sched_setparam
    ioprio_set migrate_pages move_pages socket socketpair bind listen connect accept accept4 fork vfork execve
    execveat setsid setns unshare mount umount2 pivot_root chroot move_mount open_tree fsopen fsmount bpf
    perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register keyctl add_key request_key
    memfd_create memfd_secret shmget shmat msgget semget mq_open init_module finit_module delete_module
    kexec_load open_by_handle_at name_to_handle_at mknod mknodat swapon swapoff reboot chmod fchmod fchmodat
    fchmodat2 chown fchown lchown fchownat utime utimes utimensat futimesat truncate setxattr lsetxattr
    fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat personality acct quotactl syslog
    fanotify_init inotify_init inotify_init1 seccomp setuid setgid setresuid setresgid setreuid setregid
    mount_setattr fspick fsconfig open_tree_attr kexec_file_load sethostname setdomainname settimeofday
    clock_settime adjtimex clock_adjtime iopl ioperm vhangup uselib lookup_dcookie setrlimit capset
""".split()  # noqa: SIM905 - a list of strings would be three times as long
_CLONE_THREAD = 0x10000
_FCNTL_SIGNALS_BY_PROXY = (8, 10, 15)  # F_SETOWN, F_SETSIG, F_SETOWN_EX
_IOCTL_SIGNALS_BY_PROXY = (0x8901, 0x8902, 0x5452)  # FIOSETOWN, SIOCSPGRP, FIOASYNC
_IOCTL_FILE_SYSTEM = (0xC0045877, 0xC0045878, 0x40086602)  # FIFREEZE, FITHAW, FS_IOC_SETFLAGS
_LOW_32_BITS = 0xFFFFFFFF  # the kernel looks at these only; comparing all 64 would let a high bit through


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


def apply(settings: dict[str, Any]) -> list[str]:
    """Put up the walls of this process. There is no way back.

    Args:
        settings: `level` (0 or 1), `device`, `memory_bytes`, `cpu_seconds`, `file_bytes`, `readable` (paths), `user`
            (a spare user id or None).

    Returns:
        The walls that stand.

    Raises:
        OSError: a wall of the asked-for level could not be put up. The worker must not go on.
    """
    walls = []
    if _limit_resources(settings):
        walls.append(RLIMITS)
    if _libc is None:
        return walls
    _libc.prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0)
    if settings["level"] >= 1:
        if settings["user"] is not None:
            _become(settings["user"])
            walls.append(SPARE_USER)
        _drop_capabilities()
        hide_from_same_user()
        _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        _landlock(settings["readable"])
        _seccomp()
        walls += [LANDLOCK, SECCOMP]
    return walls


def _limit_resources(settings: dict[str, Any]) -> bool:
    try:
        import resource
    except ImportError:  # Windows
        return False
    limits = {
        resource.RLIMIT_CPU: settings["cpu_seconds"],
        resource.RLIMIT_FSIZE: settings["file_bytes"],
        resource.RLIMIT_NOFILE: 128,
        resource.RLIMIT_CORE: 0,
    }
    if settings["user"] is not None:
        limits[resource.RLIMIT_NPROC] = 64  # counts per user, so only where the user is ours alone
    used = _memory_in_use()
    if used and settings["device"] == "cpu":  # relative to what the warm process holds; CUDA reserves far more
        limits[resource.RLIMIT_DATA] = used["VmData"] + settings["memory_bytes"]
        limits[resource.RLIMIT_AS] = used["VmSize"] + settings["memory_bytes"] + (256 << 20)
    for kind, value in limits.items():
        _, hard = resource.getrlimit(kind)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))
    return True


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
    _libc.prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0)  # a change of user clears it


def _drop_capabilities() -> None:
    """Give up every capability for good: a worker that root started without a spare user keeps none of its powers."""
    _libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    for capability in range(64):
        _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)  # fails where there is nothing to drop
    header = struct.pack("Ii", _CAPABILITY_VERSION_3, 0)
    if _libc.capset(header, bytes(24)) != 0:
        raise OSError(ctypes.get_errno(), "the capabilities could not be dropped")


def _landlock(readable: Iterable[str]) -> None:
    version = landlock_version()
    files = (1 << 13) - 1
    for since, right in ((2, 13), (3, 14), (5, 15)):  # refer, truncate, ioctl on devices
        if version >= since:
            files |= 1 << right
    network = 3 if version >= 4 else 0  # TCP bind and connect
    scope = 3 if version >= 6 else 0  # abstract sockets, signals
    attributes = struct.pack("QQQ", files, network, scope)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = _syscall(_SYS_LANDLOCK_CREATE, attributes, ctypes.c_size_t(size), 0)
    read_file, read_folder = 1 << 2, 1 << 3
    for path in (*readable, "/dev/null", "/dev/urandom", "/dev/zero"):
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue  # not there: nothing to allow
        rights = read_file | read_folder if os.path.isdir(path) else read_file
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
        try:
            program.add_rule(refuse, name)
        except (ValueError, OSError):
            continue  # a call that this architecture or this library does not know
    program.add_rule(refuse, "clone", pyseccomp.Arg(0, pyseccomp.MASKED_EQ, _CLONE_THREAD, 0))
    program.add_rule(pyseccomp.ERRNO(errno.ENOSYS), "clone3")  # the C library then falls back to clone
    program.add_rule(refuse, "prlimit64", pyseccomp.Arg(0, pyseccomp.NE, 0))
    program.add_rule(refuse, "prlimit64", pyseccomp.Arg(2, pyseccomp.NE, 0))  # reading limits is fine
    program.add_rule(refuse, "sched_setaffinity", pyseccomp.Arg(0, pyseccomp.NE, 0))
    commands = {
        "prctl": (0, (_PR_SET_PDEATHSIG,)),
        "fcntl": (1, _FCNTL_SIGNALS_BY_PROXY),
        "ioctl": (1, _IOCTL_SIGNALS_BY_PROXY + _IOCTL_FILE_SYSTEM),
    }
    for call, (position, values) in commands.items():
        for value in values:
            program.add_rule(refuse, call, pyseccomp.Arg(position, pyseccomp.MASKED_EQ, _LOW_32_BITS, value))
    program.load()
