"""What the report says of natural first answers is true: nobody who believes it is led astray."""

import re
from pathlib import Path

import pytest
from command import call
from submissions import model_answer

from grader.commands import grade
from grader.sandbox.sandbox import Sandbox

PLAIN_KL_DIV = """    import torch.nn.functional as F
    return F.kl_div(F.log_softmax(ref_logits.detach(), -1), F.softmax(logits, -1), reduction="none").sum(-1)
"""
QUOTIENT = """    p, q = torch.softmax(logits, dim=-1), torch.softmax(ref_logits.detach(), dim=-1)
    return (p * torch.log(p / q)).sum(dim=-1)
"""
CLAMPED_LATE = """    return torch.exp(logp - old_logp.detach()).clamp(-20, 20)
"""
NAN_TO_NUM = """    mean = rewards.mean(-1, keepdim=True)
    std = ((rewards - mean) ** 2).mean(-1, keepdim=True).sqrt()
    return torch.nan_to_num((rewards - mean) / (std + std_eps if divide_by_std else 1.0))
"""


@pytest.mark.parametrize(
    ("exercise", "function", "body", "says", "never"),
    [
        ("kl", "categorical_kl", PLAIN_KL_DIV, "The gradient for logits is not finite", "which is a constant"),
        ("kl", "categorical_kl", QUOTIENT, "a quotient of probabilities, log(p / q)", "NaN in the gradient"),
        ("clip", "importance_ratio", CLAMPED_LATE, "you clamp the ratio to [-20, 20], after the exp", "must be 0.05"),
        ("advantages", "group_advantages", NAN_TO_NUM, "where they must be exactly 0", "is not float32"),
    ],
    ids=["a gradient that is NaN", "a value that is NaN", "two answers of one's own", "what must be 0"],
)
def test_the_words_fit_the_mistake(
    sandbox: Sandbox, tmp_path: Path, exercise: str, function: str, body: str, says: str, never: str
) -> None:
    text = model_answer(exercise)
    solution = re.compile(rf"(def {function}\(.*?)    ### BEGIN SOLUTION.*?    ### END SOLUTION\n", re.DOTALL)
    text, changed = solution.subn(lambda match: match[1] + body, text, count=1)
    assert changed
    (tmp_path / f"{exercise}.py").write_text(text, "utf-8")
    command = (f"{exercise}.{function}", "--path", tmp_path)
    report = call(grade.main, *command, cwd=tmp_path, sandbox=sandbox, COLUMNS="1000").stdout
    assert says in report
    assert never not in report
