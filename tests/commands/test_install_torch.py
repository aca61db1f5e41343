"""What `python -m grader.commands.install_torch` takes from where, and what it says before it starts."""

import contextlib
import functools
import http.server
import socket
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest

from grader.commands import install_torch

PIN = next(line for line in install_torch.CONSTRAINTS.read_text("utf-8").split("\n") if line.startswith("torch=="))
VERSION = PIN.removeprefix("torch==")


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def served(folder: Path):
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def write_wheel(folder: Path, version: str) -> None:
    """An index that has one version of a torch with nothing in it, which needs a package that no index has."""
    folder.mkdir(parents=True)
    name, about = f"torch-{version}-py3-none-any.whl", f"torch-{version}.dist-info"
    with zipfile.ZipFile(folder / name, "w") as wheel:
        metadata = (
            f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\nRequires-Dist: a-package-that-no-index-has\n"
        )
        wheel.writestr(f"{about}/METADATA", metadata)
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")
    (folder / "index.html").write_text(f'<a href="{name.replace("+", "%2B")}">{name}</a>', "utf-8")


@pytest.fixture
def without_torch(monkeypatch, tmp_path) -> Path:
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
def no_pip(monkeypatch):
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("nothing is installed here"))


def test_the_pinned_build_without_cuda_comes_from_the_index_and_its_requirements_do_not(without_torch, tmp_path, capfd):
    for version in (f"{VERSION}+cpu", "99.0+cpu"):
        write_wheel(tmp_path / version / "torch", version)
    with served(tmp_path) as address:
        assert install_torch.main(["--index", f"{address}/{VERSION}+cpu/"]) == 0
        output = capfd.readouterr()
        assert [path.name for path in without_torch.glob("torch-*")] == [f"torch-{VERSION}+cpu.dist-info"], output.err
        assert install_torch.SMALL in output.out
        # Another version than the pinned one is none.
        assert install_torch.main(["--index", f"{address}/99.0+cpu"]) == 0
        assert "PyPI" in capfd.readouterr().out
        assert not [*without_torch.glob("torch-99*")]


def test_an_index_that_cannot_be_reached_is_said_and_not_waited_for(
    without_torch, no_pip, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(install_torch, "_ANSWER_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent, served(tmp_path) as empty:
        gone = f"http://127.0.0.1:{silent.getsockname()[1]}"
        for index in (gone, empty, "http://host.invalid", "no address"):
            assert install_torch.main(["--index", index]) == 0
            assert "Cannot reach" in capsys.readouterr().out, index
    assert install_torch.main(["--index", gone]) == 0, "nobody listens there any more"
    assert "Cannot reach" in capsys.readouterr().out


def test_the_pinned_version_is_not_installed_again(no_pip, monkeypatch, capsys):
    for version, there in ((VERSION, True), (f"{VERSION}+cpu", True), ("2.6.0+cpu", False)):
        monkeypatch.setattr("importlib.metadata.version", lambda _, version=version: version)
        assert install_torch.is_installed() is there
    monkeypatch.setattr(install_torch, "is_installed", lambda: True)
    assert install_torch.main([]) == 0
    assert "installed already" in capsys.readouterr().out


def test_without_pip_uv_installs(without_torch, monkeypatch):
    ran = []

    def run(command, *, check):
        ran.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    monkeypatch.setenv("UV", "/opt/uv")
    assert install_torch.installs("http://index")
    ((uv, *arguments),) = ran
    assert uv == "/opt/uv" and arguments[:4] == ["pip", "install", "--python", sys.executable]
    assert arguments[-3:] == ["--index-url", "http://index", "torch"]
