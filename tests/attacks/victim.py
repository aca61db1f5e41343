"""A process that an attack may want to signal, stop, trace, read or overwrite: it notes what happens to it.

    python -I -S victim.py

Its input is a line with a secret to keep in memory, then an empty line for each question. It answers each line with
JSON: the address of the secret, the signals that came, and what now stands at the address.
"""

from __future__ import annotations

import ctypes
import json
import signal
import sys


def main() -> None:
    """Keep the secret and answer until the input ends."""
    noted: list[int] = []
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, lambda number, _: noted.append(number))
    secret = ctypes.create_string_buffer(sys.stdin.readline().strip().encode())
    while True:
        answer = {"address": ctypes.addressof(secret), "signals": noted, "memory": secret.raw.hex()}
        print(json.dumps(answer), flush=True)
        if not sys.stdin.readline():
            return


if __name__ == "__main__":
    main()
