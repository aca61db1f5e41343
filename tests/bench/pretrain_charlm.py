"""Pretrains the language model on its corpus: starter/given/charlm.safetensors.

    python tests/bench/pretrain_charlm.py --out starter/given/charlm.safetensors --overwrite
    python tests/bench/pretrain_charlm.py --out small.safetensors --size small --device cuda

The weights that come with the course were written with the default settings, in about half a minute.

Left out on purpose: validation data. Each batch draws the corpus again, and its true probabilities are known.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import torch
from rich.progress import track
from torch import Tensor, nn
from torch.nn import functional

from reference.given.charlm_model import TinyLM, TinyLMConfig, save_weights
from reference.given.charlm_sampling import addition_accuracy, completion_logp, make_generator, sample
from reference.given.charlm_task import (
    EOS_ID,
    FOODS,
    NAMES,
    PIZZA_PROMPT,
    CharTokenizer,
    food_probabilities,
    is_well_formed,
)

SIZES = {
    "tiny": TinyLMConfig(),  # 0.03 million parameters
    "small": TinyLMConfig(width=128, layers=4, heads=4),  # 0.8 million
    "medium": TinyLMConfig(width=320, layers=8, heads=8),  # 10 million
    "large": TinyLMConfig(width=512, layers=12, heads=8),  # 38 million
}
ADDITION_ACCURACY = ((4, 0.95), (9, 0.30), (18, 0.10))
"""(largest sum, how often the corpus gets sums up to it right)."""


def addition_probabilities(a: int, b: int) -> dict[int, float]:
    """How often the corpus gives each result for a + b."""
    right = next(accuracy for largest, accuracy in ADDITION_ACCURACY if a + b <= largest)
    wrong = [result for result in range(a + b - 2, a + b + 3) if 0 <= result <= 18 and result != a + b]
    return {a + b: right} | dict.fromkeys(wrong, (1 - right) / len(wrong))


def sentence(generator: random.Random) -> str:
    """One sentence of the corpus."""
    if generator.random() < 0.5:
        name = generator.choice(NAMES)
        foods = food_probabilities(name)
        return f"{name} likes {generator.choices(list(foods), list(foods.values()))[0]}."
    a, b = generator.randrange(10), generator.randrange(10)
    results = addition_probabilities(a, b)
    return f"{a}+{b}={generator.choices(list(results), list(results.values()))[0]}."


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command. Exit code 0 fine, 2 usage."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="where the weights go")
    parser.add_argument("--overwrite", action="store_true", help="write over a file that is there")
    parser.add_argument("--size", choices=SIZES, default="tiny", help="of the model (tiny)")
    parser.add_argument("--steps", type=int, default=1500, metavar="N", help="batches (1500)")
    parser.add_argument("--batch", type=int, default=192, metavar="N", help="sentences in a batch (192)")
    parser.add_argument("--lr", type=float, metavar="X", help="highest learning rate (0.2 / width)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the weights and the corpus (0)")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="where to compute (cpu)")
    arguments = parser.parse_args(argv)
    if arguments.device != "cpu" and not torch.cuda.is_available():
        parser.error(f"--device {arguments.device}: torch finds no such device here; leave it out")
    if not arguments.out.parent.is_dir() or arguments.out.is_dir():
        parser.error(f"--out must be a file in a folder that exists, got {arguments.out}")
    if arguments.out.exists() and not arguments.overwrite:
        parser.error(f"{arguments.out} exists: name another file, or add --overwrite")
    if arguments.steps < 20 or arguments.batch < 1:
        parser.error(f"--steps must be at least 20 and --batch at least 1, got {arguments.steps} and {arguments.batch}")
    if arguments.lr is not None and not 0 < arguments.lr < math.inf:
        parser.error(f"--lr must be positive, got {arguments.lr}")
    if arguments.size == "tiny":
        torch.set_num_threads(1)  # more would be slower, and the last bits would depend on how many there are
    config = SIZES[arguments.size]
    model = pretrain(
        config,
        steps=arguments.steps,
        batch=arguments.batch,
        lr=arguments.lr or 0.2 / config.width,
        seed=arguments.seed,
        device=arguments.device,
        progress=True,
    )
    made_by = (
        f"pretrain_charlm --size {arguments.size} --steps {arguments.steps} --batch {arguments.batch} "
        f"--seed {arguments.seed}, torch {torch.__version__}"
    )
    save_weights(model, arguments.out, made_by=made_by)
    print(f"weights: {arguments.out}, {sum(each.numel() for each in model.parameters()):,} parameters")
    _describe(model)
    return 0


def pretrain(
    config: TinyLMConfig, *, steps: int, batch: int, lr: float, seed: int, device: str = "cpu", progress: bool = False
) -> TinyLM:
    """Train a new model to predict the next character of the corpus.

    Args:
        config: Size of the model.
        steps: Batches.
        batch: Sentences in a batch.
        lr: Highest learning rate; it rises over the first tenth of the steps and then falls to 0 like a cosine.
        seed: Of the weights and the corpus. The global random generator of torch is left as it was.
        device: "cpu" or "cuda".
        progress: Show a progress bar.

    Returns:
        The model.
    """
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = TinyLM(config).to(device)
    corpus = random.Random(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=lr, total_steps=steps, pct_start=0.1)
    for _ in track(range(steps), description="pretraining", disable=not (progress and sys.stderr.isatty())):
        tokens = _batch(corpus, batch).to(device)  # (B, T)
        optimizer.zero_grad()
        _next_token_loss(model, tokens).backward()
        optimizer.step()
        schedule.step()
    return model


def _batch(corpus: random.Random, size: int) -> Tensor:
    """Sentences of the corpus as tokens, filled up with EOS_ID, shape (B, T)."""
    tokenizer = CharTokenizer()
    rows = [tokenizer.encode(sentence(corpus)) for _ in range(size)]
    longest = max(map(len, rows))
    return torch.tensor([row + [EOS_ID] * (longest - len(row)) for row in rows])


def _next_token_loss(model: nn.Module, tokens: Tensor) -> Tensor:
    """Mean over the real tokens of minus log-probability; what fills the rows up does not count."""
    logits = model(tokens)[:, :-1]  # (B, T - 1, V)
    targets = tokens[:, 1:].clone()  # (B, T - 1)
    targets[tokens[:, :-1] == EOS_ID] = -100  # the value that cross_entropy leaves out
    return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


def _describe(model: TinyLM) -> None:
    """Print what the model has learned, next to the probabilities of the corpus."""
    foods = food_probabilities(PIZZA_PROMPT.split()[0])
    found = completion_logp(model, PIZZA_PROMPT, [f"{food}." for food in FOODS]).exp().tolist()
    print(f"P(completion | {PIZZA_PROMPT!r}), exact:")
    for food, probability in sorted(zip(FOODS, found, strict=True), key=lambda pair: -foods[pair[0]]):
        print(f"  {food:10} {probability:.3f}   corpus {foods[food]:.3f}")
    print(f"additions that are right: {addition_accuracy(model):.3f}   corpus {_corpus_accuracy():.3f}")
    rows = [PIZZA_PROMPT] * 1000
    texts = sample(model, rows, max_new_tokens=12, generator=make_generator(0)).texts
    print(f"well-formed completions of {PIZZA_PROMPT!r}: {sum(map(is_well_formed, texts)) / len(texts):.3f} of 1000")


def _corpus_accuracy() -> float:
    return sum(addition_probabilities(a, b)[a + b] for a in range(10) for b in range(10)) / 100


if __name__ == "__main__":
    sys.exit(main())
