"""Says at the end of `make attacks` at which level the attacks were made."""

import pytest

from grader.sandbox.sandbox import missing_walls


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    level = max(level for level in (0, 1, 2) if not missing_walls(level))
    missing = f" Missing for level {level + 1}: {'; '.join(missing_walls(level + 1))}." if level < 2 else ""
    terminalreporter.write_line(f"The best isolation level of this machine is {level}.{missing}")
