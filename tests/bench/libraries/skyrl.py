from types import SimpleNamespace

import numpy as np
import torch

from .loading import load

tools = load("skyrl.backends.skyrl_train.utils.torch_utils")
functions = load("skyrl.backends.skyrl_train.utils.ppo_utils")
functions.apply_off_policy_correction = lambda loss, old, rollout, mask, config: (loss, mask, {})  # off by default


def compute(batch, settings):
    mask, rows = batch.mask.double(), len(batch.rewards)
    rewards = torch.zeros_like(batch.logp).index_fill_(1, torch.tensor(0), 1) * batch.rewards[:, None]
    index = np.arange(rows) // batch.group
    advantages, _ = functions.compute_grpo_outcome_advantage(rewards, mask, index)
    scale = functions.apply_loss_reduction_to_advantages_minibatch
    scaled = scale(advantages, mask, settings["loss_reduction"], rows, mask.shape[1])
    config = SimpleNamespace(
        policy_loss_type="regular", eps_clip_low=0.2, eps_clip_high=0.2, off_policy_correction=None
    )
    logp = batch.logp.requires_grad_()
    loss, _ = functions.ppo_policy_loss(logp, batch.old, scaled, config, mask)
    distance = functions.compute_approx_kl(logp, batch.ref, loss_mask=mask, kl_estimator_type="k3")
    loss = loss + settings["kl_loss_coef"] * tools.masked_mean(distance, mask, dim=-1).mean()
    return advantages, loss, torch.autograd.grad(loss, logp)[0]
