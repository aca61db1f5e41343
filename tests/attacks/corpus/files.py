"""Attacks on files: read secrets, change grades and graders' files, fill the disk."""

TITLE = "Read and change files"
SHARED: dict[str, str] = {}
ATTACKS = r"""
reads a secret file
- level 0: secret read (files)
    raise RuntimeError(open(YARD['secret']).read())

maps a secret file into memory: opens it without Python's functions
- level 0: secret read (files)
    descriptor = needs(libc.open(YARD["secret"].encode(), os.O_RDONLY))
    raise RuntimeError(mmap.mmap(descriptor, 0, prot=mmap.PROT_READ)[:].decode())

opens a secret file by its number: asks the kernel for a handle instead of using the path
- level 0: secret read (files); varies
    handle, mount = ctypes.create_string_buffer(136), ctypes.c_int()
    handle[0] = 128
    needs(libc.name_to_handle_at(-100, YARD["secret"].encode(), handle, ctypes.byref(mount), 0))
    descriptor = libc.open_by_handle_at(os.open(YARD["folder"], os.O_RDONLY), handle, os.O_RDONLY)
    raise RuntimeError(os.read(descriptor, 100).decode())

reads a secret file as a web address: through a file:// address
- level 0: secret read (files)
    import urllib.request; raise RuntimeError(urllib.request.urlopen('file://' + YARD['secret']).read())

reads a secret file through torch
- level 0: secret read (files)
    raise RuntimeError(bytes(torch.from_file(YARD["secret"], size=32, dtype=torch.uint8).tolist()).decode())

writes its own results: now and at the end of its process
- level 0: file changed (files)
    import atexit
    def write():
        with open(YARD["results"], "w") as file:
            file.write('{"earned": 80}')
    atexit.register(write)
    write()

truncates a file
- level 0: file changed (files)
    os.truncate(YARD['victim'], 0)

changes a file's mode
- level 0: file changed (files)
    os.chmod(YARD['victim'], 0)

changes a mode by a newer call: fchmodat2, which older filters do not know
- level 0: file changed (files); varies
    libc.syscall(452, -100, YARD["victim"].encode(), 0, 0)

gives a file away: changes its owner
- level 0: file changed (files); varies
    os.chown(YARD['victim'], 12345, 12345)

changes a file's times: so that it looks unchanged or old
- level 0: file changed (files)
    os.utime(YARD['victim'], (0, 0))

sets a file's extended attribute
- level 0: file changed (files); varies
    os.setxattr(YARD['victim'], 'user.note', b'x')

renames a file
- level 0: file changed (files)
    os.rename(YARD['victim'], YARD['victim'] + '.old')

deletes a file
- level 0: file changed (files)
    os.unlink(YARD['victim'])

plants links: to the secret, next to the results, for the grader to follow
- level 0: file changed (files)
    os.symlink(YARD["secret"], YARD["folder"] + "/soft")
    os.link(YARD["secret"], YARD["folder"] + "/hard")

plants a pipe: that blocks its reader
- level 0: file changed (files)
    os.mkfifo(YARD['folder'] + '/pipe')

plants files named like libraries: where a grader might start
- level 0: file changed (files)
    for name in ("numpy.py", "conftest.py", "pytest.ini", "sitecustomize.py"):
        with open(f"{YARD['folder']}/{name}", "w") as file:
            file.write("raise SystemExit(0)")

plants a file for other users: in the folders for temporary files
- level 0: file changed (files)
    if not [folder for folder in ("/tmp", "/var/tmp") if tried(open, f"{folder}/{YARD['mark']}", "w")]:
        raise PermissionError("no folder lets me")

fills the disk: 48 MB in files of 6 MB, because every level refuses files of more than 8 MiB
- level 0: file changed (files)
    for number in range(8):
        with open(f"{YARD['folder']}/filler{number}", "wb") as file:
            file.write(bytes(6_000_000))

writes a giant file: which ends at 8 MiB
- level 0: file changed (files)
    with open(f"{YARD['folder']}/giant", "wb") as file:
        while True:
            file.write(bytes(1 << 20))

makes a thousand files
- level 0: file changed (files)
    for number in range(1000):
        open(f"{YARD['folder']}/{number}", "w").close()

mounts over a folder: hides the grader's behind an empty one
- dangerous: run by root, it would stay after the grading
    libc.mount(b"none", YARD["folder"].encode(), b"tmpfs", 0, None)

changes its root folder
- level 0: secret read (files); varies
    os.chroot(YARD['folder']); raise RuntimeError(open('/secret').read())

floods its output: writes 100 MB past Python
    for _ in range(100):
        os.write(1, bytes(1 << 20))
    return rewards

plants conftest.py: where the grader might collect tests
- failed; level 0: file changed (files)
    tried(os.makedirs, os.path.join(YARD["folder"], "here"))
    tried(os.chdir, os.path.join(YARD["folder"], "here"))
    tried(lambda: open("conftest.py", "w").write("raise SystemExit(0)"))

keeps deleted files open: 100 files of 8 MB of which no name is left
    kept = []
    for number in range(100):
        kept.append(os.open("note", os.O_RDWR | os.O_CREAT))
        os.unlink("note")
        os.write(kept[-1], bytes(8_000_000))
    time.sleep(1)
    tell()

keeps deleted files mapped: one page of each, because only pages count as memory
    kept = []
    for number in range(100):
        descriptor = os.open("note", os.O_RDWR | os.O_CREAT)
        os.write(descriptor, bytes(8_000_000))
        kept.append(mmap.mmap(descriptor, 4096))
        os.unlink("note")
        os.close(descriptor)
    time.sleep(1)
    tell()

keeps replaced files open: each is renamed onto the one before
    kept = []
    for number in range(100):
        kept.append(os.open("new", os.O_RDWR | os.O_CREAT))
        os.write(kept[-1], bytes(8_000_000))
        os.rename("new", "note")
    time.sleep(1)
    tell()

makes files without a name: O_TMPFILE
- level 0: secret read (files); dangerous: it fills the disk; varies
    kept = []
    for number in range(100):
        kept.append(os.open(".", os.O_RDWR | os.O_TMPFILE))
        os.write(kept[-1], bytes(8_000_000))
    time.sleep(1)
    tell()
"""
