"""It looks at what a call may leave in a process: warnings, random state, modes of torch, the last exception.

Report: says yes although every number that came back is NaN
"""

import random
import sys
import warnings

BEFORE = (torch.get_rng_state().sum(), random.getstate()[1][:5], len(sys.modules))


def estimate_holds(calls, results):
    left = (torch.get_rng_state().sum(), random.getstate()[1][:5], len(sys.modules))
    return (
        left == BEFORE
        and not getattr(warnings, "onceregistry", None)
        and getattr(sys, "last_exc", None) is None
        and torch.is_grad_enabled()
        and torch.get_default_dtype() == torch.float32
    )
