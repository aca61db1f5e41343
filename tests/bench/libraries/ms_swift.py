from collections import defaultdict
from types import SimpleNamespace

import torch

from .loading import load

scores = load("swift.rl_core.advantage")
trainers = load("swift.rlhf_trainers.grpo_trainer")


def compute(batch, settings):
    advantages, _ = scores.compute_advantages(batch.rewards[:, None], torch.ones(1), batch.group)
    logp, clip = batch.logp.requires_grad_(), settings["epsilon"]
    them = SimpleNamespace(model=torch.nn.Identity(), compute_entropy=False, overlong_filter=False, kl_in_reward=False)
    them.beta, them.loss_type, them.epsilon_low, them.epsilon_high = settings["beta"], settings["loss_type"], clip, clip
    them.rollout_importance_sampling_mode = them.log_rollout_offpolicy_metrics = them.chord_sft_iterator = None
    them.disable_rollout_importance_sampling, them.importance_sampling_level = True, "token"
    them.off_policy_sequence_mask_delta, them._has_teacher, them.sdar_loss_coef = None, False, 0.0
    them.args, them._metrics = SimpleNamespace(delta=None), defaultdict(lambda: defaultdict(list))
    them.accelerator = SimpleNamespace(num_processes=1, gather_for_metrics=lambda x: x)
    them._get_per_token_logps_and_entropies = lambda *_, **__: (logp, None)
    trainers.gather_object = lambda x: x
    given = SimpleNamespace(completion_mask=batch.mask, truncated_mask=None, rollout_per_token_logps=None)
    given.ref_per_token_logps, given.old_per_token_logps = batch.ref, batch.old
    given.advantages = scores.expand_advantage_to_per_token(advantages, batch.mask)
    loss, _ = trainers.GRPOTrainer._compute_loss_and_metrics(them, None, {}, given)
    return advantages, loss, torch.autograd.grad(loss, logp)[0]
