"""The Celery app. Without REDIS_URL it runs on an embedded broker: a folder of message files."""

import os

from celery import Celery

from config import message_files  # noqa: F401  the broker of this name

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("counterpart")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
