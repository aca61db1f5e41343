"""The pieces of "Find the silent bug": one line decides, it matters, and the page has what the code does now."""

from __future__ import annotations

import pytest

from grader.workshop import bughunt

PIECES = {piece.id: piece for piece in bughunt.pieces()}


@pytest.mark.parametrize("name", PIECES)
def test_the_two_versions_differ_in_one_line_and_in_what_they_do(name: str) -> None:
    piece = PIECES[name]
    different = [
        place for place, (right, wrong) in enumerate(zip(piece.right, piece.wrong, strict=True), 1) if right != wrong
    ]
    assert different == [piece.line]
    right, wrong = piece.effects
    assert len(right) == len(wrong) and max(abs(a - b) for a, b in zip(right, wrong, strict=True)) > 0.05
    assert {*piece.kinds} <= {*bughunt.KINDS}
    assert len(piece.right) <= 14
    compile("\n".join(piece.wrong), name, "exec")


def test_some_pieces_have_a_bug_and_no_two_of_them_the_same_kind() -> None:
    kinds = [piece.kinds[0] for piece in PIECES.values() if piece.kinds]
    assert (len(PIECES), len(kinds), len({*kinds})) == (10, 7, 7)


def test_the_data_and_the_page_are_what_the_command_writes() -> None:
    pieces = [*PIECES.values()]
    page = bughunt.PAGE.read_text("utf-8")
    assert bughunt.PATH.read_text("utf-8") == bughunt.make(pieces), "run: course dev recordings"
    assert page == bughunt.make_page(page, pieces), "run: course dev recordings"
    assert all(f"{{ #{name} }}" in page for name in PIECES)


def test_a_piece_without_exactly_one_marker_is_refused(tmp_path) -> None:
    text = (bughunt.FILES / "08_pass_at_k.py").read_text("utf-8")
    for changed in (text.replace("# odd:", "# note:"), text + "    # bug sign: return []\n"):
        (tmp_path / "01_a.py").write_text(changed, "utf-8")
        with pytest.raises(ValueError):
            bughunt.read(tmp_path / "01_a.py")
