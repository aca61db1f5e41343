"""Engines that run the gradings of a class: in threads, or on a Dask cluster.

Both are `concurrent.futures.Executor`s, and any other executor works the same way. A thread only waits for its grading
process, so threads are as fast as processes. Dask is an extra: `pip install -e '.[dask]'`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor

from .grading_job import close_idle_processes
from .results import ClassError

ENGINES = ("threads", "dask")


@contextlib.contextmanager
def open_engine(name: str, *, jobs: int, scheduler: str | None = None) -> Iterator[tuple[Executor, int]]:
    """An executor, and how many gradings it runs at a time.

    Args:
        name: One of `ENGINES`.
        jobs: How many at a time on this machine.
        scheduler: Address of a running Dask scheduler; without one, Dask starts workers on this machine.

    Raises:
        ClassError: Dask is not installed, or the scheduler does not answer.
    """
    if name == "dask":
        with _dask(jobs, scheduler) as opened:
            yield opened
        return
    executor = ThreadPoolExecutor(jobs, thread_name_prefix="grading")
    try:
        yield executor, jobs
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
        close_idle_processes()


@contextlib.contextmanager
def _dask(jobs: int, scheduler: str | None) -> Iterator[tuple[Executor, int]]:
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ClassError("the engine dask needs another package: pip install -c constraints.txt -e '.[dask]'") from None
    with contextlib.ExitStack() as stack:
        if scheduler is None:
            # No dashboard and only a local address, because a scheduler runs what anybody sends it.
            options = {"dashboard_address": None, "host": "127.0.0.1", "silence_logs": 50}
            cluster = stack.enter_context(LocalCluster(n_workers=jobs, threads_per_worker=1, **options))
            scheduler = cluster.scheduler_address
        try:
            client = stack.enter_context(Client(scheduler, timeout=30))
        except (OSError, ValueError, TypeError) as error:
            raise ClassError(f"no Dask scheduler answers at {scheduler}: {error}") from None
        # Not pure, so that an equal job runs again after a failure. No retries, because `grade_job` decides about them.
        executor = client.get_executor(pure=False, retries=0)
        stack.callback(executor.shutdown, wait=False)  # its own exit would wait for running and queued jobs
        yield executor, max(1, sum(client.nthreads().values()))
