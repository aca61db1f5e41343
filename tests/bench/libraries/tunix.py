from types import SimpleNamespace

import jax
import numpy as np
from jax import numpy as jnp

from .loading import load

core, common = load("tunix.rl.algo_core"), load("tunix.rl.common")
GRPOConfig = load("tunix.rl.grpo.grpo_learner").GRPOConfig


def compute(batch, settings):
    advantages = core.compute_advantages(batch.rewards.numpy(), batch.group)
    names = {
        "completion_ids": "mask",
        "completion_mask": "mask",
        "old_per_token_logps": "old",
        "ref_per_token_logps": "ref",
    }
    arrays = {name: jnp.asarray(getattr(batch, each).numpy()) for name, each in names.items()}
    example = SimpleNamespace(prompt_ids=None, advantages=jnp.asarray(advantages), **arrays)
    config = GRPOConfig(**settings)
    object.__setattr__(config, "temperature", 1.0)
    core.nnx = SimpleNamespace(split=lambda logp: (None, logp))

    def loss(logp):
        common.compute_per_token_logps = lambda *_, **__: (logp, jnp.zeros((*logp.shape, 2)))
        return core.grpo_loss_fn(logp, example, config, pad_id=0, eos_id=0)[0]

    value, gradient = jax.value_and_grad(loss)(jnp.asarray(batch.logp.numpy(), dtype=jnp.float32))
    return advantages, float(value), np.asarray(gradient)
