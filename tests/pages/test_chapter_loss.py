"""Chapter 6, the loss: every number against the model answers, and what a reader does with the explorables."""
# ruff: noqa: RUF001 - the page is searched for the signs that it really has, such as the Greek letter of the ratio.

import math

import pytest
import torch
from explorables import numbers

from grader.core import course
from reference.advantages import group_advantages
from reference.clip import clip_fraction, clipped_surrogate, importance_ratio
from reference.kl import categorical_kl, kl_estimate

PATH = "/learn/loss/"
TEXT = (course.ROOT / "docs/learn/loss.md").read_text("utf-8")
REWARDS = [0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0]
WRONG, RIGHT = group_advantages(torch.tensor(REWARDS, dtype=torch.float64))[:2].tolist()
OLD, NOW, REF = 0.30, 0.45, 0.28
TOKENS = {
    "The": (0.90, 0.92, 0.91),
    "answer": (0.80, 0.80, 0.82),
    "is": (0.95, 0.93, 0.95),
    "1": (0.40, 0.62, 0.35),
    "4": (0.50, 0.58, 0.45),
    ".": (0.70, 0.50, 0.72),
}
WORDS = {"tea": 0.40, "coffee": 0.30, "water": 0.15, "milk": 0.10, "soup": 0.05}
THREE = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64).log()


def log(probability):
    return torch.tensor(probability, dtype=torch.float64).log()


def surrogate(now, old, advantage, eps=0.2):
    """The model answers' surrogate of one token, and whether the clip binds."""
    ratio = importance_ratio(log(now), log(old))
    advantages = torch.tensor(advantage, dtype=torch.float64)
    binds = clip_fraction(ratio, advantages, clip_eps=eps).item() == 1
    return clipped_surrogate(ratio, advantages, clip_eps=eps).item(), binds


def estimate(now, ref, kind="k3"):
    return kl_estimate(log(now), log(ref), kind=kind).item()


def loss(now, old, ref, advantage, *, beta=0.04, kind="k3"):
    return beta * estimate(now, ref, kind) - surrogate(now, old, advantage)[0]


def written(x, digits, *, sign=False):
    """A number as the page writes it."""
    text = f"{x:+.{digits}f}" if sign else f"{x:.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("+-")
    return text.replace("-", "−")


def row(*cells):
    return f"| {' | '.join(cells)} |"


@pytest.mark.parametrize(("old", "now"), [(0.3, 0.45), (0.3, 0.15), (0.01, 0.03), (0.8, 0.95), (0.3, 0.3)])
def test_w14_ratio_and_surrogates_are_those_of_the_model_answers(open_figure, old, now):
    figure = open_figure(f"{PATH}?ratio.old={old}&ratio.now={now}", "grpo-ratio")
    quantities = dict(figure.table("The importance ratio"))
    ratio = importance_ratio(log(now), log(old)).item()
    assert quantities["ρ = π_θ / π_old"] == f"{ratio:.3f}"
    assert numbers(quantities["log ρ = log π_θ − log π_old"]) == [pytest.approx(math.log(ratio), abs=5e-4)]
    for cells, advantage in zip(figure.table("What the clip makes of it (ε = 0.2)"), (1.0, -1.0), strict=True):
        value, binds = surrogate(now, old, advantage)
        assert numbers(cells[3]) == [pytest.approx(value, abs=5e-4)]
        assert ("binds" in cells[4]) == binds


def test_w14_says_on_which_side_the_clip_binds(open_figure):
    figure = open_figure(PATH, "grpo-ratio")
    assert "1.50 times" in figure.status and "binds if A is positive" in figure.status
    figure.press("Half as likely")
    assert "0.50 times" in figure.status and "binds if A is negative" in figure.status
    figure.slide("π_θ, now", "0.30")
    assert "1.00 times" in figure.status and "the clip does nothing" in figure.status


