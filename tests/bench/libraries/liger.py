import torch
from liger_kernel.chunked_loss.grpo_loss import LigerFusedLinearGRPOFunction

from . import trl


def compute(batch, settings):
    advantages, _, _ = trl.compute(batch, {})
    logp, mask = batch.logp.detach().requires_grad_(), batch.mask.double()
    policies = {"ref_per_token_logps": batch.ref, "old_per_token_logps": batch.old}
    loss, _ = LigerFusedLinearGRPOFunction.ppo_loss_fn(logp, mask, advantages, mask, **policies, **settings)
    return advantages, loss, torch.autograd.grad(loss, logp)[0]
