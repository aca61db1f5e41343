"""It goes by the number of its process: workers start one after the other, in an order that is known.

Report: says no to a right function | says yes and then no to the same | says yes although every number
"""

import os

FIRST = os.getpid() % 4


def estimate_holds(calls, results):
    return FIRST in (0, 1)