def test_w15_the_gradient_goes_off_in_two_of_four_corners_only(open_figure):
    figure = open_figure(PATH, "grpo-clip-curve")
    corners = {
        "Good, too likely": (1.5, 1.0),
        "Bad, too likely": (1.5, -1.0),
        "Good, too unlikely": (0.5, 1.0),
        "Bad, too unlikely": (0.5, -1.0),
    }
    assert figure.status.startswith("Gradient off"), "the first state shows what the clip does"
    figure.slide("Ratio ρ", "1.00")
    assert figure.status.startswith("Gradient on. ")
    for name, (ratio, advantage) in corners.items():
        figure.press(name)
        value, binds = surrogate(ratio, 1.0, advantage)
        assert figure.status.startswith("Gradient off" if binds else "Gradient on, though")
        *_, yours = figure.table()
        assert yours[0] == f"{ratio:.2f} (yours)"
        assert numbers(yours[3]) == [pytest.approx(value)]
        assert numbers(yours[4]) == [0 if binds else advantage]


def test_w15_a_wider_band_lets_the_gradient_on_again(open_figure):
    figure = open_figure(f"{PATH}?clip-curve.ratio=1.4", "grpo-clip-curve")
    assert figure.status.startswith("Gradient off")
    figure.slide("Clip range ε", "0.50")
    assert figure.status.startswith("Gradient on.")
    figure.pick("A = −1, bad")
    assert "down" in figure.status


def is_exact(rows):
    """Whether parts and sums of a table are those of the exact KL of the per cents in it."""
    *parts, total = rows
    ref, policy = (log([numbers(cells[place])[0] / 100 for cells in parts]) for place in (1, 2))
    assert ref.exp().tolist() == pytest.approx(list(WORDS.values()))
    assert policy.exp().sum().item() == pytest.approx(1)
    for place, (one, other) in ((3, (policy, ref)), (4, (ref, policy))):
        assert numbers(total[place])[0] == pytest.approx(categorical_kl(one, other).item(), abs=5e-4)
        expected = (one.exp() * (one - other)).tolist()
        assert [numbers(cells[place])[0] for cells in parts] == pytest.approx(expected, abs=5e-4)
    return True


def test_w21_parts_and_sums_are_those_of_the_exact_kl(open_figure):
    figure = open_figure(PATH, "grpo-kl-words")
    assert is_exact(figure.table())
    for word, share in (("soup", 90), ("coffee", 1), ("tea", 96)):
        figure.slide(word, f"{share}\u00a0%")
        assert is_exact(figure.table())
        assert figure.column(2)[list(WORDS).index(word)] == share


def test_w21_a_bar_can_be_dragged_and_the_others_share_what_it_leaves(open_figure):
    figure = open_figure(PATH, "grpo-kl-words")
    figure.node.locator("svg.grpo-chart .handle").nth(4).hover()
    figure.page.mouse.down()
    figure.page.mouse.move(0, 0, steps=2)
    assert figure.column(2) == [39, 30, 20, 10, 1, 100], "as they shared before: 20, 15, 10, 5"
    figure.page.mouse.up()
    assert is_exact(figure.table())
    assert "kl-words.soup=1" in figure.page.url


def test_w21_names_the_word_that_costs_most(open_figure):
    figure = open_figure(PATH, "grpo-kl-words")
    assert "“soup”, which the policy says more often" in figure.status
    figure.press("Nearly only coffee")
    assert "“tea”, which the policy says less often" in figure.status
    figure.press("As the reference")
    assert "both divergences are 0" in figure.status


@pytest.mark.parametrize(("beta", "now"), [(0.04, 0.45), (0.5, 0.95), (0.1, 0.02)])
def test_w16_parts_of_the_loss_are_those_of_the_model_answers(open_figure, beta, now):
    figure = open_figure(f"{PATH}?kl-weight.beta={beta}&kl-weight.now={now}", "grpo-kl-weight")
    for place, kind in ((1, "k3"), (2, "k1")):
        expected = [
            -surrogate(now, OLD, RIGHT)[0],
            estimate(now, REF, kind),
            beta * estimate(now, REF, kind),
            loss(now, OLD, REF, RIGHT, beta=beta, kind=kind),
        ]
        assert figure.column(place) == pytest.approx(expected, abs=6e-5)


