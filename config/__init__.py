"""Settings, URLs and the Celery app: how the house is wired, not what it does."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
