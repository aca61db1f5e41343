"""Attacks on the channel between worker and grader: forged, broken, giant and endless answers."""

from forging import CHANNEL

TITLE = "Forge answers"
FORGER = f"""{CHANNEL}
def answer(value, data=b"", number=None):
    body = wired({{"result": {{"answers": [{{"value": value, "gradients": [], "arguments": [], "graph": []}}]}}}})
    send(frame(present() if number is None else number, body, data))
"""
SHARED = {"FORGER": FORGER}
ATTACKS = r"""
writes its own answer: sends wrong numbers past the code that would have sent its result
- failed; uses FORGER
    answer(('tensor', 'float64', [2], 0, 'cpu'), bytes(16)); hold()

claims to have passed: sends an answer with an outcome and points
- failed; uses FORGER
    result = {"answers": [{"value": True}], "passed": True, "earned": 80, "outcome": "passed"}
    send(frame(present(), wired({"result": result}))); hold()

answers the next question in advance
- uses FORGER
    answer(1.0, number=present() + 1); return rewards

answers twice: sends an answer, then returns another
- failed; uses FORGER
    answer(1.0)

repeats its last answer: answers an earlier question again
- uses FORGER
    answer(1.0, number=present() - 1); hold()

sends noise
- uses FORGER
    send(bytes([255]) * 64); hold()

sends a pickled command
- uses FORGER
    import pickle
    class Run:
        def __reduce__(self):
            return os.system, (f"touch {YARD['folder']}/unpickled",)
    data = pickle.dumps(Run())
    send(struct.pack("<II", len(data), 0) + data); hold()

sends byte by byte: keeps the grader waiting for the next one
- uses FORGER
    send(struct.pack("<II", 200_000, 0))
    while True:
        send(b" ")
        time.sleep(0.01)

sends endless bytes
- uses FORGER
    while True:
        send(bytes(1 << 16))

closes the channel
- uses FORGER
    os.close(channel()); hold()

replaces the channel: puts an empty file in its place
- uses FORGER
    os.dup2(os.open('/dev/null', os.O_RDWR), channel()); return rewards

replaces the worker's answers: patches the function that answers the grader
- failed
    serve = sys.modules["_course_worker.serve"]
    serve.Worker.answer = lambda self, body: {"result": {"answers": [{"value": True}] * 99, "passed": True}}

answers with wrong types
- failed
    serve = sys.modules["_course_worker.serve"]
    bad = {"value": None, "gradients": [1.5], "arguments": [None, "x"]}
    serve.Worker.answer = lambda self, body: {"result": {"answers": [bad] * len(body.get("calls", [1]))}}

reports an exception with wrong types: without a type, a message or a line
- failed
    serve = sys.modules["_course_worker.serve"]
    frames = [["a", float("inf"), 3, None]]
    serve.Worker.answer = lambda self, body: {"error": {"type": 5, "message": None, "frames": frames}}

reports that it is unwritten: names no line
    report = {"type": "NotImplementedError", "message": "", "frames": [], "not_written": True}
    sys.modules["_course_worker.serve"].Worker._describe = lambda self, error: report
    raise NotImplementedError

changes its answer in transit: sets a trace function that edits the worker's variables
- failed
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
"""
