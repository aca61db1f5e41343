"""TRL's GRPOTrainer with your `group_advantages` and `grpo_loss` instead of its own formulas.

Given code, for `run_trl`. TRL samples, asks for rewards, computes log-probabilities and makes the updates. This
subclass computes advantages and loss. `docs/reference/trl.md` translates TRL's names and says where its formulas
differ.
"""

from typing import Any

import torch
from torch import Tensor
from trl import GRPOTrainer

from ..advantages import group_advantages
from ..charlm import grpo_loss
from .charlm_training import CharLMConfig

LOSS_LEVELS = {"grpo": "sequence", "bnpo": "token", "dapo": "token"}
"""Loss types of TRL that `grpo_loss` has a level for."""


def settings_of(arguments: Any) -> CharLMConfig:
    """The settings that `grpo_loss` reads, from TRL's GRPOConfig.

    Raises:
        ValueError: `grpo_loss` has no formula for a setting.
    """
    if arguments.loss_type not in LOSS_LEVELS:
        raise ValueError(f"loss_type must be one of {', '.join(LOSS_LEVELS)}, got {arguments.loss_type!r}")
    if arguments.epsilon_high not in (None, arguments.epsilon):
        raise ValueError(f"grpo_loss has one clip range; epsilon_high must be epsilon, got {arguments.epsilon_high}")
    return CharLMConfig(
        clip_eps=arguments.epsilon,
        kl_coef=arguments.beta,
        ratio_level=arguments.importance_sampling_level,
        loss_level=LOSS_LEVELS[arguments.loss_type],
    )


class StudentTrainer(GRPOTrainer):  # type: ignore[misc]
    """A GRPOTrainer whose advantages and loss are yours.

    Attributes:
        compare: Also compute TRL's own loss of each batch, which takes one more forward pass.
        losses: Your loss and TRL's for each compared batch.
    """

    def __init__(self, *arguments: Any, compare: bool = False, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.compare, self.losses = compare, list[tuple[float, float]]()
        self._config = settings_of(self.args)
        self._rewards = torch.empty(0)

    def _calculate_rewards(self, *arguments: Any) -> Tensor:
        """Keep the reward of each completion from each reward function, shape (B, functions)."""
        self._rewards = super()._calculate_rewards(*arguments)
        return self._rewards

    def _generate_and_score_completions(self, inputs: Any) -> dict[str, Any]:
        output: dict[str, Any] = super()._generate_and_score_completions(inputs)
        rewards = (self._rewards * self.reward_weights.to(self._rewards.device)).nansum(dim=1)  # (B,)
        output["advantages"] = group_advantages(rewards.reshape(-1, self.num_generations)).flatten()
        return output

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> Tensor:
        mask = inputs["completion_mask"].bool()  # (B, T), without the prompts
        logp, _, _ = self._get_per_token_logps_and_entropies(
            model,
            torch.cat([inputs["prompt_ids"], inputs["completion_ids"]], dim=1),
            torch.cat([inputs["prompt_mask"], inputs["completion_mask"]], dim=1),
            mask.shape[-1],
        )
        old_logp = inputs.get("old_per_token_logps", logp.detach())  # TRL omits them if they are the same
        ref_logp = inputs.get("ref_per_token_logps", logp.detach())  # and these if beta is 0
        loss, metrics = grpo_loss(logp, old_logp, ref_logp, inputs["advantages"], mask, self._config)
        for name, value in metrics.items():
            self._metrics["train" if model.training else "eval"][name].append(value.item())
        if self.compare:
            with torch.no_grad():
                self.losses.append((loss.item(), super()._compute_loss(model, inputs).item()))
        parts: int = self.current_gradient_accumulation_steps
        return loss / parts
