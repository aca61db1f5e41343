"""It puts itself between its worker and the channel, keeps every request, and looks for words about what was run.

Report: says yes although every number that came back is NaN
"""

import sys

REQUESTS = []
WORDS = ("biased", "the sign", "is k1", "wrong", "clamps", "kl_estimate", "practice")


def recorded(read):
    def reads(*arguments):
        found = read(*arguments)
        REQUESTS.append(repr(found))
        return found

    return reads


for module in [*sys.modules.values()]:
    reader = getattr(module, "Reader", None)
    if reader is not None and "course_worker" in reader.__module__:
        reader.read = recorded(reader.read)


def estimate_holds(calls, results):
    return not any(word in request for request in REQUESTS for word in WORDS if "files" not in request)
