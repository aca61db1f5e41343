"""Cuts the batch of "GRPO as shipped" into micro-batches and runs each library's own loss on each: cut-batch.json.

    python tests/bench/cut_batch.py --out docs/assets/runs/cut-batch.json

Needs the environment of tests/bench/libraries/requirements-as-shipped.txt, as `as_shipped.py` does. The advantages are
computed before the cut, as in all libraries. Then each piece goes through the library's own loss, with the counts that
the library passes to it, and the gradients are added as its training loop adds them. (The loops are read in the source;
where one divides by the number of pieces or weights them, that line is written out here.) Several ranks are not run:
`ARMS` says over what the library's code counts there, and the formula of that reduction gives the gradient.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import MethodType, SimpleNamespace
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import numpy as np
from as_shipped import DOCUMENTED, for_torch
from libraries import formula

PIECES = (1, 2, 4, 8)
LONGEST = 512
"""The longest completion, by which `dr_grpo` divides."""
TOLERANCE = 2e-6
Loss = Callable[[Any, Any, Any, list[Any], str], Any]


def trl(own: Any, batch: Any, advantages: Any, parts: list[Any], mode: str) -> Any:
    them = own._trainer(batch, {"loss_type": mode, "micro_batches": len(parts)})
    them.max_completion_length = LONGEST
    return sum(own._loss(them, batch, batch.logp, advantages, rows) for rows in parts)


def verl(own: Any, batch: Any, advantages: Any, parts: list[Any], mode: str) -> Any:
    counts = {"dp_size": 1, "batch_num_tokens": batch.mask.sum(), "global_batch_size": len(batch.mask)}
    config = own.Config(**DOCUMENTED["verl"]["settings"]["shipped"], global_batch_info=counts)
    return sum(
        own.core.compute_policy_loss_vanilla(
            *(each[rows] for each in (batch.old, batch.logp, advantages, batch.mask.double())),
            config=config,
            loss_agg_mode=mode,
        )[0]
        for rows in parts
    )


def openrlhf(own: Any, batch: Any, advantages: Any, parts: list[Any], mode: str) -> Any:
    tools, mask = importlib.import_module("libraries.loading").load("openrlhf.utils.loss_utils"), batch.mask.double()
    counts = tools._optimizer_step_loss_norm([mask[rows] for rows in parts], None, 1, len(parts))
    loss = own.losses.PolicyLoss(token_level_loss=mode == "token-mean")
    given = (batch.logp, batch.old, advantages, mask)
    return sum(loss(*(each[rows] for each in given), **counts)[0] / len(parts) for rows in parts)  # DeepSpeed divides


def skyrl(own: Any, batch: Any, advantages: Any, parts: list[Any], mode: str) -> Any:
    mask = batch.mask.double()
    scaled = own.functions.apply_loss_reduction_to_advantages_minibatch(advantages, mask, mode, len(parts[0]), LONGEST)
    config = SimpleNamespace(
        policy_loss_type="regular", eps_clip_low=0.2, eps_clip_high=0.2, off_policy_correction=None
    )  # without the KL term, which SkyRL averages by completion
    given = (batch.logp, batch.old, scaled)
    losses = [own.functions.ppo_policy_loss(*(x[rows] for x in given), config, mask[rows])[0] for rows in parts]
    return sum(losses)


def areal(own: Any, batch: Any, advantages: Any, parts: list[Any], mode: str) -> Any:
    loss = 0
    for rows in parts:
        names = {"old_logprobs": batch.old, "advantages": advantages, "proximal_logprobs": batch.old}
        given = {name: each[rows] for name, each in names.items()} | {"loss_mask": batch.mask[rows]}
        piece, _ = own.functional.ppo_actor_loss_fn(batch.logp[rows], eps_clip=0.2, **given)
        loss += piece * (batch.mask[rows].sum() / batch.mask.sum())  # fsdp_engine.py: local_weight / total_loss_weight
    return loss


def ms_swift(own: Any, batch: Any, advantages: Any, parts: list[Any], mode: str) -> Any:
    from collections import defaultdict

    import torch

    trainer, whole = own.trainers.GRPOTrainer, batch.logp
    them = SimpleNamespace(model=torch.nn.Identity(), compute_entropy=False, overlong_filter=False, kl_in_reward=False)
    them.beta, them.loss_type, them.epsilon_low, them.epsilon_high = 0.04, mode, 0.2, 0.2
    them.rollout_importance_sampling_mode = them.log_rollout_offpolicy_metrics = them.chord_sft_iterator = None
    them.disable_rollout_importance_sampling, them.importance_sampling_level = True, "token"
    them.off_policy_sequence_mask_delta, them._has_teacher, them.sdar_loss_coef = None, False, 0.0
    them.args = SimpleNamespace(delta=None, gradient_accumulation_steps=len(parts))
    them._metrics = defaultdict(lambda: defaultdict(list))
    them.accelerator = SimpleNamespace(num_processes=1, gather_for_metrics=lambda x: x)
    them.max_completion_length, them.current_gradient_accumulation_steps = LONGEST, len(parts)
    them.model_accepts_loss_kwargs, them.compute_loss_func = False, None
    them._undo_gradient_accumulation_scaling = MethodType(trainer._undo_gradient_accumulation_scaling, them)
    own.trainers.gather_object = lambda x: x
    loss, of_tokens = 0, own.scores.expand_advantage_to_per_token(advantages, batch.mask)
    for rows in parts:
        them._get_per_token_logps_and_entropies = lambda *_, rows=rows, **__: (whole[rows], None)
        given = SimpleNamespace(completion_mask=batch.mask[rows], truncated_mask=None, rollout_per_token_logps=None)
        given.ref_per_token_logps, given.old_per_token_logps = batch.ref[rows], batch.old[rows]
        given.advantages, given.num_items_in_batch = of_tokens[rows], batch.mask.sum()
        loss += trainer._compute_loss_and_metrics(them, None, {}, given)[0] / len(parts)  # Trainer.training_step
    return loss


def unsloth_zoo(own: Any, batch: Any, advantages: Any, parts: list[Any], mode: str) -> Any:
    options = {"loss_type": mode, "num_items_in_batch": batch.mask.sum(), "max_completion_length": LONGEST}
    options |= {"current_gradient_accumulation_steps": len(parts), "steps_per_generation": len(parts)}
    loss = 0
    for rows in parts:
        ref, new, old, mask, scores = (x[rows] for x in (batch.ref, batch.logp, batch.old, batch.mask, advantages))
        loss += own.functions.grpo_compute_loss(ref, new, old, None, mask.long(), mask, 0.0, scores, **options)[0]
    return loss


def liger(own: Any, batch: Any, advantages: Any, parts: list[Any], mode: str) -> Any:
    mode, _, counted = mode.partition(" ")
    options = {"loss_type": mode, "beta": 0.04, "use_bias_correction_kl": False, "max_completion_length": LONGEST}
    options |= {"num_items_in_batch": batch.mask.sum()} if counted else {}
    loss = 0
    for rows in parts:
        mask, policies = batch.mask[rows].double(), {"ref_per_token_logps": batch.ref, "old_per_token_logps": batch.old}
        given = {name: each[rows] for name, each in policies.items()}
        function = own.LigerFusedLinearGRPOFunction.ppo_loss_fn
        piece, _ = function(batch.logp[rows], mask, advantages[rows], mask, **given, **options)
        loss += piece if counted else piece / len(parts)  # ours: Liger-Kernel has no trainer
    return loss


def tunix(own: Any, batch: Any, advantages: Any, parts: list[Any], mode: str) -> Any:
    """The gradient, as JAX has no graph to return."""
    import jax
    from jax import numpy as jnp

    config = own.GRPOConfig(loss_agg_mode=mode)
    object.__setattr__(config, "temperature", 1.0)
    own.core.nnx = SimpleNamespace(split=lambda logp: (None, logp))
    names = {"completion_ids": "mask", "completion_mask": "mask", "old_per_token_logps": "old"}
    names["ref_per_token_logps"] = "ref"

    def loss(logp: Any) -> Any:
        total = 0
        for rows in parts:
            arrays = {name: jnp.asarray(getattr(batch, each)[rows].numpy()) for name, each in names.items()}
            example = SimpleNamespace(prompt_ids=None, advantages=jnp.asarray(advantages)[rows.numpy()], **arrays)
            part = logp[rows.numpy()]
            own.common.compute_per_token_logps = lambda *_, part=part, **__: (part, jnp.zeros((*part.shape, 2)))
            total += own.core.grpo_loss_fn(part, example, config, pad_id=0, eos_id=0)[0] / len(
                parts
            )  # optax.MultiSteps
        return total

    return np.asarray(jax.grad(loss)(jnp.asarray(batch.logp.detach().numpy(), dtype=jnp.float32)))


def art(own: Any, batch: Any, advantages: Any, parts: list[Any], mode: str) -> Any:
    inputs, places = own.packed(batch)
    if advantages is not None:
        for p, _ in places:
            inputs["advantages"][0, p] = 1.0
    loss, new, whole = 0, own.placed(batch.logp, places), inputs["assistant_mask"].clone()
    rows_left = np.unique([i for _, (i, _) in places])  # without those of group B, whose advantage is 0
    for rows in np.array_split(rows_left, min(len(parts), len(rows_left))):
        inputs["assistant_mask"] = whole.clone()
        for p, (i, _) in places:
            inputs["assistant_mask"][0, p] &= i in rows
        piece = own.functions.loss_fn(inputs, new, None, None, {}, reduction=mode).policy_loss
        count = min(len(parts), len(rows_left)) if mode == "mean" else whole.sum()  # the Trainer; megatron/train.py
        loss += piece / count
    return loss


BY_BATCH, BY_PIECE, BY_COMPLETION = "batch", "piece", "completion"
"""Over what a loss counts tokens: the whole batch, one piece of it, or one completion (or a constant)."""
ARMS: dict[str, dict[str, tuple[str, str | None]]] = {
    "trl": {
        "dapo": (BY_BATCH, BY_BATCH),
        "bnpo": (BY_PIECE, BY_PIECE),
        "grpo": (BY_COMPLETION, BY_COMPLETION),
        "dr_grpo": (BY_COMPLETION, BY_COMPLETION),
    },
    "verl": {"token-mean": (BY_BATCH, BY_BATCH), "seq-mean-token-mean": (BY_COMPLETION, BY_COMPLETION)},
    "openrlhf": {"token-mean": (BY_BATCH, BY_BATCH), "seq-mean-token-mean": (BY_COMPLETION, BY_COMPLETION)},
    "skyrl": {
        "token_mean": (BY_BATCH, BY_BATCH),
        "token_mean_legacy": (BY_PIECE, BY_PIECE),
        "sequence_mean": (BY_COMPLETION, BY_COMPLETION),
    },
    "areal": {"token mean": (BY_BATCH, BY_BATCH)},
    "ms_swift": {
        "grpo": (BY_COMPLETION, BY_COMPLETION),
        "dapo": (BY_BATCH, BY_BATCH),
        "bnpo": (BY_PIECE, BY_PIECE),
    },
    "unsloth_zoo": {
        "dapo": (BY_BATCH, BY_BATCH),
        "bnpo": (BY_PIECE, BY_PIECE),
        "grpo": (BY_COMPLETION, BY_COMPLETION),
    },
    "liger": {
        "dapo": (BY_PIECE, BY_BATCH),
        "dapo with num_items_in_batch": (BY_BATCH, BY_BATCH),
        "bnpo": (BY_PIECE, BY_PIECE),
        "grpo": (BY_COMPLETION, BY_COMPLETION),
    },
    "tunix": {"sequence-mean-token-mean": (BY_COMPLETION, BY_COMPLETION), "token-mean": (BY_PIECE, BY_BATCH)},
    "art": {"mean": (BY_PIECE, None), "sum": (BY_BATCH, BY_BATCH)},
}
"""Library to its reductions (the default first) to over what they count: with micro-batches, and with ranks, if any."""
SHOWN = {
    "art": {"mean": "mean of a pack (Unsloth backend)", "sum": "by all tokens (Megatron backend)"},
    "areal": {"token mean": "by token"},
}


def weights_of(lengths: np.ndarray, pieces: int, counts: str | None) -> np.ndarray:
    """What a token of each completion counts, next to the uncut batch, by the formula of a reduction."""
    if counts != BY_PIECE:
        return np.ones(len(lengths))
    parts = np.array_split(np.arange(len(lengths)), min(pieces, len(lengths)))
    return np.concatenate([[lengths.sum() / (len(parts) * lengths[part].sum())] * len(part) for part in parts])


def library_record(name: str) -> list[dict[str, Any]]:
    """Each reduction of a library, for each number of pieces."""
    own, loss = importlib.import_module(f"libraries.{name}"), globals()[name]
    advantages = own.compute(for_torch(formula.read_batch()), DOCUMENTED[name]["settings"]["shipped"])[0]
    lengths, found = formula.read_batch().lengths, []
    for place, (mode, (of_pieces, of_ranks)) in enumerate(ARMS[name].items()):
        gradients = [gradient(loss, own, advantages, mode, n) for n in PIECES]
        even = [np.linalg.norm(gradient(loss, own, None, mode, n), axis=1) for n in PIECES]
        kept = even[0] > 0  # ART drops group B
        weights = [np.where(kept, norms, 1) / np.where(kept, even[0], 1) for norms in even]
        formulas = [np.ones((2, len(lengths))) for _ in PIECES]
        for n, both in zip(PIECES, formulas, strict=True):
            both[:, kept] = [weights_of(lengths[kept], n, counts) for counts in (of_pieces, of_ranks)]
        for n, whole, measured, (right, _) in zip(PIECES, gradients, weights, formulas, strict=True):
            apart = np.abs(whole - gradients[0] * right[:, None]).max()
            if apart > TOLERANCE or np.abs(measured - right).max() > 1e-4:
                raise ArithmeticError(f"{name}, {mode}, {n} pieces: {apart:.1e} away from the formula {of_pieces}")
        ranks = [gradients[0] * right[:, None] for _, right in formulas]
        found.append(
            {
                "library": DOCUMENTED[name]["name"],
                "version": importlib.metadata.version(DOCUMENTED[name]["package"]),
                "reduction": SHOWN.get(name, {}).get(mode, mode),
                "default": place == 0,
                "micro_batches": {"counts": of_pieces, **beside(gradients), "weights": rounded(weights)},
                "ranks": of_ranks
                and {"counts": of_ranks, **beside(ranks), "weights": rounded([right for _, right in formulas])},
            }
        )
    return found


def gradient(loss: Loss, own: Any, advantages: Any, mode: str, pieces: int) -> np.ndarray:
    """Gradient in each token's log-probability, (B, T). Without advantages, all are 1."""
    import torch

    batch = for_torch(formula.read_batch())
    batch.logp = batch.logp.requires_grad_()
    parts, name = [*torch.arange(len(batch.logp)).chunk(pieces)], own.__name__.rpartition(".")[2]
    if name == "art":  # its advantages are in its packed tensors
        advantages = None if advantages is not None else 1
    elif advantages is None:
        advantages = torch.ones_like(batch.logp if name in ("verl", "openrlhf", "skyrl", "areal") else batch.rewards)
    value = loss(own, batch, advantages, parts, mode)
    if isinstance(value, np.ndarray):
        return value.astype(float)
    return torch.autograd.grad(value, batch.logp)[0].numpy().astype(float)


