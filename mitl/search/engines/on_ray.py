"""Run the units of a plan on a Ray cluster: the one that RAY_ADDRESS names, or one that is started on this computer.

Actors run the units and keep the annotator that they loaded; Ray places them by processors or GPUs, starts lost ones
again and repeats what they were at. They read and write the storage, with its credentials; of the database, the keys
and the platforms they are told nothing.
"""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from typing import Any

from django.conf import settings

from core.errors import CounterpartError
from mitl.search.engines import Tell
from mitl.search.plans import Plan, open_plan

OLDEST = (2, 52)  # before it, a page in a browser could run code on a cluster (CVE-2025-62593)
PAUSE = 0.5  # seconds between two looks at whether the search is still wanted
AHEAD = 2  # units that an actor has: the one it is at, and the next
TRIES = 5  # of a unit whose process is lost
# What the processes of a cluster on this computer inherit, and no more.
INHERITED = ("PATH", "HOME", "LANG", "TMPDIR", "LD_LIBRARY_PATH")
PREFIXES = ("AWS_", "RAY_", "PYTHON", "CUDA_")


def check() -> None:
    """Raise CounterpartError where Ray is not installed, or where its cluster would let strangers in."""
    if problem := cluster_problem():
        raise CounterpartError(problem)


def cluster_problem() -> str:
    """Return why no search may run on Ray here; empty where it may."""
    try:
        installed = version("ray")
    except PackageNotFoundError:
        return "Ray is not installed; install requirements-cluster.txt, or choose another --engine-on."
    if tuple(int(part) for part in installed.split(".")[:2]) < OLDEST:
        return f"Ray {installed} lets web pages run code on its cluster (CVE-2025-62593); install Ray 2.52 or newer."
    if os.environ.get("RAY_ADDRESS") and os.environ.get("RAY_AUTH_MODE") != "token":
        return (
            "RAY_ADDRESS names a cluster and RAY_AUTH_MODE is not token: whoever reaches such a cluster may run code "
            "on it. Start it with RAY_AUTH_MODE=token, and set that here too."
        )
    return ""


def run(plan: Plan, tell: Tell) -> None:
    """Have actors run every unit that has no result yet."""
    import ray

    todo, done = iter(plan.missing()), len(plan.results())
    with _cluster():
        waiting: dict[Any, Any] = {}
        for actor in _actors(plan) * AHEAD:
            waiting |= {actor.run.remote(number): actor for number in islice(todo, 1)}
        while waiting:
            tell(done)
            ready, _ = ray.wait(list(waiting), timeout=PAUSE)
            for one in ready:
                _check_done(one)
                actor, done = waiting.pop(one), done + 1
                waiting |= {actor.run.remote(number): actor for number in islice(todo, 1)}
    tell(done)


class Runner:
    """The actor: runs units of a plan in a process of the cluster."""

    def __init__(self, folder: str) -> None:
        self._plan = open_plan(folder)

    def run(self, number: int) -> None:
        """Run a unit; nothing where the search has ended."""
        if self._plan:
            self._plan.run(number)


def _actors(plan: Plan) -> list[Any]:
    """Start as many actors as the cluster has processors or, for work on GPUs, GPUs."""
    import ray

    on_gpu = any(unit.device != "cpu" for unit in plan.units)
    places = int(ray.cluster_resources().get("GPU" if on_gpu else "CPU", 0))
    if not places:
        raise CounterpartError("the Ray cluster has no GPU; use --device cpu, or add one.")
    start = ray.remote(num_cpus=1, num_gpus=int(on_gpu), max_restarts=-1, max_task_retries=TRIES)(Runner)
    return [start.remote(plan.folder) for _ in range(min(places, len(plan.missing())))]


def _check_done(run: Any) -> None:
    """Raise what a unit raised, as it was."""
    import ray

    try:
        ray.get(run)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None


@contextmanager
def _cluster() -> Iterator[None]:
    """Connect to the cluster, or start one on this computer until the body ends."""
    import ray

    how: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
    if not os.environ.get("RAY_ADDRESS"):
        how |= {"address": "local", "include_dashboard": False, "_node_ip_address": "127.0.0.1"}
    with _little_environment():
        ray.init(runtime_env={"env_vars": _worker_environment(), "worker_process_setup_hook": "django.setup"}, **how)
    try:
        yield
    finally:
        ray.shutdown()


def _worker_environment() -> dict[str, str]:
    """Return the variables of a worker's process: the storage, and nothing of database, broker, keys or platforms."""
    storage = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
    return storage | {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "VAR_DIR": str(settings.VAR_DIR / "ray"),
        "MEDIA_ROOT": str(settings.MEDIA_ROOT),
        "FILE_CACHE": str(settings.FILE_CACHE),
        "SECRET_KEY": secrets.token_hex(32),
        "NUMBA_NUM_THREADS": "1",
    }


@contextmanager
def _little_environment() -> Iterator[None]:
    """Hide the environment of this process but for what Ray needs: the processes that it starts inherit it."""
    whole = dict(os.environ)
    kept = {name: value for name, value in whole.items() if name in INHERITED or name.startswith(PREFIXES)}
    os.environ.clear()
    os.environ.update(kept, RAY_USAGE_STATS_ENABLED="0")
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(whole)
