"""Many submissions: find, grade, keep and describe them."""
