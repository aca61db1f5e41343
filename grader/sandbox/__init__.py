"""Runs foreign code: a warm process forks a worker behind walls, and plain data goes in and comes out."""
