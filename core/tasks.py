"""The task that shows that clock and worker run, where Celery looks for it."""

from core.health.heartbeat import beat as beat