def beside(gradients: Sequence[np.ndarray]) -> dict[str, list[float]]:
    """Length and cosine of each gradient next to the first."""
    lengths = [np.linalg.norm(each) for each in gradients]
    cosines = [
        (each * gradients[0]).sum() / (length * lengths[0]) for each, length in zip(gradients, lengths, strict=True)
    ]
    return {"length": rounded([length / lengths[0] for length in lengths]), "cosine": rounded(cosines)}


def rounded(value: Any) -> Any:
    return [rounded(each) for each in value] if np.ndim(value) else round(float(value), 4)


def module(record: dict[str, Any]) -> str:
    """What the figure needs, as a script; null where the cut changes nothing, "none" where there is no such cut."""
    rows = [
        [f"{run['library']}: {run['reduction']}", *(_slim(run[way]) for way in ("micro_batches", "ranks"))]
        for run in record["runs"]
    ]
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    head = "// Written by `python tests/bench/cut_batch.py`; do not edit."
    return f"{head}\nexport const LENGTHS = {record['lengths']};\nexport const RUNS = [\n{lines},\n];\n"


def _slim(cut: dict[str, Any] | None) -> Any:
    if cut is None:
        return "none"
    return [cut[what] for what in ("length", "cosine", "weights")] if cut["counts"] == BY_PIECE else None


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, metavar="JSON", help="the record that is written, and its .mjs")
    parser.add_argument("--one", choices=[*ARMS], help="print the record of one library")
    arguments = parser.parse_args(argv)
    if arguments.one:
        print(json.dumps(library_record(arguments.one)))
        return 0
    record: dict[str, Any] = {"pieces": PIECES, "lengths": formula.read_batch().lengths.tolist(), "runs": []}
    for name in ARMS:  # each in a process of its own: some change each other
        command = [sys.executable, "-W", "ignore", __file__, "--one", name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{name}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
            return 1
        record["runs"] += json.loads(done.stdout.splitlines()[-1])
    if arguments.out:
        lines = ",\n".join(json.dumps(run) for run in record.pop("runs"))
        head = json.dumps(record)[:-1]
        arguments.out.write_text(f'{head}, "runs": [\n{lines}\n]}}\n', "utf-8")
        arguments.out.with_suffix(".mjs").write_text(module(json.loads(arguments.out.read_text("utf-8"))), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
