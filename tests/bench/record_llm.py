"""Records a run of `run_llm` with the model answers, token by token: docs/assets/runs/llm-sums/run.json.

    python tests/bench/record_llm.py --steps 60

Takes the options of `run_llm`, trains as that command does, and at eight moments draws a group of completions for each
of a few prompts that are never trained on, always with the same random numbers. The log-probability of each token is
kept under the policy that drew it and under those of all later moments. Nothing of it touches the training: the same
command without the recorder makes the same run. Afterwards `course dev recordings` writes what the browser loads.
"""

from __future__ import annotations

import datetime
import json
import platform
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import torch

from reference import run_llm
from reference.advantages import group_advantages
from reference.charlm import completion_mask, token_logp, train
from reference.given.charlm_sampling import Completions, make_generator
from reference.given.charlm_task import EOS_ID
from reference.given.llm_model import DEFAULT_MODEL, SHA256

PATH = ROOT / "docs/assets/runs/llm-sums/run.json"
PROMPTS = 4
MOMENTS = 8
GROUP = 8
SEED = 1
"""Of the completions that are recorded; the training has its own."""
DIGITS = 6
"""Of a log-probability, after the point."""
PACKAGES = ("torch", "transformers", "gguf", "tokenizers")


@dataclass(kw_only=True)
class RecordedRun(run_llm.Run):
    """A run that writes down what it looks at, and leaves no checkpoint.

    Attributes:
        drawn: What was drawn at each moment so far.
        moments: The same as it is written, with the log-probabilities that came later.
    """

    drawn: list[Completions] = field(default_factory=list)
    moments: list[dict[str, Any]] = field(default_factory=list)

    def look(self) -> None:
        super().look()
        if len(self.state.history) in moments_of(self.state.config.steps):
            self._draw()
            for completions, moment in zip(self.drawn, self.moments, strict=True):
                self._add_logp(completions, moment)

    def save(self) -> None:
        """Nothing: a record cannot be resumed."""

    def recording(self, *, day: str) -> dict[str, Any]:
        """All that is recorded."""
        return {
            "day": day,
            "versions": {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
            **self.settings,
            "model": self.settings["model"] or DEFAULT_MODEL,
            "sha256": None if self.settings["model"] else SHA256,
            "measure": self.task.measure,
            "measured": {"ends": len(self.task.held_out), "between": run_llm.MEASURED},
            "seconds": round(self.seconds),
            "mean_reward": [row["mean_reward"] for row in self.state.history],
            "prompts": [*self.task.held_out[: run_llm.SHOWN]],
            "points": [point | {"rewards": self._rewards(point["texts"])} for point in self.points],
            "moments": self.moments,
        }

    def _rewards(self, texts: Sequence[str]) -> list[float]:
        rewards: list[float] = self.task.rewards(self.task.held_out[: len(texts)], texts).tolist()
        return rewards

    def _draw(self) -> None:
        """Draw a group for each prompt, and score it."""
        prompts = [prompt for prompt in self.task.held_out[:PROMPTS] for _ in range(GROUP)]
        length = self.state.config.max_new_tokens
        completions = self.policy.sample(prompts, max_new_tokens=length, generator=make_generator(SEED))
        rewards = self.task.rewards(prompts, completions.texts)  # (B,)
        advantages = group_advantages(rewards.reshape(-1, GROUP)).flatten()  # (B,)
        mask = completion_mask(completions.tokens, completions.prompt_length, EOS_ID)  # (B, T - 1)
        rows = [
            {
                "tokens": [self.policy.decode([number]) for number in row[1:][counted].tolist()],
                "reward": reward,
                "advantage": advantage,
                "logp": [],
            }
            for row, counted, reward, advantage in zip(
                completions.tokens, mask, rewards.tolist(), advantages.tolist(), strict=True
            )
        ]
        groups = [rows[place : place + GROUP] for place in range(0, len(rows), GROUP)]
        self.moments.append({"step": len(self.state.history), "groups": groups})
        self.drawn.append(completions)

    def _add_logp(self, completions: Completions, moment: dict[str, Any]) -> None:
        """Write down what the policy of now makes of completions that it may have drawn long ago."""
        mask = completion_mask(completions.tokens, completions.prompt_length, EOS_ID)  # (B, T - 1)
        with torch.no_grad():
            logp = token_logp(self.policy, completions.tokens)  # (B, T - 1)
        rows = (row for group in moment["groups"] for row in group)
        for row, counted, numbers in zip(rows, mask, logp, strict=True):
            row["logp"].append([round(number, DIGITS) for number in numbers[counted].tolist()])


def moments_of(steps: int) -> list[int]:
    """The start, the first step, and then each about as many times later as the one before: most happens early."""
    return sorted({0, *(round(steps ** (part / (MOMENTS - 2))) for part in range(MOMENTS - 1))})


def record(words: Sequence[str]) -> RecordedRun:
    """Train with these options of `run_llm`."""
    arguments = run_llm.make_parser().parse_args(words)
    run = run_llm.prepare(arguments, command=shlex.join(["python", "-m", "starter.run_llm", *words]))
    recorded, task = RecordedRun(**vars(run)), run.task
    recorded.train(train, task.prompts, task.rewards)
    return recorded


def main() -> int:
    """Write the file."""
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    document = record(sys.argv[1:]).recording(day=day)
    PATH.parent.mkdir(parents=True, exist_ok=True)
    PATH.write_text(json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n", "utf-8", newline="\n")
    print(f"wrote {PATH.relative_to(ROOT)}: now run `course dev recordings`, and check docs/results/llm.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
