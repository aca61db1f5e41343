"""Starts the fork server or a single worker: python -I -S start.py {"path": [...], ...} as JSON.

Run with -I and -S, so that no user site, no .pth file and no environment variable adds to the import path; what is
needed comes in the first argument. The folder of this file is loaded as a package under a private name: with the course
itself on the path a submission could import the model answers.
"""

import contextlib
import importlib
import importlib.util
import json
import os
import socket
import sys

PACKAGE = "_course_worker"


def main() -> None:
    """Become the fork server or a worker, whichever the first argument asks for."""
    settings = json.loads(sys.argv.pop())  # a submission that reads its arguments finds none
    sys.path.extend(settings["path"])
    sys.dont_write_bytecode = True
    folder = os.path.dirname(os.path.abspath(__file__))
    spec = importlib.util.spec_from_file_location(
        PACKAGE, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = package
    spec.loader.exec_module(package)
    if "control" in settings:
        import gc

        gc.disable()  # until the imports are frozen: collections take a tenth of the import of torch
        from _course_worker import forkserver

        forkserver.serve(socket.socket(fileno=settings["control"]), settings["namespaces"], settings["temporary"])
        os._exit(0)  # the grader waits for this end, and Python's own would take apart all of torch first
    else:
        from _course_worker import confine, serve

        confine.adopt_orphans()
        if sys.platform == "win32":
            stream = socket.fromshare(sys.stdin.buffer.read())
        else:
            stream = socket.socket(fileno=settings["connection"])
        walls = confine.apply(settings)
        for name in settings["imports"]:
            with contextlib.suppress(ImportError):  # not installed: the submission will see
                importlib.import_module(name)
        serve.run(stream.recv, stream.sendall, walls, settings["device"])


if __name__ == "__main__":
    main()
