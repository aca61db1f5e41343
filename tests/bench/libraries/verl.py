from types import SimpleNamespace

import numpy as np
import torch

from .loading import load

core = load("verl.trainer.ppo.core_algos")
core.AlgoConfig = dict  # a class it only asks about


class Config(SimpleNamespace):
    clip_ratio_low = clip_ratio_high = clip_ratio = 0.2
    global_batch_info: dict = {}

    def get(self, name, other):
        return getattr(self, name, other)


def compute(batch, settings):
    rewards = torch.zeros_like(batch.logp).index_fill_(1, torch.tensor(0), 1) * batch.rewards[:, None]
    index = np.arange(len(batch.rewards)) // batch.group
    advantages, _ = core.compute_grpo_outcome_advantage(rewards, batch.mask.double(), index)
    logp, mode = batch.logp.requires_grad_(), {"loss_agg_mode": settings["loss_agg_mode"]}
    loss, _ = core.compute_policy_loss_vanilla(
        batch.old, logp, advantages, batch.mask.double(), config=Config(**settings), **mode
    )
    if settings["use_kl_loss"]:
        distance = core.kl_penalty(logp, batch.ref, "low_var_kl")
        loss = loss + settings["kl_loss_coef"] * core.agg_loss(distance, batch.mask.double(), **mode)
    return advantages, loss, torch.autograd.grad(loss, logp)[0]
