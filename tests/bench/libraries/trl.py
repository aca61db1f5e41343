from collections import defaultdict
from dataclasses import fields
from types import SimpleNamespace

import torch
from trl import GRPOConfig
from trl.trainer import grpo_trainer

from .loading import cut


def compute(batch, settings):
    args = SimpleNamespace(**{each.name: each.default for each in fields(GRPOConfig)} | settings)
    args.steps_per_generation = 1
    them = SimpleNamespace(**vars(args), args=args, model=torch.nn.Identity(), epsilon_low=args.epsilon)
    them.epsilon_high = args.epsilon if args.epsilon_high is None else args.epsilon_high
    them.num_generations, them.reward_weights, them.aux_loss_enabled = batch.group, torch.ones(1), False
    them.current_gradient_accumulation_steps, them._entropy_bonus_enabled = 1, False
    them.accelerator = SimpleNamespace(num_processes=1, gather=lambda x: x, reduce=lambda x, **_: x)
    them._metrics, them._log_metric = defaultdict(lambda: defaultdict(list)), lambda *_: None
    logp = batch.logp.requires_grad_()
    them._get_per_token_logps_and_entropies = lambda *_, **__: (logp, torch.zeros_like(logp), None)
    names = {"self": them, "num_generations": batch.group, "device": "cpu", "rewards_per_func": batch.rewards[:, None]}
    names["unscorable_mask"] = torch.zeros(len(batch.rewards), dtype=torch.bool)
    score = grpo_trainer.GRPOTrainer._generate_and_score_completions
    exec(cut(score, "if self.multi_objective_aggregation", "advantages = torch.nan_to_num"), vars(grpo_trainer), names)
    inputs = {"prompt_ids": batch.mask[:, :1].long(), "prompt_mask": batch.mask[:, :1].long()}
    inputs |= {"completion_ids": batch.mask.long(), "completion_mask": batch.mask.long()}
    inputs |= {"advantages": names["advantages"], "old_per_token_logps": batch.old, "ref_per_token_logps": batch.ref}
    loss = grpo_trainer.GRPOTrainer._compute_loss(them, them.model, inputs | {"num_items_in_batch": batch.mask.sum()})
    return names["advantages"], loss, torch.autograd.grad(loss, logp)[0]
