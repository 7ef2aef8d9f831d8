"""What a run breaks below the site: a disk and a database server of its own."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

DISK = "2g"


class Machine:
    """``disk``: a folder on a disk that the run may fill; empty without the right to mount one. ``server``: pgserver's,
    for PostgreSQL."""

    def __init__(self, disk: str) -> None:
        self.disk = disk
        self.server: Any = None

    def restart_database(self, *, at_once: bool) -> None:
        """Stop the server, ``at_once`` as a crash does or else as an operator does, and start it again."""
        pid = self.server.get_pid()
        os.kill(pid, signal.SIGQUIT if at_once else signal.SIGINT)
        while Path(f"/proc/{pid}").exists():
            time.sleep(0.05)
        self.server.ensure_postgres_running()


@contextmanager
def own_disk(folder: Path) -> Iterator[str]:
    """Mount a disk in memory on the folder. Yields an empty name where that is not allowed."""
    folder.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK},mode=700", "chaos", str(folder)]
    if subprocess.run(mount, capture_output=True).returncode:
        yield ""
        return
    try:
        yield str(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
