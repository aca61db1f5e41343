"""The arguments of one of its calls are the answers to another one, so that its law need not compute them.

Report: says no to a right function
"""

honest_calls = estimate_calls


def estimate_calls(seed):
    calls = honest_calls(seed)
    call = calls["all actions"]
    answer = torch.expm1(call["ref_logp"] - call["logp"]) - (call["ref_logp"] - call["logp"])
    calls["the answer"] = {"logp": -answer.clamp(0, 20), "ref_logp": torch.zeros_like(answer)}
    return calls


def estimate_holds(calls, results):
    return near(results["all actions"]["value"], -calls["the answer"]["logp"])
