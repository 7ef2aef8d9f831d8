"""The task that delivers a notification, where Celery looks for it."""

from integrations.deliveries import deliver as deliver
