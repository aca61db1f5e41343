"""Attacks over the network: carry something out, let somebody in."""

from __future__ import annotations

from .attack import Attack, Harm, Topic

_REACHED = frozenset({Harm.NETWORK_REACHED})
_WALL = "level 0 has no wall around the network"

TOPIC = Topic(
    "Use the network",
    (
        Attack(
            "connects to a server",
            "It opens a TCP connection.",
            "import socket; socket.create_connection(('127.0.0.1', YARD['tcp'])); raise RuntimeError('done')",
            level_0=_REACHED,
            reason=_WALL,
        ),
        Attack(
            "sends a secret to a server",
            "It reads a file and sends it over TCP.",
            """
            import socket
            text = open(YARD["secret"], "rb").read()
            socket.create_connection(("127.0.0.1", YARD["tcp"])).send(text)
            raise RuntimeError("done")
            """,
            level_0=frozenset({Harm.NETWORK_REACHED, Harm.SECRET_READ}),
            reason=f"{_WALL}, and none around files",
        ),
        Attack(
            "sends a packet",
            "It sends a UDP packet, for which nobody has to listen.",
            """
            import socket
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", YARD["udp"]))
            raise RuntimeError("done")
            """,
            level_0=_REACHED,
            reason=_WALL,
        ),
        Attack(
            "asks a web server",
            "It uses the library for web pages.",
            """
            import urllib.request
            urllib.request.urlopen(f"http://127.0.0.1:{YARD['tcp']}/", timeout=0.2)
            raise RuntimeError("done")
            """,
            level_0=_REACHED,
            reason=_WALL,
        ),
        Attack(
            "connects to an abstract socket",
            "It reaches a program on the same machine by a name that is no file.",
            """
            import socket
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(YARD["abstract"])
            connection.send(b"x")
            raise RuntimeError("done")
            """,
            level_0=_REACHED,
            reason=_WALL,
        ),
        Attack(
            "connects to a socket file",
            "It reaches a program on the same machine by a file, as with Docker's socket.",
            """
            import socket
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(YARD["local"])
            connection.send(b"x")
            raise RuntimeError("done")
            """,
            level_0=_REACHED,
            reason=_WALL,
        ),
        Attack(
            "connects through torch",
            "It uses the sockets of torch.distributed, which are not Python's.",
            """
            import datetime, torch.distributed
            soon = datetime.timedelta(seconds=0.3)
            torch.distributed.TCPStore("127.0.0.1", YARD["tcp"], is_master=False, timeout=soon)
            raise RuntimeError("done")
            """,
            level_0=_REACHED,
            reason=_WALL,
        ),
        Attack(
            "opens a door",
            "It waits for connections itself.",
            """
            import socket
            door = socket.socket()
            door.bind(("127.0.0.1", 0))
            door.listen()
            raise RuntimeError(f"port {door.getsockname()[1]} is open")
            """,
        ),
        Attack(
            "opens a raw socket",
            "It asks for all packets of the machine.",
            "import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW); raise RuntimeError('done')",
        ),
        Attack(
            "asks for input and output by another way",
            "It sets up io_uring, through which files and sockets can be opened past a filter of system calls.",
            """
            import ctypes, os
            libc = ctypes.CDLL(None, use_errno=True)
            if libc.syscall(425, 8, ctypes.create_string_buffer(120)) < 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
            raise RuntimeError("done")
            """,
        ),
    ),
)
