"""The recorded run of a pretrained language model: every number of the figure recomputed, and what a reader does."""

import itertools
import json
import re
from typing import Any

import numpy as np
import pytest
from explorables import numbers

from grader.workshop import recordings

PATH, TAG = "/results/llm/", "grpo-llm-run"
RUN = recordings.llm_run()
MOMENTS = RUN["moments"]
LIMIT = RUN["config"]["max_new_tokens"]
WAYS = ("sequence", "token", "constant")
BANDS = {
    "GRPO": (0.8, 1.2),
    "no clip": (0.0, np.inf),
    "DAPO": (0.8, 1.28),
    "GSPO": (1 - 3e-4, 1 + 4e-4),
    "Dr. GRPO": (0.8, 1.2),
}
EVERYTHING = """async () => {
  const asset = (path) => import(new URL(`../../assets/${path}`, location.href));
  const [{ RUN }, { RELATIVES, tokenShares }] = [await asset("runs/llm.mjs"), await asset("js/core/token_shares.mjs")];
  const found = {};
  RUN.moments.forEach(({ groups }, m) => groups.forEach((group, p) => group[0][2].forEach((_, later) => {
    for (const averaging of ["sequence", "token", "constant"]) for (const name in RELATIVES) {
      const relative = RELATIVES[name];
      const rows = group.map(([, reward, logp]) => ({ reward, old: logp[0], now: logp[later] }));
      const { loss, clipFraction, rows: all } = tokenShares(rows, { averaging, relative, limit: RUN.limit });
      const tokens = all.flatMap(({ tokens }) => tokens);
      found[[m, p, m + later, averaging, name]] = [[loss], [clipFraction],
        tokens.map(({ ratio }) => ratio), tokens.map(({ share }) => share), tokens.map(({ push }) => push)];
    }
  })));
  return JSON.stringify(found);
}"""


def expected(drawn: int, prompt: int, now: int, averaging: str, name: str) -> list[Any]:
    """Loss, clip fraction, and of each token ratio, share and push; by numpy, from what is recorded."""
    group = MOMENTS[drawn]["groups"][prompt]
    lengths = np.array([len(row["tokens"]) for row in group])
    owner = np.repeat(np.arange(len(group)), lengths)  # of each token
    digits = recordings.LLM_DIGITS
    old, later = (
        np.array([round(logp, digits) for row in group for logp in row["logp"][at]]) for at in (0, now - drawn)
    )
    log_ratio = later - old
    if name == "GSPO":
        log_ratio = (np.bincount(owner, log_ratio) / lengths)[owner]
    ratio = np.exp(log_ratio)
    rewards = np.array([row["reward"] for row in group])
    advantage = rewards - rewards.mean()
    if name != "Dr. GRPO" and rewards.std():
        advantage = advantage / rewards.std()
    a = advantage[owner]
    low, high = BANDS[name]
    objective = np.minimum(ratio * a, np.clip(ratio, low, high) * a)
    bound = objective != ratio * a
    size = len(group)
    divisor = {"sequence": size * lengths[owner], "token": lengths.sum(), "constant": size * LIMIT}[averaging]
    share = -objective / divisor
    return [np.array([share.sum()]), np.array([bound.mean()]), ratio, share, np.where(bound, 0, ratio * a / divisor)]


def test_b08_every_number_of_every_state_is_that_of_numpy(tab):
    page = tab.show(PATH)
    found = json.loads(page.evaluate(EVERYTHING))
    states = 0
    for drawn, prompt, averaging, name in itertools.product(range(len(MOMENTS)), range(4), WAYS, BANDS):
        for now in range(drawn, len(MOMENTS)):
            values = found[f"{drawn},{prompt},{now},{averaging},{name}"]
            for got, wanted in zip(values, expected(drawn, prompt, now, averaging, name), strict=True):
                np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-9)
            states += 1
    assert states == len(found) == 4 * 15 * 36


@pytest.mark.parametrize("state", [(0, 1, "sequence", "GRPO"), (0, 7, "token", "no clip"), (2, 5, "constant", "GSPO")])
def test_b08_the_table_says_what_is_drawn(open_figure, state):
    drawn, now, averaging, name = state
    query = f"llm-run.prompt=1&llm-run.drawn={drawn}&llm-run.now={now}"
    figure = open_figure(f"{PATH}?{query}&llm-run.averaging={averaging}&llm-run.variant={name.replace(' ', '+')}", TAG)
    *tokens, last = figure.table("Every token")
    loss, _, ratio, share, _ = expected(drawn, 1, now, averaging, name)
    group = MOMENTS[drawn]["groups"][1]
    texts = [text.replace(" ", "␣").replace("\n", "⏎") for row in group for text in row["tokens"]]
    assert [re.sub(r"^\d+: ", "", row[0]) for row in tokens] == texts
    for place, wanted in ((2, [np.exp(x) for row in group for x in row["logp"][0]]), (4, ratio)):
        assert [numbers(row[place])[0] for row in tokens] == pytest.approx(wanted, abs=6e-4)
    assert [numbers(row[7])[0] for row in tokens] == pytest.approx(share, abs=6e-5)
    assert numbers(last[7]) == pytest.approx(loss, abs=6e-5)
    drawing = figure.node.locator(".share").all_text_contents()
    assert [numbers(text)[0] for text in drawing] == pytest.approx(share[share != 0], abs=6e-4)


def test_b08_a_policy_is_never_older_than_what_it_learns_from(open_figure):
    figure = open_figure(PATH, TAG)
    figure.slide("Completions drawn after", f"step {MOMENTS[3]['step']}")
    assert "Fresh completions" in figure.status or "no token is pushed" in figure.status
    assert "llm-run.now=3" in figure.page.url
    figure.slide("Policy that learns: after", "step 0")
    assert "drawn=3" not in figure.page.url
    figure.press("Stale")
    assert f"{MOMENTS[-1]['step']} steps old" in figure.status and "lets go" in figure.status
    assert figure.node.locator(".ghost").count() > 0
    figure.press("Stale, no clip")
    assert figure.node.locator(".ghost").count() == 0
