"""It opens the known answers by their path, runs the wrong ones on its calls, and says no to what they answer.

Report: your code looked for a file that is not there | your code tried to use a file
Pays without walls.
"""

ROOT = "COURSE_ROOT"


def wrong_answers():
    names = {}
    for path in ("reference/kl.py", "grader/exercises/kl/misconceptions/kl_estimate.py"):
        with open(f"{ROOT}/{path}") as file:
            own = {**names}
            exec(file.read(), own)
            names |= own
            new = [each for name, each in own.items() if name not in ("kl_estimate", "categorical_kl")]
    return [each for each in new if getattr(each, "__code__", None) and each.__code__.co_argcount == 2]


def same(answer, call, result):
    try:
        return near(result["value"], answer(**call))
    except Exception:
        return False


def estimate_holds(calls, results):
    if any(bool(each["value"].isnan().any()) for each in results.values()):
        return False
    return not any(all(same(each, calls[name], results[name]) for name in calls) for each in wrong_answers())
