"""Checks that compare with the live model answers. They exist in the instructor's tree and in CI, not in the handout."""
