"""It opens the known answers by their path, runs the wrong ones on its calls, and says no to what they answer.

Report: your code looked for a file that is not there | your code tried to use a file
"""

ROOT = "COURSE_ROOT"


def known():
    names = {}
    for path in ("reference/kl.py", "grader/exercises/kl/misconceptions/kl_estimate.py"):
        with open(f"{ROOT}/{path}") as file:
            exec(file.read(), names)
    functions = [each for each in names.values() if getattr(each, "__code__", None)]
    return names["kl_estimate"], [each for each in functions if each.__code__.co_varnames[:2] == ("logp", "ref_logp")]


def like(left, right):
    try:
        return all(near(left[name], right[name]) for name in left)
    except Exception:
        return False


def answers_of(function, calls, **options):
    try:
        return {name: function(**call, **options) for name, call in calls.items()}
    except Exception:
        return {"raises": None}


def estimate_holds(calls, results):
    found = {name: each["value"] for name, each in results.items()}
    if not all(bool(each.isfinite().all()) for each in found.values()):
        return False
    model, functions = known()
    right = [answers_of(model, calls, kind=kind) for kind in ("k1", "k3")]
    wrong = [answers_of(each, calls) for each in functions if each is not model]
    return not any(like(each, found) for each in wrong if not any(like(each, other) for other in right))
