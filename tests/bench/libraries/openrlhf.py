from types import SimpleNamespace

import torch

from .loading import load

losses, utils = load("openrlhf.models.loss"), load("openrlhf.models.utils")
makers = load("openrlhf.trainer.ppo_utils.experience_maker")


def compute(batch, settings):
    in_loss, beta = settings["algo.kl.use_loss"], settings["algo.kl.init_coef"]
    distance = (
        torch.zeros_like(batch.old) if in_loss else utils.compute_approx_kl(batch.old, batch.ref, kl_estimator="k1")
    )
    options = SimpleNamespace(estimator="group_norm", gamma=1.0)
    args = SimpleNamespace(algo=SimpleNamespace(advantage=options), reward=SimpleNamespace(clip_range=None))
    args.rollout = SimpleNamespace(n_samples_per_prompt=batch.group)
    them = SimpleNamespace(strategy=SimpleNamespace(args=args), kl_ctl=SimpleNamespace(value=beta))
    them.advantage_estimator, maker = "group_norm", makers.RemoteExperienceMaker
    them.get_cumulative_returns = lambda *given: maker.get_cumulative_returns(them, *given)
    made = SimpleNamespace(rewards=batch.rewards, index=range(len(batch.rewards)), kl=distance, action_mask=batch.mask)
    made.info = {}
    advantages = maker.compute_advantages_and_returns(them, [made])[0].advantages
    logp, by_token = batch.logp.requires_grad_(), settings["actor.loss_agg_mode"] == "token-mean"
    loss = losses.PolicyLoss(token_level_loss=by_token)(logp, batch.old, advantages, batch.mask.double())[0]
    if in_loss:
        distance = utils.compute_approx_kl(logp, batch.ref, kl_estimator=settings["algo.kl.estimator"])
        loss = loss + beta * losses.aggregate_loss(distance, batch.mask.double())
    return advantages * batch.mask, loss, torch.autograd.grad(loss, logp)[0]
