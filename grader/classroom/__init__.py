"""Finds, grades, stores and describes many submissions."""