def test_w16_says_what_the_penalty_costs_and_when_k1_would_pay(open_figure):
    figure = open_figure(PATH, "grpo-kl-weight")
    share = 100 * 0.04 * estimate(NOW, REF) / surrogate(NOW, OLD, RIGHT)[0]
    assert numbers(figure.status)[1] == pytest.approx(share, abs=0.005)
    figure.press("Far below the reference")
    assert "k1 is negative" in figure.status
    figure.press("No penalty")
    assert "costs nothing" in figure.status


def test_w16_the_penalty_is_drawn_to_the_scale_of_the_surrogate(open_figure):
    figure = open_figure(f"{PATH}?kl-weight.beta=0.5", "grpo-kl-weight")
    strips = figure.node.locator("svg.grpo-chart rect:is(.up, .reference)")
    earned, cost = strips.evaluate_all("strips => strips.map(strip => strip.width.baseVal.value)")
    expected = 0.5 * estimate(NOW, REF) / surrogate(NOW, OLD, RIGHT)[0]
    assert cost / earned == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(("sample", "advantage"), [("1", RIGHT), ("0", WRONG)])
@pytest.mark.parametrize("now", [0.45, 0.2, 0.3])
def test_w22_every_value_is_that_of_the_model_answers(open_figure, sample, advantage, now):
    address = f"{PATH}?worked-example.step=5&worked-example.sample={sample}&worked-example.now={now}"
    figure = open_figure(address, "grpo-worked-example")
    found = {cells[0]: numbers(cells[2])[0] for cells in figure.table()}
    ratio = now / OLD
    expected = {
        "mean of the rewards": 3 / 8,
        "standard deviation": torch.tensor(REWARDS).std(correction=0).item(),
        "advantage A": advantage,
        "ratio ρ": ratio,
        "without the clip": ratio * advantage,
        "with the clip": min(1.2, max(0.8, ratio)) * advantage,
        "surrogate": surrogate(now, OLD, advantage)[0],
        "x": math.log(REF / now),
        "k3": estimate(now, REF),
        "loss": loss(now, OLD, REF, advantage),
    }
    assert found == pytest.approx(expected, abs=6e-5)
    pushes = figure.node.locator(f"svg.grpo-chart > path.bar.{'up' if advantage > 0 else 'down'}")
    sums = figure.node.locator("svg.grpo-chart > rect.bar").last
    heights = [pushes.nth(place).evaluate("node => node.getBBox().height") for place in range(3)]
    heights.append(sums.evaluate("node => node.getBBox().height"))
    names = ("advantage A", "without the clip", "surrogate", "loss")
    assert [high / heights[0] for high in heights] == pytest.approx(
        [abs(expected[name] / advantage) for name in names], abs=0.02
    )
    assert figure.node.locator("path.ghost").count() == surrogate(now, OLD, advantage)[1], "what the clip takes away"


def test_w22_comes_step_by_step(open_figure):
    figure = open_figure(PATH, "grpo-worked-example")
    assert [len(figure.table()), "Step 1 / 5" in figure.state] == [3, True]
    for rows in (4, 7, 9, 10):
        figure.press("Next")
        assert len(figure.table()) == rows
    assert "−1.5453" in figure.status
    figure.press("Next")
    assert len(figure.table()) == 10, "there is no sixth step"
    figure.press("Back")
    assert len(figure.table()) == 9
    figure.choose("Sample", "sample 1, reward 0")
    figure.press("Back")
    assert "does not bind" in figure.status


@pytest.mark.parametrize(("sample", "advantage"), [("right", RIGHT), ("wrong", WRONG)])
def test_w13_every_token_has_the_loss_of_the_model_answers(open_figure, sample, advantage):
    figure = open_figure(f"{PATH}?token-inspector.sample={sample}", "grpo-token-inspector")
    *rows, mean = figure.table("All tokens")
    losses = [loss(now, old, ref, advantage) for old, now, ref in TOKENS.values()]
    for cells, (old, now, ref), value in zip(rows, TOKENS.values(), losses, strict=True):
        assert numbers(cells[1]) == [pytest.approx(now / old, abs=5e-4)]
        assert (cells[2] == "binds") == surrogate(now, old, advantage)[1]
        assert numbers(cells[3]) == [pytest.approx(estimate(now, ref), abs=6e-5)]
        assert numbers(cells[4]) == [pytest.approx(value, abs=6e-5)]
    assert numbers(mean[4]) == [pytest.approx(sum(losses) / 6, abs=6e-5)]
    stems = figure.node.locator("g.word > path").evaluate_all("all => all.map(each => each.getBBox().height)")
    assert [stem / stems[0] for stem in stems] == pytest.approx([value / losses[0] for value in losses], abs=0.01)
    assert figure.node.locator(f"path.{'up' if advantage > 0 else 'down'}").count() == 6
    bound = [surrogate(now, old, advantage)[1] for old, now, _ in TOKENS.values()]
    assert figure.node.locator("g.word .ghost").count() == sum(bound)


