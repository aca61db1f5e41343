"""Correct calls for `estimate_calls` in other styles; a fair grader accepts them all.

Each public function takes the place of the model answer's `estimate_calls` in a copy of its module.
"""

import torch


def policies_from_weights(seed):
    """Policies as weights that are divided by their sum; fixed calls beside one that is drawn."""
    generator = torch.Generator().manual_seed(seed)
    weights = 0.05 + torch.rand(2, 3, 5, generator=generator, dtype=torch.float64)
    logp, ref_logp = (weights / weights.sum(dim=-1, keepdim=True)).log()
    rare = torch.tensor([[1e-6, 1e-4, 1 - 1.01e-4], [1e-5, 0.5, 0.49999]], dtype=torch.float64).log()
    usual = torch.tensor([[0.4, 0.4, 0.2], [0.9, 0.05, 0.05]], dtype=torch.float64).log()
    calls = {
        "all actions": [logp, ref_logp],
        "rare actions": [rare, usual],
        "equal": [ref_logp, ref_logp.clone()],
        "one action": [logp[0, :1], ref_logp[0, :1]],
        "long completions": [logp - 850, ref_logp - 850],
        "a step on": [logp - 1e-4, ref_logp],
        "two steps on": [logp - 2e-4, ref_logp],
        "float32": [logp.float(), ref_logp.float()],
    }
    return {name: dict(zip(("logp", "ref_logp"), pair, strict=True)) for name, pair in calls.items()}
