"""Arguments in, exit code out: one module for each command, named like it."""