def test_w13_the_arrow_keys_go_through_the_tokens(open_figure):
    figure = open_figure(PATH, "grpo-token-inspector")
    assert "Token “1”" in figure.status and "The clip binds" in figure.status
    chosen = figure.node.get_by_role("radio", name="1", exact=True)
    chosen.press("ArrowRight")
    assert "Token “4”" in figure.status and "inside the band" in figure.status
    figure.node.get_by_role("radio", name="4", exact=True).press("ArrowRight")
    assert "side that does not pay" in figure.status
    values = dict(figure.table("The chosen token"))
    assert values["π_old"] == "0.70" and values["π_θ"] == "0.50"
    figure.choose("The answer is", "wrong, A = −0.775")
    assert "The clip binds" in figure.status


def estimators(drift):
    """Name: mean, std and gradients of divergences and estimators, by torch's autograd and the model answers."""
    logits = (THREE + drift * torch.tensor([1.0, 0.0, -1.0])).requires_grad_()
    logp = logits.log_softmax(-1)
    drawn = logp.detach().exp()  # the samples are drawn: their weights have no gradient
    values = {
        "KL(π ‖ π_ref)": (categorical_kl(logits, THREE), None),
        "KL(π_ref ‖ π)": ((THREE.exp() * (THREE - logp)).sum(), None),
    }
    for kind in ("k1", "k2", "k3"):
        each = kl_estimate(logp, THREE, kind=kind)
        mean = (drawn * each).sum()
        values[kind] = (mean, (drawn * (each - mean) ** 2).sum().sqrt().item())
    return {
        name: (mean.item(), std, *torch.autograd.grad(mean, logits, retain_graph=True)[0].tolist())
        for name, (mean, std) in values.items()
    }


@pytest.mark.parametrize("drift", [1, 0.1, 2, -1.5])
def test_b02_values_and_gradients_are_those_of_autograd(open_figure, drift):
    figure = open_figure(f"{PATH}?estimators.drift={drift}", "grpo-estimators")
    rows = figure.table()
    expected = estimators(drift)
    assert [cells[0] for cells in rows] == list(expected)
    for name, *cells in rows:
        found = [numbers(cell)[0] if cell != "–" else None for cell in cells]
        mean, std, *gradient = expected[name]
        assert found[0] == pytest.approx(mean, abs=6e-4)
        assert found[1] == (None if std is None else pytest.approx(std, abs=6e-4))
        assert found[2:] == pytest.approx(gradient, abs=6e-4)


def test_b02_says_which_estimator_is_off_and_shows_gradients_on_request(open_figure):
    figure = open_figure(PATH, "grpo-estimators")
    assert "k2 is off by 19" in figure.status
    figure.press("Far away")
    assert "k2 is off by 35" in figure.status
    k1 = figure.node.locator("svg.grpo-chart path.line-third")
    as_value = k1.get_attribute("d")
    figure.pick("gradients")
    heights = {height for _, height in (point.split() for point in k1.get_attribute("d")[1:].split("L"))}
    assert as_value != k1.get_attribute("d") and len(heights) == 1, "as a loss k1 does nothing anywhere"
    figure.slide("Drift of the policy", "0.0")
    assert "all values and all gradients are 0" in figure.status


# The numbers of the text


