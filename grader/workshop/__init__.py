"""Writes or proves files of this repository."""
