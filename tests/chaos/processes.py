"""The site's processes: each is started again as soon as it is killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx

PYTHON = [sys.executable, "-m"]


class Process:
    """One command in a session of its own, with its output in a file."""

    def __init__(self, name: str, command: list[str], *, environment: dict[str, str], log: Path) -> None:
        self.name, self.log = name, log
        self._command, self._environment = command, environment
        self.deaths = 0  # not by us
        self._start()

    def kill(self, **variables: str) -> None:
        """Kill it with all its children, as missing memory does, and start it again, with ``variables`` besides."""
        self.stop(signal.SIGKILL)
        self._start(**variables)

    def kill_child(self, pick: float) -> None:
        """Kill one of its children; the parent replaces it."""
        children = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(self._running.pid)], capture_output=True, text=True
        )
        if pids := children.stdout.split():
            os.kill(int(pids[int(pick * len(pids))]), signal.SIGKILL)

    def terminate(self, *, seconds: float) -> None:
        """Send SIGTERM, as a deploy does: to the process alone, and not to its children."""
        self._running.terminate()
        self._running.wait(seconds)

    def restart_if_dead(self) -> None:
        if self._running.poll() is not None:
            self.deaths += 1
            self._start()

    def stop(self, how: int = signal.SIGTERM) -> None:
        if self._running.poll() is None:
            os.killpg(self._running.pid, how)
        try:
            self._running.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self._running.pid, signal.SIGKILL)
            self._running.wait()

    def _start(self, **variables: str) -> None:
        environment = self._environment | variables
        with self.log.open("ab") as log:
            self._running = subprocess.Popen(
                self._command, env=environment, stdout=log, stderr=log, start_new_session=True
            )


class Site:
    """Gunicorn with three processes, a Celery worker, its clock, and MTurk's emulator with a journal."""

    def __init__(self, folder: Path, *, environment: dict[str, str], seed: int) -> None:
        web = [*PYTHON, "gunicorn", "--config", "tests/chaos/gunicorn.py", "--workers", "3", "--log-level", "warning"]
        web += ["--bind", environment["SITE_URL"].removeprefix("http://")]
        celery = [*PYTHON, "celery", "-A", "config"]
        beat = ["beat", "--pidfile=", "--schedule", str(folder / "beat"), "--loglevel", "WARNING"]
        port = environment["MTURK_EMULATOR_URL"].rsplit(":", 1)[1]
        journal = ["--journal", str(folder / "journal"), "--seed", str(seed), "--balance", "100000"]
        commands = {
            "emulator": [*PYTHON, "counterpart_emulators.mturk", "--port", port, *journal],
            "web": web,
            "worker": [*celery, "worker", "--concurrency", "1", "--loglevel", "WARNING"],
            "clock": [*celery, *beat],
        }
        self.address = environment["SITE_URL"]
        self.emulator = environment["MTURK_EMULATOR_URL"]
        self.processes = {
            name: Process(name, command, environment=environment, log=folder / f"{name}.log")
            for name, command in commands.items()
        }

    def wait(self, *, seconds: float = 300) -> None:
        """Wait until the site and the emulator answer."""
        end = time.monotonic() + seconds
        for address in (f"{self.address}/login/", f"{self.emulator}/worker/sign-in"):
            while not answers(address):
                if time.monotonic() > end:
                    raise TimeoutError(f"Nothing answers at {address}; see the logs in the folder of its journal.")
                time.sleep(0.2)

    def watch(self) -> None:
        for process in self.processes.values():
            process.restart_if_dead()

    def stop(self) -> None:
        for process in self.processes.values():
            process.stop(signal.SIGKILL)

    @property
    def deaths(self) -> dict[str, int]:
        """How often each process ended without being killed by us."""
        return {name: process.deaths for name, process in self.processes.items() if process.deaths}


def answers(address: str) -> bool:
    try:
        return httpx.get(address, timeout=10).status_code < 500
    except httpx.HTTPError:
        return False
