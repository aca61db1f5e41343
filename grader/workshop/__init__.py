"""Generates or verifies files of this repository."""
