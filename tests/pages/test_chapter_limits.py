"""Chapter 8, limits: every number against the model answers and numpy, and what a reader does with the explorables."""

import re
from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
from explorables import numbers

from grader.core import course
from grader.oracles import simulation
from grader.oracles.sfc32 import uniforms
from reference.advantages import group_advantages
from reference.clip import clipped_surrogate, importance_ratio

PATH = "/learn/limits/"
TEXT = (course.ROOT / "docs/learn/limits.md").read_text("utf-8")
VALUES = [0.5, 0.55, 0.7, 0.7, 0.8, 0.1]
RATINGS = [[1, 1, 1], [1, 0, 0], [0, 0, 0], [0, 0, 1]]
SEEDS = range(1, 21)
MINUS = "\u2212"
NONE = "\u2013"


def signed(value, digits=3):
    """A number as the page writes it: with a sign, and a real minus."""
    text = f"{abs(value):.{digits}f}"
    return text if float(text) == 0 else ("+" if value > 0 else MINUS) + text


def rows_of(text, heading):
    """The cells of the table on the page that has this heading."""
    table = text.split(heading, 1)[1].split("\n\n", 1)[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def plain(cell):
    """What a reader sees of a cell: no marks of Markdown."""
    return re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", cell).replace("`", "").replace("*", "")


def token_advantages(values, lam):
    """Generalized advantage estimation as a sum over all later tokens; the reward at the end is 0."""
    surprises = np.diff([*values, 0.0])
    return [sum(lam ** (u - t) * surprises[u] for u in range(t, len(values))) for t in range(len(values))]


def process_advantages(ratings):
    normalized = group_advantages(torch.tensor(ratings, dtype=torch.float64).flatten()).reshape(len(ratings), -1)
    return normalized.flip(-1).cumsum(-1).flip(-1).tolist()


def grpo_blame():
    return group_advantages(torch.tensor([1.0] * 4 + [0.0] * 4, dtype=torch.float64)).tolist()[-1]


# W19


def test_w19_ppo_blames_the_token_at_which_the_critic_expects_less(open_figure):
    figure = open_figure(PATH, "grpo-credit")
    assert figure.column(2) == [pytest.approx(grpo_blame(), abs=5e-4)] * 6
    for button, lam, values in (
        ("One token ahead", 0, VALUES),
        ("To the end", 1, VALUES),
        ("Untrained critic", 1, [0.5] * 6),
    ):
        figure.press(button)
        assert figure.column(3) == pytest.approx(token_advantages(values, lam), abs=5e-4)
    figure.slide("λ of PPO", "0.95")
    figure.tick("The critic has learned nothing: 0.5 everywhere", on=False)
    assert figure.column(3) == pytest.approx(token_advantages(VALUES, 0.95), abs=5e-4)


def test_w19_a_pressed_token_is_marked_and_its_two_advantages_are_read_out(open_figure):
    figure = open_figure(PATH, "grpo-credit")
    figure.pick("2+12")
    assert [row[0] for row in figure.table()][3] == "▶ 4: 2+12"
    assert numbers(figure.status)[-2:] == pytest.approx([-1, token_advantages(VALUES, 0.5)[3]], abs=5e-4)
    for row, pushes in enumerate(([grpo_blame()] * 6, token_advantages(VALUES, 0.5))):
        shown = figure.node.locator("svg.grpo-chart path.bar").evaluate_all("bars => bars.map(bar => bar.classList[1])")
        assert shown[6 * row : 6 * row + 6] == ["up" if push > 0 else "down" for push in pushes]


def test_w19_a_token_in_the_picture_can_be_pressed(open_figure):
    figure = open_figure(PATH, "grpo-credit")
    figure.node.locator("svg.grpo-chart text.on", has_text="so").last.click()
    assert figure.status.startswith("Token 3, “so”")
    assert figure.node.get_by_role("radio", name="so", exact=True).is_checked()


def test_w19_the_table_on_the_page_is_that_of_generalized_advantage_estimation():
    columns = [token_advantages(VALUES, lam) for lam in (0, 0.5, 1)]
    rows = rows_of(TEXT, "| Token | Expected before it |")
    for t, (_, value, grpo, *ppo) in enumerate(rows):
        assert [float(value), grpo] == [VALUES[t], signed(grpo_blame())]
        assert [numbers(cell)[0] for cell in ppo] == pytest.approx([column[t] for column in columns], abs=5.01e-4)
    notice = TEXT.split("| Token | Expected before it |", 1)[1]
    assert f"token 5 gets {signed(columns[0][4])}, because 0.8 becomes 0.1" in notice
    assert f"all six tokens then get {signed(token_advantages([0.5] * 6, 1)[0])}" in notice
    assert f"`=15`: {signed(grpo_blame())} each" in notice


# W20


def outcome_advantages(ratings):
    answers = torch.tensor([row[-1] for row in ratings], dtype=torch.float64)
    return [[advantage] * 3 for advantage in group_advantages(answers).tolist()]


def shown_steps(figure):
    """Ratings and both advantages of all steps, in three grids of solutions and steps."""
    return [np.array(figure.column(place)).reshape(4, 3).tolist() for place in (1, 2, 3)]


def test_w20_a_process_reward_sees_the_lucky_guess(open_figure):
    figure = open_figure(PATH, "grpo-process-reward")
    ratings, outcome, process = shown_steps(figure)
    assert ratings == RATINGS
    assert outcome == [pytest.approx(row, abs=5e-4) for row in outcome_advantages(RATINGS)]
    assert process == [pytest.approx(row, abs=5e-4) for row in process_advantages(RATINGS)]
    lucky = [outcome_advantages(RATINGS)[3][0], process_advantages(RATINGS)[3][0]]
    assert numbers(figure.status)[-2:] == pytest.approx(lucky, abs=5e-4)
    assert "pushes it up" in figure.status and "the process reward down" in figure.status
    drawn = figure.node.locator("svg.grpo-chart path.bar").evaluate_all("bars => bars.map(bar => bar.classList[1])")
    assert drawn == ["up" if a > 0 else "down" for a in np.ravel([outcome, process])]
    assert figure.node.locator("svg.grpo-chart circle").count() == 4 + 12, "one reward each, or one for every step"


def test_w20_one_mistaken_rating_changes_the_whole_group(open_figure):
    figure = open_figure(PATH, "grpo-process-reward")
    figure.node.locator("svg.grpo-chart .cell").nth(3).click()
    assert "” in solution 2: the outcome reward pushes it down" in figure.status
    figure.tick("The rating of this step is mistaken")
    ratings = [list(row) for row in RATINGS]
    ratings[1][0] = 0
    shown, outcome, process = shown_steps(figure)
    assert shown == ratings
    assert outcome == [pytest.approx(row, abs=5e-4) for row in outcome_advantages(RATINGS)]
    assert process == [pytest.approx(row, abs=5e-4) for row in process_advantages(ratings)]
    before = process_advantages(RATINGS)
    assert all(abs(process[i][t] - before[i][t]) > 0.01 for i in range(4) for t in range(3))
    assert "misleads the process reward alone" in figure.status


def test_w20_the_table_and_the_notice_on_the_page_are_those_of_the_model_answers():
    process = process_advantages(RATINGS)
    for i, (_, ratings, outcome, *steps) in enumerate(rows_of(TEXT, "| Solution | Ratings |")):
        assert [int(rating) for rating in ratings.split(",")] == RATINGS[i]
        assert outcome == ("+1.000" if RATINGS[i][-1] else f"{MINUS}1.000")
        assert steps == [signed(a) for a in process[i]]
    flat = np.array(RATINGS).ravel()
    assert f"(mean {flat.mean():.3f}, standard deviation {flat.std():.3f})" in TEXT
    assert f"pushes its first step down: {signed(process[3][0])}" in TEXT
    assert f"still gets {signed(process[1][0])}, because" in TEXT


# B06

REWARDS = {
    "peak": simulation.single_peak(),
    "third": tuple(reward / 3 for reward in simulation.single_peak()),
    "sparse": (0.0,) * 6 + (1.0,) + (0.0,) * 3,
}


def simulated(rewards, inner_steps, *, lr=0.5, divide_by_std=True, clip_eps=0.2, seeds=SEEDS):
    """Runs of the grader's simulation, which knows neither leave-one-out nor dynamic sampling."""
    settings = simulation.Settings(
        reward_table=REWARDS[rewards],
        group_size=8,
        lr=lr,
        inner_steps=inner_steps,
        divide_by_std=divide_by_std,
        clip_eps=clip_eps,
    )
    runs = simulation.simulate(settings, seeds=seeds, steps=50)
    return runs.probabilities[..., 6], runs.clip_fraction, runs.zero_signal


def dapo_run(seed, rewards, inner_steps, *, lr=0.5, steps=50, most=20):
    """DAPO by the model answers and autograd: π(7) after each step, clip fractions, groups without signal, samples."""
    random = iter(uniforms([seed], steps * 8 * most)[0].tolist())
    table = torch.tensor(REWARDS[rewards], dtype=torch.float64)
    logits = torch.zeros(10, dtype=torch.float64)
    best, clipped, lost, samples = [0.1], [], 0, 0
    for _ in range(steps):
        old = torch.log_softmax(logits, -1)
        for _draw in range(most):
            ends = old.exp().cumsum(-1)[:-1]
            actions = torch.tensor([int((next(random) >= ends).sum()) for _ in range(8)])
            samples += 8
            if table[actions].unique().numel() > 1:
                break
        else:
            lost += 1
        advantages = group_advantages(table[actions])
        for _update in range(inner_steps):
            logits = logits.detach().requires_grad_()
            ratio = importance_ratio(torch.log_softmax(logits, -1)[actions], old[actions])
            objective = clipped_surrogate(ratio, advantages, clip_eps=0.2, clip_eps_high=0.28).mean()
            objective.backward()
            assert logits.grad is not None
            logits = logits.detach() + lr * logits.grad
        high, low = (ratio > 1.28) & (advantages > 0), (ratio < 0.8) & (advantages < 0)
        clipped.append((high | low).double().mean().item())
        best.append(torch.softmax(logits, -1)[6].item())
    return best, clipped, lost, samples


def line(curves, clip_fraction, lost, samples):
    """The numbers of a row of the table, as text: the end, the (lower) median of first steps over 0.5, and means.

    The clip fraction is None for a method without a clip.
    """
    curves = np.asarray(curves)
    firsts = np.where((curves > 0.5).any(axis=1), (curves > 0.5).argmax(axis=1), np.inf)
    half = np.sort(firsts)[(len(firsts) - 1) // 2]
    first = "never" if np.isinf(half) else f"{half:.0f}"
    return [
        f"{curves[:, -1].mean():.3f}",
        first,
        NONE if clip_fraction is None else f"{100 * np.mean(clip_fraction):.1f} %",
        f"{100 * lost / 50:.1f} %",
        f"{samples:.0f}",
    ]


def simulated_lines(rewards, inner_steps):
    """The rows of the methods that the simulation can show. RLOO is Dr. GRPO without a clip and with 8/7 of its η."""
    found = {}
    methods: dict[str, dict[str, Any]] = {
        "GRPO": {},
        "Dr. GRPO": {"divide_by_std": False},
        "RLOO": {"lr": 0.5 * 8 / 7, "divide_by_std": False, "clip_eps": None},
    }
    for name, options in methods.items():
        curves, clip_fraction, zero_signal = simulated(rewards, inner_steps, **options)
        shown = None if options.get("clip_eps", 0.2) is None else clip_fraction
        found[name] = line(curves, shown, zero_signal.sum(axis=1).mean(), 400)
    return found


def dapo_line(rewards, inner_steps):
    best, clipped, lost, samples = zip(*(dapo_run(seed, rewards, inner_steps) for seed in SEEDS), strict=True)
    return line(best, clipped, np.mean(lost), np.mean(samples))


def shown_lines(figure):
    return {row[0].replace("\u00a0", " "): [cell.replace("\u00a0", " ") for cell in row[1:]] for row in figure.table()}


def test_b06_all_methods_are_runs_of_the_graders_simulation_or_of_the_model_answers(open_figure):
    figure = open_figure(PATH, "grpo-variants")
    expected = simulated_lines("peak", 4) | {"DAPO": dapo_line("peak", 4)}
    assert shown_lines(figure) == expected
    assert rows_of(TEXT, "| Method | π(7) at the end |") == [[name, *cells] for name, cells in expected.items()]
    figure.press("One inner update")
    figure.choose("Rewards", "1 for action 7, else 0")
    shown = shown_lines(figure)
    assert {name: shown[name] for name in ("GRPO", "Dr. GRPO", "RLOO")} == simulated_lines("sparse", 1)
    assert [cells[2] for cells in shown.values()] == ["0.0 %", "0.0 %", NONE, "0.0 %"]


def test_b06_larger_steps_bring_dr_grpo_level_and_smaller_rewards_leave_grpo_alone(open_figure):
    figure = open_figure(PATH, "grpo-variants")
    first = shown_lines(figure)
    figure.press("Larger steps")
    larger = shown_lines(figure)
    assert larger["GRPO"] == first["GRPO"]
    curves, clip_fraction, zero_signal = simulated("peak", 4, lr=1.5, divide_by_std=False)
    assert larger["Dr. GRPO"] == line(curves, clip_fraction, zero_signal.sum(axis=1).mean(), 400)
    assert f"it passes 0.5 after {first['Dr. GRPO'][1]} steps, GRPO after {first['GRPO'][1]}" in TEXT
    assert f"With η = 1.50 it passes after {larger['Dr. GRPO'][1]}." in TEXT
    figure.press("Smaller rewards")
    smaller = shown_lines(figure)
    assert smaller["GRPO"] == first["GRPO"]
    assert f"GRPO ends at {smaller['GRPO'][0]} as before, Dr. GRPO at {smaller['Dr. GRPO'][0]}" in TEXT
    assert f"ends at {first['DAPO'][0]} and draws {first['DAPO'][4]} samples instead of 400" in TEXT
    assert f"{first['DAPO'][3]} of its steps stay without signal" in TEXT


def test_b06_gspo_gets_no_curve_of_its_own(open_figure):
    figure = open_figure(PATH, "grpo-variants")
    curves = figure.node.locator("svg.grpo-chart:not(.grpo-legend *) > path:not(.band)")
    assert curves.count() == 2
    figure.pick("GSPO")
    assert curves.count() == 1
    assert "GSPO cannot show here" in figure.status
    figure.pick("DAPO")
    assert curves.count() == 2
    assert numbers(figure.status)[-2:] == [400, float(shown_lines(figure)["DAPO"][4])]


def test_b06_without_a_clip_more_runs_end_on_a_wrong_action():
    settings = {"lr": 1.5 * 8 / 7, "divide_by_std": False, "seeds": range(1, 1001)}
    without, clipped = (simulated("peak", 4, clip_eps=eps, **settings)[0][:, -1] for eps in (None, 0.2))
    assert f"{(without < 0.5).sum()} runs of the row RLOO end on a wrong action" in TEXT
    assert f"The same runs with a clip of ε = 0.2: {(clipped < 0.5).sum()}." in TEXT


def test_b06_the_worked_example_of_a_sequence_ratio():
    ratios = torch.tensor([1.5, 0.8], dtype=torch.float64)
    sequence = ratios.log().mean().exp().item()
    assert f"{ratios[0]:.2f} and {ratios[1]:.2f} have the sequence ratio √{ratios.prod():.2f} = {sequence:.3f}" in TEXT
    assert (ratios > 1.2).tolist() == [True, False] and sequence < 1.2
    assert "ranges, 0.0003 below and 0.0004 above 1 (section 5.1)" in TEXT
    assert sequence > 1.0004, "the example is arithmetic only, as the page says"


# W11, B07 and W24: the timeline


def test_w24_a_card_says_what_the_table_of_the_page_says(open_figure):
    figure = open_figure(PATH, "grpo-timeline")
    rows = {row[0]: row for row in rows_of(TEXT, "| Name | Year |")}
    assert [row[0] for row in figure.table()] == list(rows)
    card = figure.node.locator(".grpo-card")
    for name, (_, year, parents, _, what, source) in rows.items():
        figure.slide("Method or model", name)
        text = card.inner_text()
        assert f"{name}, {year}. " in text and plain(what) in text
        address = re.search(r"\((https://[^)]+)\)", source)
        assert address and card.get_by_role("link").last.get_attribute("href") == address[1]
        if parents != NONE:
            assert f"{parents.split(', ')[0]} → {name}" in text
        children = [other for other, row in rows.items() if name in row[2].split(", ")]
        assert f"Built on it: {', '.join(children)}." in text if children else "Nothing here builds on it." in text


def test_w11_a_card_of_the_picture_can_be_pressed_and_arrow_keys_go_on(open_figure):
    figure = open_figure(PATH, "grpo-timeline")
    card = figure.node.locator(".grpo-card")
    assert card.inner_text().startswith("GRPO, 2024.") and "mean(r)" in card.locator("code").inner_text()
    figure.node.locator("g.card", has_text="RLOO").click()
    assert card.inner_text().startswith("RLOO, 2019.")
    assert (
        "learned value" not in figure.status and "mean of earlier rewards → mean of the other samples" in figure.status
    )
    figure.node.get_by_role("slider").press("ArrowRight")
    assert card.inner_text().startswith("InstructGPT, 2022.")
    assert figure.page.url.endswith("?timeline.method=InstructGPT")


def test_b07_each_part_has_the_cards_of_those_that_changed_it(open_figure):
    figure = open_figure(PATH, "grpo-timeline")
    assert "GRPO, 2024, baseline: learned value V(s) → mean of the group, divided by std." in figure.status
    rows = rows_of(TEXT, "| Name | Year |")
    for label in ("sampling", "KL", "clip", "level", "averaging", "models", "baseline"):
        figure.pick(label)
        changed = [row[0] for row in rows if re.search(rf"(^|; ){label.removesuffix('s')}: ", row[3])]
        assert figure.node.locator("g.card .who").all_text_contents() == changed
        assert f"{len(changed)} of {len(rows)}" in figure.status
    late = Counter(change.split(": ")[0] for row in rows if int(row[1]) >= 2025 for change in row[3].split("; "))
    assert late.most_common(1)[0][0] == "clip" and "no part has been changed as often as the clip" in TEXT


# W25


def test_w25_each_open_question_opens_by_keyboard_and_gives_an_answer(tab):
    page = tab.show(PATH)
    questions = page.locator("h3#open-questions ~ details.question")
    assert questions.count() == 4
    for question in questions.all():
        answer = question.locator("p:not(.admonition-title)").last
        assert not answer.is_visible()
        summary = question.locator("summary")
        assert summary.inner_text().strip().endswith("?")
        summary.press("Enter")
        assert answer.is_visible()
        assert "open" in answer.inner_text().rsplit(". ", 1)[-1], "an open question has no final answer"
        summary.press("Enter")
        assert not answer.is_visible()


# Tables and boxes


def test_the_box_about_r1_tells_its_two_models_apart():
    box = TEXT.split("### What DeepSeek-R1 did", 1)[1].split("\n## ", 1)[0]
    assert "is not pure GRPO" in box
    found = re.search(r"G = (\d+) for each of (\d+) questions, so (\d+)", box)
    assert found
    samples, questions, total = map(int, found.groups())
    assert samples * questions == total
    assert "myths.md#r1-clip" in box and "{ #r1-clip }" in (course.ROOT / "docs/myths.md").read_text("utf-8")
