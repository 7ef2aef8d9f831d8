"""Serve the site from one terminal: the web server on a free port and a Celery worker with beat."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings

from core.errors import CounterpartError

FIRST_PORT = 8000
PORTS_TRIED = 50
WORKER_SECONDS = 10
"""How long the worker may take to stop; what it leaves undone is sent again by the reconciler."""


def free_port() -> int:
    """Return the first free port from 8000 on."""
    for port in range(FIRST_PORT, FIRST_PORT + PORTS_TRIED):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise CounterpartError(f"All {PORTS_TRIED} ports from {FIRST_PORT} on are in use. Stop one of the servers.")


@contextmanager
def background_worker(site_url: str) -> Iterator[None]:
    """Run a Celery worker with beat, which starts the reconciler; stop it when the site stops."""
    command = [sys.executable, "-m", "celery", "-A", "config", "worker", "--beat", "--concurrency", "1"]
    schedule = settings.VAR_DIR / f"celerybeat-schedule-{os.getpid()}"
    with (settings.VAR_DIR / "worker.log").open("ab") as log:
        worker = subprocess.Popen(
            [*command, "--schedule", str(schedule), "--loglevel", "WARNING"],
            env=os.environ | {"SITE_URL": site_url},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield
    finally:
        os.killpg(worker.pid, signal.SIGTERM)
        try:
            worker.wait(timeout=WORKER_SECONDS)
        except subprocess.TimeoutExpired:  # Celery waits for a task whose process the signal ended as well
            os.killpg(worker.pid, signal.SIGKILL)
            worker.wait()


def serve(port: int, site_url: str) -> None:
    """Serve the site on this machine until it is interrupted or terminated."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    command = [sys.executable, "-m", "gunicorn", "--config", str(settings.BASE_DIR / "config/gunicorn.py")]
    with background_worker(site_url):
        site = subprocess.Popen(
            [*command, "--bind", f"127.0.0.1:{port}", "--log-level", "warning"],
            env=os.environ | {"SITE_URL": site_url},
        )
        try:
            site.wait()
        except KeyboardInterrupt:
            site.terminate()
            site.wait()
