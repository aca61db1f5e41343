"""Attacks on the channel between worker and grader: forged, broken, giant and endless answers."""

from __future__ import annotations

from ..core.result import FAILED
from .attack import Attack, Topic

FORGER = """
import fcntl, json, os, stat, struct, sys, time

LARGEST = 4 << 20

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

def answer(value, data=b"", number=None):
    body = wired({"result": {"answers": [{"value": value, "gradients": [], "arguments": [], "graph": []}]}})
    send(frame(present() if number is None else number, body, data))
"""

TOPIC = Topic(
    "Forge answers",
    (
        Attack(
            "sends an answer of its own",
            "It writes an answer with wrong numbers to the channel, past the code that would have written it.",
            "answer(('tensor', 'float64', [2], 0, 'cpu'), bytes(16)); time.sleep(1000)",
            FORGER,
            verdict=FAILED,
        ),
        Attack(
            "says that it has passed",
            "It sends an answer that calls itself right.",
            """
            result = {"answers": [{"value": True}], "passed": True, "earned": 80, "outcome": "passed"}
            send(frame(present(), wired({"result": result})))
            time.sleep(1000)
            """,
            FORGER,
            verdict=FAILED,
        ),
        Attack(
            "answers the next question ahead",
            "It sends the answer to a question that has not been asked yet.",
            "answer(1.0, number=present() + 1); return rewards",
            FORGER,
        ),
        Attack(
            "answers twice",
            "It sends an answer and then returns honestly, so that a second one follows.",
            "answer(1.0); return rewards",
            FORGER,
            verdict=FAILED,
        ),
        Attack(
            "answers the last question again",
            "It sends the answer to an earlier question.",
            "answer(1.0, number=present() - 1); time.sleep(1000)",
            FORGER,
        ),
        Attack(
            "sends noise", "It writes bytes that are no answer.", "send(bytes([255]) * 64); time.sleep(1000)", FORGER
        ),
        Attack(
            "announces 4 GB",
            "It says that an answer of 4 GB will come.",
            "send(struct.pack('<II', 2**32 - 1, 2**32 - 1)); time.sleep(1000)",
            FORGER,
        ),
        Attack(
            "lies about the size of a tensor",
            "It announces more numbers than it sends.",
            "answer(('tensor', 'float64', [1000], 0, 'cpu'), bytes(8)); time.sleep(1000)",
            FORGER,
        ),
        Attack(
            "lets two tensors share their bytes",
            "It sends many tensors that all claim the same bytes, which would multiply in the grader.",
            """
            tensor = ("tensor", "float64", [400_000], 0, "cpu")
            answer([tensor] * 900, bytes(8 * 400_000)); time.sleep(1000)
            """,
            FORGER,
        ),
        Attack(
            "sends objects",
            "It names a type of numbers that stands for Python objects, which would be unpickled.",
            "answer(('tensor', 'object', [1], 0, 'cpu'), bytes(8)); time.sleep(1000)",
            FORGER,
        ),
        Attack(
            "names a function to call",
            "It sends a tag that an incautious reader would look up among its functions.",
            "answer(('fromfile', '/etc/passwd')); time.sleep(1000)",
            FORGER,
        ),
        Attack(
            "sends a pickle",
            "It sends a pickled command as an answer.",
            """
            import pickle
            class Run:
                def __reduce__(self):
                    return os.system, (f"touch {YARD['folder']}/unpickled",)
            data = pickle.dumps(Run())
            send(struct.pack("<II", len(data), 0) + data)
            time.sleep(1000)
            """,
            FORGER,
        ),
        Attack(
            "sends an answer nested deeply",
            "It sends a hundred thousand brackets.",
            "data = b'[' * 10**5; send(struct.pack('<II', len(data), 0) + data); time.sleep(1000)",
            FORGER,
        ),
        Attack(
            "sends colliding keys",
            "It sends a table with many keys, made to be slow to look up.",
            """
            pairs = [[str(number), None] for number in range(60_000)]
            send(frame(present(), ["dict", pairs]))
            time.sleep(1000)
            """,
            FORGER,
        ),
        Attack(
            "sends a number without end",
            "It sends a whole number of a million digits, which takes long to read.",
            """
            data = b'[1, ' + b'9' * 10**6 + b']'
            send(struct.pack('<II', len(data), 0) + data)
            time.sleep(1000)
            """,
            FORGER,
        ),
        Attack(
            "drips",
            "It sends an answer byte by byte, so that something always comes.",
            """
            send(struct.pack("<II", 200_000, 0))
            while True:
                send(b" ")
                time.sleep(0.01)
            """,
            FORGER,
        ),
        Attack(
            "floods",
            "It sends bytes without end.",
            """
            while True:
                send(bytes(1 << 16))
            """,
            FORGER,
        ),
        Attack("hangs up", "It closes the channel.", "os.close(channel()); time.sleep(1000)", FORGER),
        Attack(
            "puts another file in the channel's place",
            "It replaces the channel by a file that is always empty.",
            "os.dup2(os.open('/dev/null', os.O_RDWR), channel()); return rewards",
            FORGER,
        ),
        Attack(
            "replaces the worker's answers",
            "It replaces the function that answers the grader.",
            """
            serve = sys.modules["_course_worker.serve"]
            serve.Worker.answer = lambda self, body: {"result": {"answers": [{"value": True}] * 99, "passed": True}}
            return rewards
            """,
            "import sys",
            verdict=FAILED,
        ),
        Attack(
            "sends answers of wrong types",
            "It lets the worker answer with parts of wrong types.",
            """
            serve = sys.modules["_course_worker.serve"]
            bad = {"value": None, "gradients": [1.5], "arguments": [None, "x"]}
            serve.Worker.answer = lambda self, body: {"result": {"answers": [bad] * len(body.get("calls", [1]))}}
            return rewards
            """,
            "import sys",
            verdict=FAILED,
        ),
        Attack(
            "sends an exception of wrong types",
            "It lets the worker report an exception without type, text and line.",
            """
            serve = sys.modules["_course_worker.serve"]
            frames = [["a", float("inf"), 3, None]]
            serve.Worker.answer = lambda self, body: {"error": {"type": 5, "message": None, "frames": frames}}
            return rewards
            """,
            "import sys",
            verdict=FAILED,
        ),
        Attack(
            "calls itself unwritten, nowhere",
            "It reports a function that is still to be written, without saying where.",
            """
            report = {"type": "NotImplementedError", "message": "", "frames": [], "not_written": True}
            sys.modules["_course_worker.serve"].Worker._describe = lambda self, error: report
            raise NotImplementedError
            """,
            "import sys",
        ),
        Attack(
            "changes the answer on its way",
            "It sets a trace function that changes the numbers in the worker's own functions.",
            """
            def trace(frame, event, argument):
                for value in [*frame.f_locals.values()]:
                    if isinstance(value, list):
                        value.append({"value": True})
                    elif isinstance(value, dict):
                        value.update(value=True, answers=[{"value": True}])
                return trace
            sys.settrace(trace)
            place = sys._getframe()
            while place:
                place.f_trace = trace
                place = place.f_back
            return rewards
            """,
            "import sys",
            verdict=FAILED,
        ),
    ),
)
