import torch

from . import trl
from .loading import load

functions = load("unsloth_zoo.rl_replacements")


def compute(batch, settings):
    advantages, _, _ = trl.compute(batch, {})
    logp = batch.logp.detach().requires_grad_()
    options = {**settings, "num_items_in_batch": batch.mask.sum()}
    beta = options.pop("beta")
    given = (batch.ref, logp, batch.old, None, batch.mask.long(), batch.mask, beta, advantages)
    loss = functions.grpo_compute_loss(*given, **options)[0]
    return advantages, loss, torch.autograd.grad(loss, logp)[0]
