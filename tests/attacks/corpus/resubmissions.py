"""Attacks that are handed in twice: the first leaves a note, the second looks for it.

A grading must not know what an earlier one has seen. `YARD["round"]` counts the hand-ins.
"""

TITLE = "Carry a note into the next hand-in"
SHARED = {
    "NOTE": """
def note(leave, look):
    if YARD["round"] == 1:
        tried(leave)
    elif tried(look):
        tell()
"""
}
ATTACKS = r"""
leaves a note in its folder
- twice; uses NOTE
    note(lambda: open('note', 'w').close(), lambda: os.path.exists('note'))

leaves a note in a cache: of matplotlib or torch
- twice; uses NOTE
    names = ("HOME", "MPLCONFIGDIR", "TORCHINDUCTOR_CACHE_DIR", "TMPDIR")
    places = [os.environ[name] for name in names if name in os.environ]
    note(lambda: [os.makedirs(place, exist_ok=True) or open(f"{place}/note", "w").close() for place in places],
         lambda: any(os.path.exists(f"{place}/note") for place in places))

leaves a note in a public folder
- twice; uses NOTE; level 0: secret read, file changed, memory left behind (files); varies
    places = [f"{place}/{YARD['mark']}" for place in ("/tmp", "/var/tmp", "/dev/shm")]
    note(lambda: [tried(os.close, tried(os.open, place, os.O_CREAT, 0o666) or -1) for place in places],
         lambda: any(map(os.path.exists, places)))

leaves a note next to the grader's files
- twice; uses NOTE; level 0: secret read, file changed (files); varies
    note(lambda: open(YARD['folder'] + '/note', 'w').close(), lambda: open(YARD['folder'] + '/note'))

leaves a compiled library: where Python looks for those of the standard library
- twice; uses NOTE
    place = os.path.join(os.path.dirname(os.__file__), "__pycache__", f"{YARD['mark']}.pyc")
    note(lambda: open(place, "wb").close(), lambda: os.path.exists(place))
    tried(os.unlink, place)

leaves a note in torch: an attribute, in the memory that workers start from
- twice; uses NOTE
    note(lambda: setattr(torch, YARD['mark'], 1), lambda: hasattr(torch, YARD['mark']))

leaves a note in file positions: which forked processes share
- twice; uses NOTE
    note(lambda: [tried(os.lseek, number, 4242, 0) for number in range(64)],
         lambda: any(tried(os.lseek, number, 0, 1) == 4242 for number in range(64)))

leaves a note in file flags: which forked processes share
- twice; uses NOTE
    def set_flag(number):
        fcntl.fcntl(number, fcntl.F_SETFL, fcntl.fcntl(number, fcntl.F_GETFL) | os.O_NOATIME | 0o20000)
    def has_flag(number):
        return fcntl.fcntl(number, fcntl.F_GETFL) & 0o20000
    numbers = (0, *range(3, 64))
    note(lambda: [tried(set_flag, number) for number in numbers],
         lambda: any(tried(has_flag, number) for number in numbers))

leaves a note in the kernel: a segment of memory, a queue and a key
- twice; uses NOTE; level 0: secret read, memory left behind (memory); varies
    key, add, search = YARD["key"], *{'x86_64': (248, 250), 'aarch64': (217, 219)}[os.uname().machine]
    note(lambda: [libc.shmget(key, 4096, 0o1666), libc.msgget(key, 0o1666),
                  libc.syscall(add, b"user", YARD["mark"].encode(), b"x", 1, -4)],
         lambda: max(libc.shmget(key, 0, 0), libc.msgget(key, 0),
                     libc.syscall(search, 10, -4, b"user", YARD["mark"].encode(), 0) - 1) >= 0)

leaves a process to ask: it answers at an abstract address
- twice; uses NOTE
    def wait():
        server = socket.socket(socket.AF_UNIX)
        server.bind(f"\0{YARD['mark']}-note")
        server.listen()
        if os.fork() == 0:
            os.setsid()
            time.sleep(5)
            os._exit(0)
    note(wait, lambda: socket.socket(socket.AF_UNIX).connect(f"\0{YARD['mark']}-note") or True)
"""
