"""Every wall that a report claims, seen from inside a worker, per level and user.

One probe per look (`walls_outside` runs it, `walls_inside` is the submission), and many small tests of what it saw.
Each test also says what is seen without the wall: there the same attempts succeed, so none is refused by chance. Take
a line of a wall out, and one of these tests fails.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from ordinary_user import ORDINARY_USER, as_ordinary_user, with_open_folders

from grader.core import course
from grader.sandbox import interpreter
from grader.sandbox.sandbox import Sandbox, missing_walls
from grader.sandbox.worker import confine
from grader.sandbox.worker_process import SandboxError

pytestmark = [pytest.mark.machine, pytest.mark.skipif(sys.platform != "linux", reason="the walls are those of Linux")]

OUTSIDE = course.ROOT / "tests" / "helpers" / "walls_outside.py"
ROOT, BARE_ROOT, ORDINARY = "root", "root without a spare user", "an ordinary user"
REFUSED = """
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
""".split()  # noqa: SIM905
NUMBERS = {"memfd_secret": 447, "fchmodat2": 452, "setxattrat": 463, "removexattrat": 466, "open_tree_attr": 467}
NUMBERS |= {"file_setattr": 469, "quotactl_fd": 443}
HIGH_BIT = 1 << 32  # the kernel does not look at it

BY_ARGUMENT = {
    "clone of a process": ("clone", 17),
    "clone into a user namespace": ("clone", 0x10000011),
    "limits of another process": ("prlimit64", 1),
    "limits set": ("prlimit64", 0, 0, 1),
    "processors of another process": ("sched_setaffinity", 1),
    "outliving the fork server": ("prctl", 1, 0),
    "outliving the fork server, with a high bit": ("prctl", HIGH_BIT | 1, 0),
    "a filter of its own, which logs": ("prctl", 22, 2),
    "a filter of its own, with a high bit": ("prctl", HIGH_BIT | 22, 2),
    **{f"a command that is not needed: prctl {command}": ("prctl", command) for command in (4, 24, 47, 0x53564D41)},
    "a signal by proxy: F_SETOWN": ("fcntl", 0, 8),
    "a signal by proxy: F_SETOWN, with a high bit": ("fcntl", 0, HIGH_BIT | 8),
    "a signal by proxy: F_SETSIG": ("fcntl", 0, 10),
    "a signal by proxy: F_SETOWN_EX": ("fcntl", 0, 15),
    "memory in a pipe: F_SETPIPE_SZ": ("fcntl", 0, 1031),
    **{f"a lock: fcntl {command}": ("fcntl", 0, command) for command in (5, 6, 7, 36, 37, 38)},
    "a lease: F_SETLEASE": ("fcntl", 0, 1024),
    "a lease: F_SETLEASE, with a high bit": ("fcntl", 0, HIGH_BIT | 1024),
    "a note of changes: F_NOTIFY": ("fcntl", 0, 1026),
    **{
        f"a command that is not known: fcntl {command}": ("fcntl", 0, command)
        for command in (16, 777, 1029, 1041, 1 << 31)
    },
    "making all read a file again": ("fadvise64", 3, 0, 0, 4),
    "making all read a mapped file again": ("madvise", 0, 0, 21),
    "making all read a mapped file again, later": ("madvise", 0, 0, 20),
    "a signal by proxy: FIOSETOWN": ("ioctl", 0, 0x8901),
    "a signal by proxy: SIOCSPGRP": ("ioctl", 0, 0x8902),
    "a signal by proxy: FIOASYNC": ("ioctl", 0, 0x5452),
    "a signal by proxy: FIOASYNC, with a high bit": ("ioctl", 0, HIGH_BIT | 0x5452),
    "interfaces of the network: SIOCGIFCONF": ("ioctl", 3, 0x8912),
    "an address of the network: SIOCGIFADDR, with a high bit": ("ioctl", 3, HIGH_BIT | 0x8915),
    "a file without a name": ("openat", 3, 0, 0o20200002),
    "flags of a file: FS_IOC_SETFLAGS": ("ioctl", 0, 0x40086602),
    "flags of a file: FS_IOC_FSSETXATTR": ("ioctl", 0, 0x401C5820),
    "version of a file: FS_IOC_SETVERSION": ("ioctl", 0, 0x40087602),
    "emptying a file on opening it to read": ("openat", 3, 0, 0o1000),
    "emptying a file on opening it to read, in the older way": ("open", 0, 0o1000),
    "sending out of band": ("sendto", 3, 0, 0, 1),
    "sending out of band among other flags": ("sendto", 3, 0, 0, 0x4001),
}
LET_THROUGH = {
    "clone of a thread": ("clone", 0x3D0F00), "own limits read": ("prlimit64", 0, 0, 0, 1),
    "own processors": ("sched_setaffinity", 0),
    **{f"prctl {command}": ("prctl", command) for command in (2, 3, 15, 16, 21, 23, 39)},
    **{f"fcntl {command}": ("fcntl", 0, command) for command in (0, 1, 2, 3, 4, 1030, 1032)},
    "giving memory back": ("madvise", 0, 0, 4), "ioctl": ("ioctl", 0, 0x5401),
    "opening a file": ("openat", 3, 0, 0o2000000), "writing a file, which is Landlock's": ("openat", 3, 0, 0o1101),
    "sending": ("sendto", 3, 0, 0, 0), "getpid": ("getpid",), "read": ("read",), "mmap": ("mmap",),
    "futex": ("futex",),
}  # fmt: skip


def number_of(call: str) -> int:
    """The number that a system call has on this machine; -1 if it has none."""
    import pyseccomp

    return NUMBERS.get(call) or pyseccomp.resolve_syscall(pyseccomp.system_arch(), call)


def calls_to_try() -> dict[str, list[int]]:
    """Number and arguments of each attempt, by its name."""
    attempts: dict[str, tuple[Any, ...]] = {**{name: (name,) for name in REFUSED}, **BY_ARGUMENT, **LET_THROUGH}
    found = {name: [number_of(call), *arguments] for name, (call, *arguments) in attempts.items()}
    return {name: call for name, call in found.items() if call[0] >= 0}


@dataclass(frozen=True)
class Look:
    """Who runs the grader, at which level, and what the machine lacks for more."""

    user: str
    level: int
    lacks: tuple[str, ...] = ()
    cold: bool = False

    def __str__(self) -> str:
        without = f" without {' and '.join(self.lacks)}" if self.lacks else ""
        return f"level {self.level}{without}{' cold' * self.cold}, {self.user}"


NO_SECCOMP = ("seccomp", "namespaces")
BEST = max(level for level in (0, 1, 2) if not missing_walls(level))
USERS = [ORDINARY] if getattr(os, "getuid", int)() else [ORDINARY, ROOT]  # only root has spare users
LOOKS = [*dict.fromkeys([*(Look(user, BEST) for user in USERS), Look(ORDINARY, 0)])]
REPEATED = [Look(user, level) for level in (0, 1, 2) for user in USERS] + [Look(BARE_ROOT, 1), Look(BARE_ROOT, 2)]
REPEATED += [Look(user, 0, NO_SECCOMP) for user in USERS] + [Look(user, 0, cold=True) for user in USERS]
REPEATED = [look for look in REPEATED if look not in LOOKS]


@dataclass(frozen=True)
class Seen:
    """What one look has seen."""

    look: Look
    level: int
    walls: list[str]
    know: dict[str, Any]
    inside: dict[str, Any]
    outside: dict[str, Any]

    @property
    def has_walls(self) -> bool:
        return "Landlock" in self.walls

    @property
    def has_spare_user(self) -> bool:
        return self.has_walls and self.look.user == ROOT


@pytest.fixture(
    scope="module", params=[*LOOKS, *(pytest.param(look, marks=pytest.mark.proof) for look in REPEATED)], ids=str
)
def seen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """One worker for each look."""
    look: Look = request.param
    if missing := missing_walls(max(look.level, 1 if look.lacks else 0)):
        pytest.skip(f"no isolation level {look.level}: {'; '.join(missing)}")
    options = {"level": look.level, "lacks": look.lacks, "cold": look.cold}
    command = [*as_user(look.user, tmp_path_factory), sys.executable, str(OUTSIDE), json.dumps(options)]
    environment = {name: value for name, value in os.environ.items() if name != "TMPDIR"}
    environment |= {"PYTHONPATH": str(course.ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd="/usr", env=environment)
    assert done.returncode == 0, done.stderr
    return Seen(look, **json.loads(done.stdout.splitlines()[-1]))


def as_user(user: str, folders: pytest.TempPathFactory) -> list[str]:
    """What stands before a command that this user runs."""
    if user == BARE_ROOT:
        become_root = ["unshare", "--user", "--map-root-user"]
        if subprocess.run([*become_root, "true"], capture_output=True).returncode != 0:
            pytest.skip("no user namespace can be made here")
        return become_root
    if user == ORDINARY:
        return as_ordinary_user(folders.mktemp("aside"))
    return with_open_folders(folders.mktemp("aside"))


# What a report claims


def test_the_report_claims_the_walls_of_the_level_and_the_user(seen: Seen) -> None:
    walls = {"rlimits"}
    if seen.look.level >= 1 or seen.look.lacks:
        walls |= {"Landlock", "seccomp"} - {*seen.look.lacks}
        walls |= {"spare user"} if seen.look.user == ROOT else set()
    if seen.look.level == 2:
        walls |= {"namespaces"}
    assert {*seen.walls} == walls
    assert seen.level == seen.look.level


# Users and rights


def test_a_worker_of_root_is_a_spare_user_and_any_other_has_the_graders_ids(seen: Seen) -> None:
    inside = seen.inside
    assert len({*inside["users"], *inside["groups"]}) == 1
    if seen.has_spare_user:
        assert 61_000 <= inside["users"][0] < 61_900
        assert inside["more groups"] == []
    else:
        assert inside["users"][0] == seen.outside["user"]
        assert (seen.outside["user"] == 0) == (seen.look.user != ORDINARY)
        assert inside["more groups"] == seen.outside["groups"]


def test_a_worker_behind_walls_has_no_capability(seen: Seen) -> None:
    assert (seen.inside["capabilities"] == "") == (seen.has_walls or seen.look.user == ORDINARY)
    assert seen.inside["ambient capabilities"] == []


def test_no_program_could_give_a_worker_of_root_a_capability_back(seen: Seen) -> None:
    dropped = seen.look.level == 2 or (seen.has_walls and seen.look.user != ORDINARY)
    assert seen.outside["bounding capabilities"] != []
    assert seen.inside["bounding capabilities"] == ([] if dropped else seen.outside["bounding capabilities"])


def test_a_worker_has_a_filter_of_system_calls_and_gets_no_new_rights_where_that_is_claimed(seen: Seen) -> None:
    assert seen.inside["no_new_privs"] == seen.has_walls
    assert seen.inside["seccomp"] == (2 if "seccomp" in seen.walls else 0)


def test_neither_worker_nor_fork_server_nor_grader_is_dumpable(seen: Seen) -> None:
    assert seen.inside["dumpable"] == (1 if seen.look.cold else 0)
    assert seen.outside["dumpable"] == (1 if seen.look.cold else 0)
    attempts = {seen.inside["attempts"][f"read the {whose} environment"] for whose in ("fork server's", "grader's")}
    may_read = seen.look.cold or (seen.look.user == ROOT and not seen.has_walls)
    assert "done" not in attempts or may_read


def test_a_worker_dies_with_its_parent_and_ctrl_c_reaches_neither(seen: Seen) -> None:
    assert seen.inside["death signal"] == 9
    assert seen.inside["group and session"] == [seen.inside["process"]] * 2
    if not seen.look.cold:
        assert seen.outside["fork server"]["session"] != seen.outside["session"]


def test_the_fork_server_of_root_keeps_in_namespaces_what_it_needs_to_give_users_away(seen: Seen) -> None:
    if seen.look.level == 2:
        kept = sum(1 << capability for capability in (5, 6, 7, 8))  # KILL, SETGID, SETUID, SETPCAP
        expected = 0 if seen.look.user == ORDINARY else kept
        assert {int(seen.outside["fork server"][kind], 16) for kind in ("CapPrm", "CapEff")} == {expected}


# Limits


def test_every_limit_is_set_and_cannot_be_raised(seen: Seen) -> None:
    limits = {name.removeprefix("RLIMIT_"): value for name, value in seen.inside["limits"].items()}
    exact = {"CPU": 120, "FSIZE": 8 << 20, "NOFILE": 128, "CORE": 0}
    if seen.has_spare_user:
        exact["NPROC"] = 64
    assert {name: limits[name] for name in exact} == {name: [value, value] for name, value in exact.items()}
    for name in ("DATA", "AS", "NPROC"):
        assert limits[name][0] == limits[name][1] or (seen.look.cold and name == "NPROC")


def test_as_many_processes_as_the_user_has_and_256_more_where_the_user_is_not_spare(seen: Seen) -> None:
    limit = seen.inside["limits"]["RLIMIT_NPROC"][0]
    if not seen.has_spare_user and not seen.look.cold:
        there = 20 if seen.look.level == 2 else seen.outside["processes"] + 200  # those of other tests come and go
        assert 256 < limit <= 256 + there


def test_a_worker_can_have_one_gib_more_than_the_warm_process(seen: Seen) -> None:
    if not seen.look.cold:  # where torch is not loaded when the limit is set
        assert 1000 <= seen.inside["private memory"] <= 1024
        assert 1250 <= seen.inside["shared memory"] <= 1280


# Namespaces


def test_all_namespaces_are_others_than_the_graders_at_level_2(seen: Seen) -> None:
    inside, outside = seen.inside["namespaces"], seen.outside["namespaces"]
    other = {kind for kind in inside if inside[kind] != outside[kind]}
    if seen.look.level < 2:
        assert other == set()
    else:
        # A user namespace knows one user only; root has spare ones.
        assert other >= {"pid", "net", "ipc", "mnt", "uts", "cgroup"}
        assert ("user" in other) == (seen.look.user == ORDINARY)


def test_no_process_but_its_own_family_is_there_at_level_2(seen: Seen) -> None:
    inside = seen.inside
    family = {1, inside["parent"], inside["process"]}
    others = {*inside["processes"]} - family
    assert family - {1} <= {*inside["processes"]}
    if seen.look.level == 2:
        assert len(others) <= 1  # the next worker waits already
    else:
        assert seen.know["grader"] in others | family


def test_there_is_no_network_interface_but_the_loopback_at_level_2(seen: Seen) -> None:
    there = seen.inside["interfaces"]
    assert there == ([name for name in there if name == "lo"] if seen.look.level == 2 else seen.know["interfaces"])


def test_nothing_of_the_course_or_the_machine_is_there_at_level_2(seen: Seen) -> None:
    assert seen.inside["there"] == ([] if seen.look.level == 2 else seen.know["paths"])


def test_every_folder_is_mounted_read_only_at_level_2(seen: Seen) -> None:
    if seen.look.level == 2:
        assert seen.inside["can be written"] == []
    else:
        assert seen.know["library"] in seen.inside["can be written"]


# What the interpreter is given


def test_a_worker_holds_no_descriptor_but_its_own(seen: Seen) -> None:
    nothing = {"kind": "c", "device": [1, 3], "names": 1, "access": os.O_RDWR, "appends": False}
    printed = {"kind": "-", "device": [0, 0], "names": 0, "access": os.O_WRONLY, "appends": True}
    channel = {"kind": "s", "device": [0, 0], "names": 1, "access": os.O_RDWR, "appends": False}
    expected = [nothing, printed, printed, channel]
    if seen.look.cold:
        expected[0] = {"kind": "p", "device": [0, 0], "names": 1, "access": os.O_RDONLY, "appends": False}
        # A cold worker imports the slow library itself, and this library keeps a file open.
        expected.insert(3, {"kind": "-", "device": [0, 0], "names": 1, "access": os.O_RDONLY, "appends": False})
    found = [dict(each) for each in seen.inside["descriptors"]]
    assert [each.pop("number") for each in found][:3] == [0, 1, 2]
    assert found == expected


def test_the_environment_is_made_new(seen: Seen) -> None:
    expected = {
        "PATH": os.defpath,
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
        "CUDA_VISIBLE_DEVICES": "",
        "MALLOC_ARENA_MAX": "2",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "MPLBACKEND": "Agg",
        "LOGNAME": "student",
    }
    environment = dict(seen.inside["environment"])
    home = seen.inside["folder"]
    expected |= dict.fromkeys(("HOME", "TMPDIR", "TMP", "TEMP", "MPLCONFIGDIR", "TORCHINDUCTOR_CACHE_DIR"), home)
    if seen.look.level == 2:
        expected["PWD"] = "/"  # bubblewrap's
    assert environment == expected


def test_the_interpreter_is_isolated_and_its_path_has_libraries_only(seen: Seen) -> None:
    inside = seen.inside
    assert inside["flags"] == {"isolated": 1, "no_site": 1, "ignore_environment": 1}
    assert not inside["writes bytecode"]
    standard, libraries = inside["import path"][:3], inside["import path"][3:]
    assert all(path.startswith((sys.base_prefix, sys.base_exec_prefix)) for path in standard)
    assert libraries == [*interpreter.library_folders(), seen.know["library"]]
    assert not {"grader", "reference", "starter", "tests", "pytest", "hypothesis"} & {*inside["modules"]}
    assert seen.look.cold or re.search(r"/workers-\w+/[0-9a-f]{16}$", inside["folder"])


# Attempts


def names(text: str) -> list[str]:
    return " ".join(text.split()).split(", ")


FILES = names("""
read a file, write a file, list a folder, make a file, make a folder, remove a file, remove a folder, rename a file,
move a file to another folder, link a file, link a file by name, write a library, move a file between libraries,
read a course among the libraries,
read a second copy of the course, list the top folder, list the processes,
read the list of users, make a temporary file, make shared memory, ask a device, read the fork server's environment,
read the grader's environment
""")
CALLS = names("""
empty a file, make a pipe, make a device, make a socket, signal the grader, connect to a port, bind to a port,
run a program, connect to an abstract socket, empty a library on opening, hold a library back from others,
lock a library
""")
NOT_THERE = names("""
read a file, write a file, remove a file, remove a folder, rename a file, move a file to another folder, link a file,
read a course among the libraries,
read a second copy of the course, read the list of users, read the grader's environment
""")
READ_ONLY = names("write a library, move a file between libraries")
NEWER = names("start a process in the newer way, open a file in the newer way")


def expected_outcomes(seen: Seen) -> dict[str, str]:
    found = dict.fromkeys([*FILES, *CALLS, "read a library"], "done") | dict.fromkeys(NEWER, "EINVAL")
    if not seen.has_walls:
        if not seen.look.cold and seen.look.user == ORDINARY:
            found |= dict.fromkeys(("read the fork server's environment", "read the grader's environment"), "EACCES")
        return found
    found |= dict.fromkeys(FILES, "EACCES")
    if "seccomp" in seen.walls:
        found |= dict.fromkeys(CALLS, "EPERM") | dict.fromkeys(NEWER, "ENOSYS")
    else:
        found |= dict.fromkeys(CALLS, "EACCES")
        found |= dict.fromkeys(("signal the grader", "connect to an abstract socket"), "EPERM")
        found |= dict.fromkeys(("hold a library back from others", "lock a library"), "done")  # no matter of rights
        if seen.has_spare_user:
            found["hold a library back from others"] = "EACCES"  # which only its owner may
    if seen.look.level == 2:
        found |= dict.fromkeys(NOT_THERE, "ENOENT") | dict.fromkeys(READ_ONLY, "EROFS")
    return found


SINCE = {"empty a library on opening": 3, "empty a file": 3, "connect to a port": 4, "bind to a port": 4}
SINCE |= {"ask a device": 5, "signal the grader": 6, "connect to an abstract socket": 6}


def test_what_a_wall_forbids_is_refused_and_succeeds_without_it(seen: Seen) -> None:
    expected = expected_outcomes(seen)
    assert expected.keys() == seen.inside["attempts"].keys()
    version = 99 if "seccomp" in seen.walls else seen.outside["landlock"]
    without = {name for name, since in SINCE.items() if version < since}
    found = seen.inside["attempts"]
    assert {name: found[name] for name in found if name not in without and found[name] != expected[name]} == {}


@pytest.mark.skipif(bool(missing_walls(1)), reason="no isolation level 1")
def test_every_call_on_the_list_is_refused_and_no_other() -> None:
    expected = dict.fromkeys([*REFUSED, *BY_ARGUMENT], "EPERM") | dict.fromkeys(LET_THROUGH, "ENOSYS")
    tried = calls_to_try()
    command = [sys.executable, str(OUTSIDE.with_name("filter_alone.py")), json.dumps(tried)]
    environment = {**os.environ, "PYTHONPATH": str(course.ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, env=environment)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {name: expected[name] for name in tried}


def test_every_name_of_the_filter_is_tried() -> None:
    assert sorted(REFUSED) == sorted(confine._DENIED)


def test_a_call_that_was_not_tried_is_one_that_this_architecture_lacks() -> None:
    lacking = [name for name in REFUSED if name not in calls_to_try()]
    assert platform.machine() != "x86_64" or lacking == []
    if lacking:
        pytest.skip(f"{platform.machine()} has no {', '.join(lacking)}")


# Calls that say yes and do nothing

LIES = """
import errno, json, os, sys
import pyseccomp
from grader.sandbox.worker import confine

