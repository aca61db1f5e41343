"""Attacks on files: read secrets, change grades and graders' files, fill the disk."""

from __future__ import annotations

from ..core.result import FAILED
from .attack import Attack, Harm, Topic

_READ, _CHANGED = frozenset({Harm.SECRET_READ}), frozenset({Harm.FILE_CHANGED})
_WALL = "level 0 has no wall around files: the code can read and write what the person who grades can"

TOPIC = Topic(
    "Read and change files",
    (
        Attack(
            "reads a secret file",
            "It opens a file of the grader and puts the content into the message of an exception.",
            "raise RuntimeError(open(YARD['secret']).read())",
            level_0=_READ,
            reason=_WALL,
        ),
        Attack(
            "maps a secret file into memory",
            "It opens the file without Python's own functions and maps it.",
            """
            import ctypes, mmap, os
            descriptor = ctypes.CDLL(None, use_errno=True).open(YARD["secret"].encode(), os.O_RDONLY)
            if descriptor < 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
            raise RuntimeError(mmap.mmap(descriptor, 0, prot=mmap.PROT_READ)[:].decode())
            """,
            level_0=_READ,
            reason=_WALL,
        ),
        Attack(
            "opens a secret file by its number",
            "It asks the kernel for the number of the file and opens that instead of the path.",
            """
            import ctypes, os
            libc, mount = ctypes.CDLL(None, use_errno=True), ctypes.c_int()
            handle = ctypes.create_string_buffer(136)
            handle[0] = 128
            if libc.name_to_handle_at(-100, YARD["secret"].encode(), handle, ctypes.byref(mount), 0) != 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
            folder = os.open(YARD["folder"], os.O_RDONLY)
            descriptor = libc.open_by_handle_at(folder, handle, os.O_RDONLY)
            raise RuntimeError(os.read(descriptor, 100).decode())
            """,
            level_0=_READ,
            reason=_WALL,
            varies=True,
        ),
        Attack(
            "reads a secret file as a web address",
            "It asks a library for a file:// address.",
            "import urllib.request; raise RuntimeError(urllib.request.urlopen('file://' + YARD['secret']).read())",
            level_0=_READ,
            reason=_WALL,
        ),
        Attack(
            "lets torch read a secret file",
            "It makes a tensor of the bytes of the file.",
            """
            import torch
            bytes_ = torch.from_file(YARD["secret"], size=32, dtype=torch.uint8)
            raise RuntimeError(bytes(bytes_.tolist()).decode())
            """,
            level_0=_READ,
            reason=_WALL,
        ),
        Attack(
            "writes a result of its own",
            "It replaces the results file, now and at the end of its process.",
            """
            import atexit
            def write():
                with open(YARD["results"], "w") as file:
                    file.write('{"earned": 80}')
            atexit.register(write)
            write()
            raise RuntimeError("written")
            """,
            level_0=_CHANGED,
            reason=_WALL,
        ),
        Attack(
            "truncates a file of the grader",
            "It cuts a file to no length by its path.",
            "import os; os.truncate(YARD['victim'], 0); raise RuntimeError('done')",
            level_0=_CHANGED,
            reason=_WALL,
        ),
        Attack(
            "changes the rights of a file",
            "It takes all rights from a file of the grader.",
            "import os; os.chmod(YARD['victim'], 0); raise RuntimeError('done')",
            level_0=_CHANGED,
            reason=_WALL,
        ),
        Attack(
            "changes the rights of a file past the usual call",
            "It does the same by the newer system call of Linux 6.6, which older filters do not know.",
            """
            import ctypes
            failed = ctypes.CDLL(None).syscall(452, -100, YARD["victim"].encode(), 0, 0)
            raise RuntimeError(f"returned {failed}")
            """,
            level_0=_CHANGED,
            reason=_WALL,
            varies=True,
        ),
        Attack(
            "gives a file away",
            "It changes the owner of a file of the grader.",
            "import os; os.chown(YARD['victim'], 12345, 12345); raise RuntimeError('done')",
            level_0=_CHANGED,
            reason=_WALL,
            varies=True,
        ),
        Attack(
            "changes the time of a file",
            "It sets the time of a file of the grader to 1970, so that it looks unchanged or old.",
            "import os; os.utime(YARD['victim'], (0, 0)); raise RuntimeError('done')",
            level_0=_CHANGED,
            reason=_WALL,
        ),
        Attack(
            "attaches a note to a file",
            "It sets an extended attribute of a file of the grader.",
            "import os; os.setxattr(YARD['victim'], 'user.note', b'x'); raise RuntimeError('done')",
            level_0=_CHANGED,
            reason=_WALL,
            varies=True,
        ),
        Attack(
            "renames a file",
            "It moves a file of the grader away.",
            "import os; os.rename(YARD['victim'], YARD['victim'] + '.old'); raise RuntimeError('done')",
            level_0=_CHANGED,
            reason=_WALL,
        ),
        Attack(
            "deletes a file",
            "It deletes a file of the grader.",
            "import os; os.unlink(YARD['victim']); raise RuntimeError('done')",
            level_0=_CHANGED,
            reason=_WALL,
        ),
        Attack(
            "lays links",
            "It makes a symbolic and a hard link to the secret beside the results, for the grader to follow.",
            """
            import os
            os.symlink(YARD["secret"], YARD["folder"] + "/soft")
            os.link(YARD["secret"], YARD["folder"] + "/hard")
            raise RuntimeError("done")
            """,
            level_0=_CHANGED,
            reason=_WALL,
        ),
        Attack(
            "lays a pipe",
            "It makes a named pipe, at which whoever opens it waits.",
            "import os; os.mkfifo(YARD['folder'] + '/pipe'); raise RuntimeError('done')",
            level_0=_CHANGED,
            reason=_WALL,
        ),
        Attack(
            "leaves files with the names of libraries",
            "It writes numpy.py, conftest.py, pytest.ini and sitecustomize.py where a grader might start.",
            """
            for name in ("numpy.py", "conftest.py", "pytest.ini", "sitecustomize.py"):
                with open(f"{YARD['folder']}/{name}", "w") as file:
                    file.write("raise SystemExit(0)")
            raise RuntimeError("done")
            """,
            level_0=_CHANGED,
            reason=_WALL,
        ),
        Attack(
            "leaves a file for other users",
            "It writes to the folders for temporary files.",
            """
            failed = 0
            for folder in ("/tmp", "/var/tmp"):
                try:
                    open(f"{folder}/{YARD['mark']}", "w").close()
                except OSError:
                    failed += 1
            if failed == 2:
                raise PermissionError("no folder lets me")
            raise RuntimeError("done")
            """,
            level_0=_CHANGED,
            reason=_WALL,
        ),
        Attack(
            "fills the disk",
            "It writes 48 MB into files of 6 MB; a file of more than 8 MiB is refused at every level.",
            """
            for number in range(8):
                with open(f"{YARD['folder']}/filler{number}", "wb") as file:
                    file.write(bytes(6_000_000))
            raise RuntimeError("done")
            """,
            level_0=_CHANGED,
            reason=_WALL,
        ),
        Attack(
            "writes one giant file",
            "It writes to one file without end.",
            """
            with open(f"{YARD['folder']}/giant", "wb") as file:
                while True:
                    file.write(bytes(1 << 20))
            """,
            level_0=_CHANGED,
            reason=f"{_WALL}; the file ends at 8 MiB",
        ),
        Attack(
            "makes a thousand files",
            "It makes files without content, which need no space but names.",
            """
            for number in range(1000):
                open(f"{YARD['folder']}/{number}", "w").close()
            raise RuntimeError("done")
            """,
            level_0=_CHANGED,
            reason=_WALL,
        ),
        Attack(
            "mounts a file system over a folder",
            "It hides the folder of the grader behind an empty one.",
            """
            import ctypes
            failed = ctypes.CDLL(None).mount(b"none", YARD["folder"].encode(), b"tmpfs", 0, None)
            raise RuntimeError(f"returned {failed}")
            """,
            not_at_level_0="run by root, it would stay after the grading",
        ),
        Attack(
            "moves its root folder",
            "It makes another folder the root of its file system.",
            "import os; os.chroot(YARD['folder']); raise RuntimeError(open('/secret').read())",
            level_0=_READ,
            reason=_WALL,
            varies=True,
        ),
        Attack(
            "writes to the file of prints without end",
            "It writes 100 MB to its standard output past Python.",
            """
            import os
            for _ in range(100):
                os.write(1, bytes(1 << 20))
            return rewards
            """,
        ),
        Attack(
            "writes a file where it stands",
            "It writes conftest.py into its own working folder, in case the grader collects there.",
            """
            import os
            try:
                os.makedirs(os.path.join(YARD["folder"], "here"))
                os.chdir(os.path.join(YARD["folder"], "here"))
                open("conftest.py", "w").write("raise SystemExit(0)")
            except OSError:
                pass
            return rewards
            """,
            verdict=FAILED,
            level_0=_CHANGED,
            reason=_WALL,
        ),
    ),
)
