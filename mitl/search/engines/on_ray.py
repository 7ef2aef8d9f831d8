"""Run the units of a plan on a Ray cluster: the one that RAY_ADDRESS names, or one that is started on this computer.

Actors run the units and keep the annotator that they loaded; Ray places them by processors or GPUs, starts lost ones
again and repeats what they were at. They read and write the storage, with its credentials; they get no
access to the database, the keys and the platforms.
"""

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from time import monotonic
from typing import Any

from django.conf import settings

from core.errors import CounterpartError
from mitl.search.engines import Report, Run
from mitl.search.plans import SearchPlan, open_plan

OLDEST = (2, 52)  # before it, a page in a browser could run code on a cluster (CVE-2025-62593)
PAUSE = 0.5  # seconds between two looks at whether the search is still wanted
AHEAD = 2  # units that an actor has: the one it is at, and the next
START_SECONDS = 300
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


@contextmanager
def connected() -> Iterator[Run]:
    """Connect to the cluster, or start one on this computer until the body ends."""
    import ray

    how: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
    if not os.environ.get("RAY_ADDRESS"):
        how |= {"address": "local", "include_dashboard": False, "_node_ip_address": "127.0.0.1"}
    with _little_environment():
        ray.init(runtime_env={"env_vars": _worker_environment(), "worker_process_setup_hook": "django.setup"}, **how)
    try:
        yield _Actors().run
    finally:
        ray.shutdown()


class _Actors:
    """The actors of one search, which run the units of all its plans; started with the first."""

    def __init__(self) -> None:
        self._actors: list[Any] = []

    def run(self, plan: SearchPlan, report: Report) -> None:
        """Have every unit run that has no result yet, at most AHEAD an actor at a time."""
        import ray

        todo = iter(plan.missing())
        done = len(plan.results())
        self._actors = self._actors or _started(plan, lambda: report(done))
        waiting: dict[Any, Any] = {}
        for actor in self._actors * AHEAD:
            waiting |= {actor.run.remote(plan.folder, number): actor for number in islice(todo, 1)}
        while waiting:
            report(done)
            ready, _ = ray.wait(list(waiting), timeout=PAUSE)
            for run in ready:
                _check_done(run)
                actor = waiting.pop(run)
                done += 1
                waiting |= {actor.run.remote(plan.folder, number): actor for number in islice(todo, 1)}
        report(done)


class Runner:
    """What runs in a process of the cluster. It keeps the plan that it is at, as the process does the annotator."""

    def __init__(self) -> None:
        self._plan: SearchPlan | None = None

    def run(self, folder: str, number: int) -> None:
        """Run a unit; nothing where the search has ended."""
        if self._plan is None or self._plan.folder != folder:
            self._plan = open_plan(folder)
        if self._plan:
            self._plan.run(number)


def _started(plan: SearchPlan, wait: Callable[[], None]) -> list[Any]:
    """Start an actor for each processor of the cluster or, for work on GPUs, each GPU; call ``wait`` while they start.

    Raises CounterpartError where the cluster has no place for them, or none starts in time: Ray would try for ever.
    """
    import ray

    on_gpu = any(unit.device != "cpu" for unit in plan.units)
    places = int(ray.cluster_resources().get("GPU" if on_gpu else "CPU", 0))
    if not places:
        raise CounterpartError("the Ray cluster has no GPU; use --device cpu, or add one.")
    start = ray.remote(num_cpus=1, num_gpus=int(on_gpu), max_restarts=-1, max_task_retries=TRIES)(Runner)
    actors = [start.remote() for _ in range(places)]
    deadline = monotonic() + START_SECONDS
    pings = [actor.__ray_ready__.remote() for actor in actors]
    while not ray.wait(pings, timeout=PAUSE)[0]:
        wait()
        if monotonic() > deadline:
            raise CounterpartError(
                f"no process of the Ray cluster has started within {START_SECONDS} s; the logs of its workers say why. "
                "They need the same Ray, Python and Counterpart as this computer."
            )
    return actors


def _check_done(run: Any) -> None:
    """Raise what a unit raised, as it was."""
    import ray

    try:
        ray.get(run)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None


def _worker_environment() -> dict[str, str]:
    """Return the variables of a worker's process: the storage, and nothing of database, broker, keys or platforms."""
    storage = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
    return storage | {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "PYTHONPATH": os.pathsep.join(filter(None, [str(settings.BASE_DIR), os.environ.get("PYTHONPATH")])),
        "VAR_DIR": str(settings.VAR_DIR / "ray"),
        "MEDIA_ROOT": str(settings.MEDIA_ROOT),
        "FILE_CACHE": str(settings.FILE_CACHE),
        "SECRET_KEY": secrets.token_hex(32),
        "NUMBA_NUM_THREADS": "1",
    }


@contextmanager
def _little_environment() -> Iterator[None]:
    """Hide the environment of this process but for what Ray needs: the processes that it starts inherit it."""
    environment = dict(os.environ)
    kept = {name: value for name, value in environment.items() if name in INHERITED or name.startswith(PREFIXES)}
    os.environ.clear()
    os.environ.update(kept, RAY_USAGE_STATS_ENABLED="0")
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(environment)
