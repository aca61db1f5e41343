from collections import defaultdict
from dataclasses import fields
from types import SimpleNamespace

import torch
from trl import GRPOConfig
from trl.trainer import grpo_trainer

from .loading import cut


def compute(batch, settings):
    them = _trainer(batch, settings)
    names = {"self": them, "num_generations": batch.group, "device": "cpu", "rewards_per_func": batch.rewards[:, None]}
    names["unscorable_mask"] = torch.zeros(len(batch.rewards), dtype=torch.bool)
    score = grpo_trainer.GRPOTrainer._generate_and_score_completions
    exec(cut(score, "if self.multi_objective_aggregation", "advantages = torch.nan_to_num"), vars(grpo_trainer), names)
    advantages, logp = names["advantages"], batch.logp.requires_grad_()
    parts = torch.arange(len(logp)).chunk(them.current_gradient_accumulation_steps)
    loss = sum(_loss(them, batch, logp, advantages, rows) for rows in parts)
    return advantages, loss, torch.autograd.grad(loss, logp)[0]


def _trainer(batch, settings):
    """What the trainer's loss reads. The setting `micro_batches` cuts the batch into so many."""
    args = SimpleNamespace(**{each.name: each.default for each in fields(GRPOConfig)} | settings)
    args.steps_per_generation = settings.get("micro_batches", 1)
    them = SimpleNamespace(**vars(args), args=args, model=torch.nn.Identity(), epsilon_low=args.epsilon)
    them.epsilon_high = args.epsilon if args.epsilon_high is None else args.epsilon_high
    them.num_generations, them.reward_weights, them.aux_loss_enabled = batch.group, torch.ones(1), False
    them.current_gradient_accumulation_steps, them._entropy_bonus_enabled = args.steps_per_generation, False
    them.accelerator = SimpleNamespace(num_processes=1, gather=lambda x: x, reduce=lambda x, **_: x)
    them._metrics, them._log_metric = defaultdict(lambda: defaultdict(list)), lambda *_: None
    return them


def _loss(them, batch, logp, advantages, rows):
    part, mask = logp[rows], batch.mask[rows].long()
    them._get_per_token_logps_and_entropies = lambda *_, **__: (part, torch.zeros_like(part), None)
    inputs = {"prompt_ids": mask[:, :1], "prompt_mask": mask[:, :1], "completion_ids": mask, "completion_mask": mask}
    inputs |= {"advantages": advantages[rows], "old_per_token_logps": batch.old[rows]}
    inputs |= {"ref_per_token_logps": batch.ref[rows], "num_items_in_batch": batch.mask.sum()}
    return grpo_trainer.GRPOTrainer._compute_loss(them, them.model, inputs)
