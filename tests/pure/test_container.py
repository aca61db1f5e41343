"""The Docker image holds what grading needs, and grades as an ordinary user."""

import fnmatch
import tomllib

from grader.core import course


def test_an_image_holds_what_grading_needs_and_grades_as_an_ordinary_user() -> None:
    rules = [
        line for line in (course.ROOT / ".dockerignore").read_text("utf-8").split("\n") if line[:1] not in ("", "#")
    ]
    allowed = [line.removeprefix("!") for line in rules if line.startswith("!")]
    assert rules[0] == "*", "only named files go into the image"
    assert not {"tests", "starter", "docs"} & {*allowed} and all((course.ROOT / name).exists() for name in allowed)
    project = tomllib.loads((course.ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert {"grader", "reference", "course.toml", project["readme"], *project["license-files"]} <= {*allowed}
    text = (course.ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
    steps = [line for line in text.split("\n") if line and not line.startswith("#")]
    for source in (word for line in steps if line.startswith("COPY ") for word in line.split()[1:-1]):
        assert source == "." or (course.ROOT / source).is_file()
        assert source == "." or any(source == name or fnmatch.fnmatch(source, f"{name}/*") for name in allowed)
    kinds = [line.split()[0] for line in steps]
    assert "RUN" not in kinds[kinds.index("USER") :] and steps[kinds.index("USER")] != "USER root"
    assert steps[-1] == 'ENTRYPOINT ["grade", "--path", "/submission"]'
