"""GRPO computed a second time, in numpy: what the checks, the pages and the worksheet are compared with."""
