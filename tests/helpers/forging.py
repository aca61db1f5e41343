"""Python that a hostile submission runs to write to the grader itself, past the code that would send its answer."""

CHANNEL = """
import fcntl, json, os, stat, struct, sys, time

def channel():
    for descriptor in range(3, 256):
        try:
            mode = os.fstat(descriptor).st_mode
            writable = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY
        except OSError:
            continue
        if writable and (stat.S_ISSOCK(mode) or stat.S_ISFIFO(mode)):
            return descriptor

def wired(value):
    if isinstance(value, dict):
        return ["dict", [[key, wired(item)] for key, item in value.items()]]
    if isinstance(value, list):
        return ["list", [wired(item) for item in value]]
    return list(value) if isinstance(value, tuple) else value

def frame(number, body, data=b""):
    header = json.dumps([number, body]).encode()
    return struct.pack("<II", len(header), len(data)) + header + data

def present():
    place = sys._getframe()
    while "request_id" not in place.f_locals:
        place = place.f_back
    return place.f_locals["request_id"]

def send(data):
    os.write(channel(), data)

def hold():
    time.sleep(1000)
"""
"""Finds the channel, encodes like `wire.py`, knows the number of the present request. A tuple is sent as it is."""
