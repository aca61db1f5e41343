"""How many inputs hypothesis makes per invariant, and how it runs."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, Verbosity, settings

from . import hypothesis_compat

# Inputs per invariant, which is a test of hypothesis. Explicit examples cover the special cases, and one input holds
# several groups, so few are enough to catch every known mistake (`course dev selftest` uses the default). Watching and
# debugging must be fast.
DEFAULT_INPUTS = 16
WATCH_INPUTS = 6
DEBUG_INPUTS = 3


def use_profile(inputs: int = DEFAULT_INPUTS, *, shrink: bool = True) -> None:
    """Set hypothesis up for grading: no clock, no database, no output. Call it before the checks are imported.

    `inputs` are those per invariant. `shrink` looks for the smallest failing input; no outcome depends on it.
    """
    settings.register_profile(
        "course",
        max_examples=inputs,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        print_blob=False,
        verbosity=Verbosity.quiet,
        phases=(Phase.explicit, Phase.generate, *([Phase.shrink] if shrink else [])),
        suppress_health_check=list(HealthCheck),
    )
    settings.load_profile("course")
    hypothesis_compat.ignore_local_constants()
    hypothesis_compat.write_no_files()


def inputs_per_invariant() -> int:
    """Inputs per invariant in the present profile."""
    return settings.default.max_examples if settings.default else DEFAULT_INPUTS
