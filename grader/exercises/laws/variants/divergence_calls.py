"""Correct calls for `divergence_calls` in other styles; a fair grader accepts them all.

Each public function takes the place of the model answer's `divergence_calls` in a copy of its module.
"""

import torch


def wide_logits(seed):
    """Logits with a wide spread, and another pair of policies that are far apart."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return 2.0 * torch.rand(*shape, generator=generator, dtype=torch.float64) - 1.0

    logits, ref_logits, step = 3 * draw(3, 5), 3 * draw(3, 5), draw(3, 5)
    order = torch.randperm(5, generator=generator)
    far = torch.tensor([[800.0, -800.0], [-300.0, 300.0], [0.0, 120.0]], dtype=torch.float64)
    return {
        "plain": {"logits": logits, "ref_logits": ref_logits},
        "equal": {"logits": ref_logits.clone(), "ref_logits": ref_logits},
        "moved": {"logits": logits - 7.0, "ref_logits": ref_logits + 40.0},
        "reordered": {"logits": logits[:, order], "ref_logits": ref_logits[:, order]},
        "one axis": {"logits": logits[0], "ref_logits": ref_logits[0]},
        "three axes": {"logits": logits[:, None], "ref_logits": ref_logits[:, None]},
        "far apart": {"logits": far, "ref_logits": -far},
        "a step on": {"logits": logits + 1e-4 * step, "ref_logits": ref_logits},
        "a step back": {"logits": logits - 1e-4 * step, "ref_logits": ref_logits},
        "float32": {"logits": logits.float(), "ref_logits": ref_logits.float()},
    }
