"""The task that shows that clock and worker run."""

from celery import shared_task

from core.health.heartbeat import beat


@shared_task(name="core.tasks.heartbeat")
def heartbeat() -> None:
    """Note that a scheduled task was run."""
    beat()
