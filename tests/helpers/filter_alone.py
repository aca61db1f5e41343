"""What the workers' filter answers to system calls, none of which is carried out. A program: it adds filters to itself.

A filter that is put up before gives every call that has a mark as its last argument to a tracer. There is none, so the
kernel answers ENOSYS in its place. A refusal by the workers' filter has precedence. In a worker this filter could not
be put up: the workers' filter refuses others.

    python tests/helpers/filter_alone.py {"name": [number, argument, ...], ...} as JSON
"""

from __future__ import annotations

import ctypes
import errno
import json
import struct
import sys

from grader.sandbox.worker import confine

MARK = 0x600DCA11
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 22, 38
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def put_up_both() -> None:
    load_word, jump_if_equal, answer = 0x20, 0x15, 0x06
    instructions = [(load_word, 0, 0, 16 + 8 * 5), (jump_if_equal, 0, 1, MARK), (answer, 0, 0, 0x7FF00000)]
    instructions += [(answer, 0, 0, 0x7FFF0000)]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in instructions))
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(instructions), ctypes.addressof(program)))
    confine.has_seccomp()
    assert libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    assert libc.prctl(PR_SET_SECCOMP, 2, header, 0, 0) == 0
    confine._seccomp()


def marked(call: list[int]) -> str:
    words = [*call, *[0] * 6][:6]
    ctypes.set_errno(0)
    result = libc.syscall(*map(ctypes.c_long, words), ctypes.c_long(MARK))
    return errno.errorcode[ctypes.get_errno()] if result == -1 else f"done: {result}"


if __name__ == "__main__":
    wanted = json.loads(sys.argv[1])
    put_up_both()
    assert marked(wanted["getpid"]) == "ENOSYS", "the calls would be carried out"
    print(json.dumps({name: marked(call) for name, call in wanted.items()}))
