"""Checks that compare with the live model answers: in the instructor's tree and in CI, not in the handout."""