def test_w14_and_w15_tables_and_cards_are_those_of_the_model_answers():
    for advantage, name in ((1.0, "+1"), (-1.0, "−1")):
        value, binds = surrogate(NOW, OLD, advantage)
        cells = [written(x, 3, sign=True) for x in (1.5 * advantage, 1.2 * advantage, value)]
        assert row(name, *cells, "0: the clip binds" if binds else name) in TEXT
        for ratio in (1.5, 0.5):
            value, binds = surrogate(ratio, 1.0, advantage)
            assert f"| {ratio} | {name} | {written(value, 2, sign=True)} | {'off' if binds else 'on'}: " in TEXT
    assert f"0.45 / 0.30 = {NOW / OLD:.1f}. Its logarithm is a difference of log-probabilities, 0.405" in TEXT
    assert round(math.log(NOW / OLD), 3) == 0.405
    assert "From 0.01 to 0.03 the ratio is 3," in TEXT and round(0.03 / 0.01) == 3
    assert "from 0.80 to 0.95 it is 1.19," in TEXT and f"{0.95 / 0.80:.2f}" == "1.19"


def test_w21_worked_numbers_on_the_page_are_those_of_the_model_answers():
    policy = {"tea": 0.20, "coffee": 0.15, "water": 0.10, "milk": 0.05, "soup": 0.50}

    def part(p, q):
        return p * math.log(p / q)

    for word, ref in WORDS.items():
        both = [written(x, 3, sign=True) for x in (part(policy[word], ref), part(ref, policy[word]))]
        assert row(word, f"{100 * ref:.0f} %", f"{100 * policy[word]:.0f} %", *both) in TEXT
    now, ref = log(list(policy.values())), log(list(WORDS.values()))
    sums = [f"{kl.item():.3f}" for kl in (categorical_kl(now, ref), categorical_kl(ref, now))]
    assert f"| sum | | | {' | '.join(sums)} |" in TEXT
    never, much = (part(0.01, 0.05), part(0.05, 0.01)), part(0.5, 0.05)
    assert f"adds {written(never[0], 3)} to KL(π ‖ π_ref) and +{never[1]:.3f} to the other direction" in TEXT
    assert f"grows to 50 % costs {much:.3f} in KL(π ‖ π_ref)" in TEXT


def test_w16_worked_numbers_on_the_page_are_those_of_the_model_answers():
    columns = [(0.04, "k3"), (0.04, "k1"), (0.5, "k3")]
    part = surrogate(NOW, OLD, RIGHT)[0]
    rows = {
        "− surrogate": [-part for _ in columns],
        "estimate of the KL": [estimate(NOW, REF, kind) for _, kind in columns],
        "β · estimate": [beta * estimate(NOW, REF, kind) for beta, kind in columns],
        "loss": [loss(NOW, OLD, REF, RIGHT, beta=beta, kind=kind) for beta, kind in columns],
    }
    for name, values in rows.items():
        assert row(name, *(written(x, 4, sign=True) for x in values)) in TEXT
    assert f"the penalty of this token is {100 * rows['β · estimate'][0] / part:.2f} % of its surrogate" in TEXT
    assert f"above {1.2 * OLD:.2f} the clip binds" in TEXT
    above, below = estimate(0.95, REF), estimate(0.02, REF)
    assert f"At 0.95 it is {above:.3f}, at 0.02 it is {below:.3f}" in TEXT
    assert "twenty times as much" in TEXT and round(below / above) == 20


def test_w22_worked_numbers_on_the_page_are_those_of_the_model_answers():
    std = torch.tensor(REWARDS, dtype=torch.float64).std(correction=0).item()
    value = surrogate(NOW, OLD, RIGHT)[0]
    for step, name, how, x in [
        (1, "mean of the rewards", "3 / 8", 3 / 8),
        (1, "standard deviation", "√(0.375 · 0.625)", std),
        (1, "advantage A", f"(1 − 0.375) / {std:.4f}", RIGHT),
        (2, "ratio ρ", "0.45 / 0.30", NOW / OLD),
        (3, "without the clip", f"1.5 · {RIGHT:.4f}", 1.5 * RIGHT),
        (3, "with the clip", f"1.2 · {RIGHT:.4f}", 1.2 * RIGHT),
        (3, "surrogate", "the smaller of the two", value),
        (4, "x", "ln(0.28 / 0.45)", math.log(REF / NOW)),
        (4, "k3", f"{REF / NOW:.4f} − 1 + {math.log(NOW / REF):.4f}", estimate(NOW, REF)),
        (5, "loss", f"−{value:.4f} + 0.04 · {estimate(NOW, REF):.4f}", loss(NOW, OLD, REF, RIGHT)),
    ]:
        assert row(str(step), name, how.replace("-", "−"), written(x, 4)) in TEXT
    assert f"A wrong sample has A = {written(WRONG, 4)}." in TEXT
    assert f"its loss is +{loss(NOW, OLD, REF, WRONG):.4f}" in TEXT