def lie(call, *arguments):
    filter = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    filter.set_attr(pyseccomp.Attr.CTL_NNP, int(os.getuid() != 0))
    filter.add_rule(pyseccomp.ERRNO(0), call, *(pyseccomp.Arg(0, pyseccomp.EQ, value) for value in arguments))
    filter.load()

def error_of(without, lies):
    for each in lies:
        lie(*each)
    try:
        confine.apply({**settings, "walls": [wall for wall in walls if wall not in without]})
    except OSError as error:
        return str(error)
    return ""

def in_a_child(action, *arguments):
    reading, writing = os.pipe()
    if os.fork() == 0:
        try:
            os.write(writing, json.dumps(action(*arguments)).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        return json.load(file)

def newer(numbers):
    other = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    for number in numbers:
        other.add_rule(pyseccomp.ERRNO(errno.EXFULL), number)
    other.load()
    confine._seccomp()  # of two refusals that of the younger filter counts
    def answer(number):
        confine.ctypes.set_errno(0)
        return confine._libc.syscall(number), confine.ctypes.get_errno()
    return [[number, *answer(number)] for number in numbers]

user = 61_999 if os.getuid() == 0 else None
walls = [confine.LANDLOCK, confine.SECCOMP, confine.RLIMITS] + [confine.SPARE_USER] * (user is not None)
settings = {"walls": walls, "around": [], "user": user, "readable": sys.path[1:], "processes": None, "device": "cpu"}
settings["home"] = ""
settings |= {"memory_bytes": 1 << 30, "cpu_seconds": 120, "file_bytes": 8 << 20}
found = {name: in_a_child(error_of, *arguments) for name, arguments in json.loads(sys.argv[1]).items()}
found["newer"] = in_a_child(newer, list(range(470, 520)))
print(json.dumps(found))
"""
LYING_CALLS: dict[str, list[list[Any]]] = {
    "Landlock": [["landlock_restrict_self"]], "seccomp": [["seccomp"], ["prctl", 22]],
    "rlimits": [["prlimit64"], ["setrlimit"]], "spare user": [["setresuid"]],
    "spare user (its group)": [["setresgid"]], "spare user (other groups)": [["setgroups"]],
    "no capabilities": [["capset"]], "not dumpable": [["prctl", 4]], "no_new_privs": [["prctl", 38]],
}  # fmt: skip
WITHOUT = {"no capabilities": ["spare user"], "not dumpable": ["spare user"], "no_new_privs": ["seccomp", "Landlock"]}
"""Walls that would do the same by themselves, or would not go up."""
NEED_ROOT = {name for name in LYING_CALLS if "user" in name} | {"no capabilities", "no_new_privs"}


@pytest.fixture(scope="module")
def lied_to() -> dict[str, Any]:
    """What `confine.apply` says where calls report success and do nothing."""
    told = {name: [WITHOUT.get(name, []), calls] for name, calls in LYING_CALLS.items()}
    told |= {"nothing": [[], []], "nothing, without a spare user": [["spare user"], []]}
    command = [sys.executable, "-c", LIES, json.dumps(told)]
    groups = [ORDINARY_USER] if os.getuid() == 0 else None  # something to give up
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=course.ROOT, extra_groups=groups)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("lie", LYING_CALLS)
def test_a_wall_that_only_seems_to_be_up_stops_the_worker(lied_to: dict[str, Any], lie: str) -> None:
    if lie in NEED_ROOT and os.getuid() != 0:
        pytest.skip("only root can be lied to about this")
    wall = lie.partition(" (")[0]
    assert lied_to[lie].endswith(f": {wall}")


def test_walls_that_are_up_are_seen_to_be(lied_to: dict[str, Any]) -> None:
    assert lied_to["nothing"] == lied_to["nothing, without a spare user"] == ""


def test_calls_that_are_newer_than_the_filter_do_not_exist_whatever_the_kernel_has(lied_to: dict[str, Any]) -> None:
    enosys = 38
    assert lied_to["newer"] == [[number, -1, enosys] for number in range(470, 520)]


class ForgetfulForkServer:
    """Offers every wall, and its workers lack one."""

    wrapped = False

    def __init__(self, lacks: str) -> None:
        self.ended = False
        self._walls = [*confine.LEVELS[2], confine.SPARE_USER]
        self._lacks = lacks

    def offers(self) -> list[str]:
        return self._walls

    def worker(self, settings: dict[str, Any]) -> Any:
        walls = tuple(wall for wall in settings["walls"] if wall != self._lacks)
        return SimpleNamespace(walls=walls, close=self._end)

    def _end(self) -> None:
        self.ended = True

    def close(self) -> None:
        pass


@pytest.mark.parametrize("wall", [*confine.LEVELS[2], confine.SPARE_USER])
def test_a_worker_whose_first_message_lacks_a_wall_is_refused(wall: str) -> None:
    server = ForgetfulForkServer(wall)
    with (
        Sandbox(_server=server) as sandbox,  # type: ignore[arg-type]
        pytest.raises(SandboxError, match=wall),
    ):
        sandbox.worker()
    assert server.ended
