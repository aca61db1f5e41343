"""What `python -m grader.commands.install_torch` takes from where, and what it says before it starts."""

import contextlib
import functools
import http.server
import socket
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.commands import install_torch
from grader.core import course

PIN = next(line for line in install_torch.CONSTRAINTS.read_text("utf-8").split("\n") if line.startswith("torch=="))
VERSION = PIN.removeprefix("torch==")
NEEDS = "a-package-that-no-index-has"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def write_wheel(folder: Path, version: str) -> None:
    """An index that has one version of a torch with nothing in it."""
    folder.mkdir(parents=True)
    name = f"torch-{version}-py3-none-any.whl"
    about = f"torch-{version}.dist-info"
    with zipfile.ZipFile(folder / name, "w") as wheel:
        wheel.writestr(
            f"{about}/METADATA", f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\nRequires-Dist: {NEEDS}\n"
        )
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")
    (folder / "index.html").write_text(f'<a href="{name.replace("+", "%2B")}">{name}</a>', "utf-8")


@pytest.fixture
def without_torch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Linux on a usual processor, without torch; pip installs into the folder that this is."""
    monkeypatch.setattr(install_torch, "is_installed", lambda: False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_CONSTRAINT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_TARGET", str(tmp_path / "installed"))
    return tmp_path / "installed"


@pytest.fixture
def no_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: object, **__: object) -> None:
        raise AssertionError("nothing is installed here")

    monkeypatch.setattr(subprocess, "run", run)


def test_the_build_without_cuda_of_the_pinned_version_comes_from_the_index_and_what_it_needs_does_not(
    without_torch: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for version in (f"{VERSION}+cpu", "99.0+cpu"):
        write_wheel(tmp_path / version / "torch", version)
    with served(tmp_path) as address:
        index = f"{address}/{VERSION}+cpu/"
        assert install_torch.main(["--index", index]) == 0
        said = capfd.readouterr()
        assert [each.name for each in without_torch.glob("torch-*")] == [f"torch-{VERSION}+cpu.dist-info"], said.err
        assert said.out == f"Installing, with PyTorch without CUDA: {install_torch.SMALL}.\n"
        # Another version than the pinned one is none.
        assert install_torch.main(["--index", f"{address}/99.0+cpu"]) == 0
        assert "That did not work; taking PyPI's build of PyTorch, which may bring CUDA along" in capfd.readouterr().out
        assert not [*without_torch.glob("torch-99*")]


def test_an_index_that_cannot_be_reached_is_said_and_not_waited_for(
    without_torch: Path,
    no_pip: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    sentence = "PyTorch's own index cannot be reached; taking PyPI's build, which may bring CUDA along: about 3 GB"
    monkeypatch.setattr(install_torch, "_ANSWER_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent, served(tmp_path) as empty:
        port = silent.getsockname()[1]
        for index in (f"http://127.0.0.1:{port}", empty, "http://host.invalid", "no address"):
            assert install_torch.main(["--index", index]) == 0
            assert sentence in capsys.readouterr().out, index
    assert install_torch.main(["--index", f"http://127.0.0.1:{port}"]) == 0, "nobody listens there any more"
    assert sentence in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "system", "machine", "said"),
    [
        (["--cuda"], "linux", "x86_64", "with PyTorch for CUDA: about 3 GB"),
        ([], "darwin", "arm64", "Installing: about 250 MB"),
        ([], "win32", "AMD64", "Installing: about 250 MB"),
        ([], "linux", "riscv64", "Installing: about 250 MB"),
    ],
)
def test_where_there_is_nothing_to_choose_the_next_step_installs_torch(
    arguments: list[str],
    system: str,
    machine: str,
    said: str,
    without_torch: Path,
    no_pip: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr("platform.machine", lambda: machine)
    monkeypatch.setattr(install_torch, "answers", lambda index: pytest.fail("nobody asks the index"))
    assert install_torch.main(arguments) == 0
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(("version", "there"), [(VERSION, True), (f"{VERSION}+cpu", True), ("2.6.0+cpu", False)])
def test_torch_is_there_when_its_version_is_the_pinned_one(
    version: str, there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda _: version)
    assert install_torch.is_installed() is there


def test_what_is_there_is_not_installed_again(no_pip: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert install_torch.main([]) == 0
    assert capsys.readouterr().out == "PyTorch is installed already.\n"


def test_without_pip_uv_installs(without_torch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = []

    def run(command: list[str], *, check: bool) -> subprocess.CompletedProcess[str]:
        ran.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    monkeypatch.setenv("UV", "/opt/uv")
    assert install_torch.installs("http://index")
    ((uv, *arguments),) = ran
    assert uv == "/opt/uv" and arguments[:4] == ["pip", "install", "--python", sys.executable]
    assert arguments[-3:] == ["--index-url", "http://index", "torch"]


def recipe(makefile: Path) -> list[str]:
    _, _, rest = makefile.read_text("utf-8").partition("$(VENV)/installed:")
    return rest.partition("\n\n")[0].split("\n")


def test_both_makefiles_set_up_alike_torch_first() -> None:
    ours, handed_out = (recipe(course.ROOT / name) for name in ("Makefile", "grader/workshop/handout_files/Makefile"))
    assert ours == handed_out
    (torch,) = (number for number, line in enumerate(ours) if "grader.commands.install_torch" in line)
    (rest,) = (number for number, line in enumerate(ours) if "pip install" in line)
    assert torch < rest
