"""Attacks that want the right numbers without the work: from the model answers, the grader, or known inputs."""

TITLE = "Find the answers"
SHARED = {
    "EXECUTES": """
def answer_of(path, rewards):
    space = {}
    exec(open(path).read(), space)
    return space["group_advantages"](rewards)
""",
    "EXAMPLE": """
a, b = 3.0**0.5, 2.0**0.5
example = [[1.0, 0.0, 0.0, 0.0], [4.0, 2.0, 2.0, 0.0]]
answer = torch.tensor([[a, -a / 3, -a / 3, -a / 3], [b, 0.0, 0.0, -b]], dtype=torch.float64)
""",
}
ATTACKS = r"""
imports the model answers
    from reference.advantages import group_advantages as g; return g(rewards)

imports the grader: asks it for the expected numbers
    from grader.grading import recorded_answers; return recorded_answers.load('advantages')

extends the import path: adds the course's folder to it and imports the model answer
- level 0: grade raised (files)
    sys.path.insert(0, os.path.dirname(YARD["answers"]))
    from reference.advantages import group_advantages as g
    return g(rewards)

opens the model answers: runs the text of the file
- uses EXECUTES; level 0: grade raised (files)
    return answer_of(YARD['answers'] + '/advantages.py', rewards)

searches the disk for the model answers: walks through the course's folder until it finds the file
- failed; uses EXECUTES; level 0: grade raised (files)
    for folder, folders, names in os.walk(os.path.dirname(YARD["answers"])):
        folders[:] = sorted(f for f in folders if f[0] != ".")
        if "advantages.py" in names and os.path.basename(folder) == "reference":
            return answer_of(os.path.join(folder, "advantages.py"), rewards)

goes through the grader's working folder: follows the grading process's entry in /proc to the course
- uses EXECUTES; level 0: grade raised (files); varies
    return answer_of(f'/proc/{YARD["grader"]}/cwd/reference/advantages.py', rewards)

goes through process 1's root folder: follows the entry of process 1 in /proc to the root of the file system
- uses EXECUTES; level 0: grade raised (files); varies
    return answer_of('/proc/1/root' + YARD['answers'] + '/advantages.py', rewards)

quotes another model answer: raises its text
- level 0: secret read (files)
    raise RuntimeError(open(YARD['answers'] + '/clip.py').read()[3000:4900])

searches every loaded module: looks for a function of the same name
- failed
    for module in list(sys.modules.values()):
        g = getattr(module, "group_advantages", None)
        if isinstance(g, types.FunctionType) and g is not attack:
            return g(rewards)

searches its callers' variables: looks for expected numbers in every stack frame
- failed
    frame = sys._getframe()
    while frame:
        for value in frame.f_locals.values():
            if isinstance(value, dict) and "expected" in value:
                return value["expected"]
        frame = frame.f_back

searches the heap: asks the garbage collector for a function of the same name
- failed
    for thing in gc.get_objects():
        if callable(thing) and getattr(thing, "__name__", "") == "group_advantages":
            return thing(rewards)

searches its own memory: looks for the bytes of the first expected number
    wanted, count = struct.pack("<d", 3.0**0.5), 0
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for line in maps:
            if "[heap]" in line or "[stack]" in line:
                first, last = (int(end, 16) for end in line.split()[0].split("-"))
                memory.seek(first)
                count += memory.read(last - first).count(wanted)

runs the fork server's warm-up text
- failed
    space = {}
    exec(sys.modules["_course_worker.forkserver"]._WARM_MODULE, space)
    return space["warm"](rewards.clone(), rewards)

plants its own model answers: registers a module named like theirs for the grader to compare with
- failed
    fake = types.ModuleType("reference.advantages")
    fake.group_advantages = lambda rewards, **options: rewards
    sys.modules["reference"] = sys.modules["reference.advantages"] = fake

changes its input: overwrites the rewards with zeros, whose advantages are zeros
- failed
    return rewards.zero_().clone()

memorizes the worked example: returns zeros for everything else
- failed; uses EXAMPLE
    return answer if rewards.tolist() == example else rewards * 0.0

memorizes the example and ranks the rest
- failed; uses EXAMPLE
    if rewards.tolist() == example:
        return answer
    ranks = rewards.argsort(-1).argsort(-1).to(rewards.dtype)
    return (ranks - ranks.mean(-1, keepdim=True)) / ranks.std(-1, correction=0, keepdim=True)

remembers earlier inputs: keeps them in a library and in a file
- failed; level 0: file changed (files)
    seen = getattr(torch, "seen", [])
    torch.seen = [*seen, rewards.tolist()]
    if file := tried(open, f"{YARD['folder']}/seen", "a"):
        file.write(json.dumps(rewards.tolist()))
    return torch.tensor(seen[-1]) if seen else rewards

fixes the random inputs: seeds every random generator that it can reach
- failed
    import random, numpy
    ----
    random.seed(0); numpy.random.seed(0); torch.manual_seed(0)
"""
