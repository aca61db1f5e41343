"""The names of its calls have control characters, and would draw over a report.

Report: ref_logp is missing
"""


def estimate_calls(seed):
    return {"\x1b[2J\x1b[1;1H\u202e passed 12/12 <script>": {"logp": torch.zeros(1, 2)}}