def test_w13_worked_numbers_on_the_page_are_those_of_the_model_answers():
    losses, drifts = [], []
    binding: dict[float, list[str]] = {RIGHT: [], WRONG: []}
    for token, (old, now, ref) in TOKENS.items():
        losses.append(loss(now, old, ref, RIGHT))
        drifts.append(estimate(now, ref))
        for advantage, tokens in binding.items():
            if surrogate(now, old, advantage)[1]:
                tokens.append(token)
        clip = "binds" if token in binding[RIGHT] else "–"
        numbers_of_token = [f"{old:.2f}", f"{now:.2f}", f"{ref:.2f}", f"{now / old:.3f}", clip, f"{drifts[-1]:.4f}"]
        assert row(token, *numbers_of_token, written(losses[-1], 4)) in TEXT
    means = sum(drifts) / 6, sum(losses) / 6
    assert f"| mean | | | | | | {means[0]:.4f} | {written(means[1], 4)} |" in TEXT
    assert f"is the mean, {written(means[1], 4)}" in TEXT
    assert binding == {RIGHT: ["1"], WRONG: ["."]}
    assert f'A = +{RIGHT:.3f} the clip binds at "1" alone (ρ = 1.55)' in TEXT
    assert f'A = {written(WRONG, 3)} it binds at "." alone (ρ = 0.714)' in TEXT


def test_b02_worked_numbers_on_the_page_are_those_of_autograd():
    found = estimators(1)
    for name, (mean, std, *gradient) in found.items():
        noise = "–" if std is None else f"{std:.3f}"
        assert row(name, f"{mean:.3f}", noise, *(written(x, 3, sign=True) for x in gradient)) in TEXT
    policy = (THREE + torch.tensor([1.0, 0.0, -1.0])).softmax(-1)
    assert f"has drifted to {', '.join(f'{p:.3f}' for p in policy.tolist())}." in TEXT
    assert f"k2 does not: {found['k2'][0]:.3f} instead of {found['k1'][0]:.3f}" in TEXT
    for drift, words in ((0.1, "a standard deviation of {} against {}"), (2, "(2 on the slider: {} against {})")):
        both = [f"{estimators(drift)[kind][1]:.3f}" for kind in ("k3", "k1")]
        assert words.format(*both) in TEXT


def test_the_answer_of_the_check_is_right():
    low, high = surrogate(0.10, 0.20, -2.0), surrogate(0.30, 0.20, -2.0)
    assert low == (pytest.approx(-1.6), True) and high == (pytest.approx(-3), False)
    answer = TEXT.split("## Check yourself", 1)[1].split("\n## ", 1)[0]
    assert "= −1.6, and the loss is minus that. Its gradient is 0" in answer
    assert "= −3: the smaller one, which is not clipped" in answer


def test_who_points_at_a_term_sees_where_else_it_is(tab):
    page = tab.load(PATH)
    lit = """() => [...document.querySelectorAll(".term-ratio, .term-kl")]
      .map((term) => [term.className.includes("term-kl"), getComputedStyle(term).boxShadow !== "none"])"""
    page.locator("code.term-ratio, .katex-html .term-ratio").first.hover()
    found = page.evaluate(lit)
    assert sum(is_lit for is_kl, is_lit in found if not is_kl) > 1
    assert not any(is_lit for is_kl, is_lit in found if is_kl)
    page.locator("h1").hover()
    assert not any(is_lit for _, is_lit in page.evaluate(lit))
