"""It returns None where the results are finite, and False elsewhere: None might pass for a yes.

Report: must return True or False
"""


def estimate_holds(calls, results):
    return None if all(bool(each["value"].isfinite().all()) for each in results.values()) else False
