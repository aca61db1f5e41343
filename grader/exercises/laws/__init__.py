"""All that only this exercise has."""
