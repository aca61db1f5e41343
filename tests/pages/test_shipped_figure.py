"""The figure of GRPO as libraries ship it, by the keyboard."""

from page_text import numbers


def test_two_libraries_are_compared_and_a_formula_is_looked_up(open_figure):
    figure = open_figure("/results/as-shipped/?as-shipped.a=TRL&as-shipped.b=verl", "grpo-as-shipped")
    assert [row[0] for row in figure.table() if row[3] == "yes"] == ["A2, token 7"]
    assert numbers(figure.status)[0] == 1
    lookup = figure.node.get_by_label("Find by KL")
    lookup.focus()
    lookup.press("End")  # the last of those that no library ships
    assert "no library" in figure.state
    lookup.select_option("k1 in the loss")
    assert "KL k1 in the loss: Tunix" in figure.state
    before = figure.state
    figure.use_every_control()
    assert figure.state != before
