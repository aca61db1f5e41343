from types import SimpleNamespace

import torch

from .loading import load

data, functional = load("areal.utils.data"), load("areal.utils.functional.functional")
actor = load("areal.trainer.ppo.actor")


def normalization(level, group):
    rest = {"mean_leave1out": False, "std_unbiased": True, "eps": 1e-5, "group_size": group}
    return data.Normalization(SimpleNamespace(mean_level=level, std_level=level, **rest))


def compute(batch, settings):
    shift = lambda x: torch.nn.functional.pad(x, (1, 0))  # noqa: E731  # one token of a prompt comes first
    config = SimpleNamespace(overlong_reward_penalty=False, use_decoupled_loss=False, recompute_logprob=False)
    them = SimpleNamespace(config=config, reward_bias=0.0, reward_scaling=1.0, reward_clip=20.0, discount=1.0)
    them.gae_lambda, them.mask_no_eos_with_zero, them.kl_ctl = 1.0, False, settings["kl_ctl"]
    them.kl_estimator, them.reward_norm = (
        data.KLEstimator(settings["kl_estimator"]),
        normalization("group", batch.group),
    )
    them.adv_norm = normalization("batch", 1) if settings["adv_norm"] else None
    given = {"input_ids": shift(batch.logp), "rewards": batch.rewards, "loss_mask": shift(batch.mask)}
    given |= {"logprobs": shift(batch.old), "ref_logp": torch.nn.functional.pad(batch.ref, (0, 1))}
    lengths = torch.tensor(batch.lengths)[:, None]
    given["attention_mask"] = (torch.arange(given["input_ids"].shape[1]) <= lengths).long()
    advantages = actor.PPOActor._compute_advantages(them, given)["advantages"][:, :-1]
    logp = batch.logp.requires_grad_()
    rest = {"eps_clip": settings["eps_clip"], "loss_mask": batch.mask, "proximal_logprobs": batch.old}
    loss, _ = functional.ppo_actor_loss_fn(logp, old_logprobs=batch.old, advantages=advantages, **rest)
    return advantages * batch.mask, loss, torch.autograd.grad(loss, logp)[0]
