"""One folder for each exercise, with all that only this exercise has."""
