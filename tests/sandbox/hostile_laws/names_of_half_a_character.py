"""The name of one of its calls is half a character, which no report can write.

Report: ref_logp is missing
"""


def estimate_calls(seed):
    return {"\ud800": {"logp": torch.zeros(1, 2)}}
