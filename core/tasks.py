"""The task that shows that clock and worker run."""

from config.celery import app
from core.health import beat


@app.task(name="core.tasks.heartbeat")
def heartbeat() -> None:
    """Note that a scheduled task was run."""
    beat()
