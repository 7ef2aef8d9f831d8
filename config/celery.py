"""The Celery app and, for use without Redis, its broker: a folder of message files, each written atomically."""

import logging
import os
from pathlib import Path
from queue import Empty
from time import monotonic_ns
from typing import Any
from uuid import uuid4

from celery import Celery
from celery.signals import setup_logging
from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.json import dumps

logger = logging.getLogger(__name__)

SCHEME = "files"


class BrokerChannel(filesystem.Channel):
    """Kombu's channel creates an empty file and then fills it; a worker that read it in between stopped for good."""

    def _put(self, queue: str, message: Any, **kwargs: Any) -> None:  # type: ignore[override]  # as in kombu itself
        """Write the message under a name that no reader looks for, then rename it."""
        whole = Path(self.data_folder_out) / f"{monotonic_ns()}_{uuid4()}.{queue}.msg"
        part = whole.with_name(f"{whole.name}.part")
        part.write_text(dumps(message), encoding="utf-8")
        os.replace(part, whole)

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        """Return the next message. An unreadable one, as a full disk leaves it, is dropped; the reconciler sends its
        task again."""
        try:
            return super()._get(queue)
        except ValueError as error:
            logger.warning("Dropped an unreadable message in %s: %s", self.data_folder_in, error)
            raise Empty from error


class Transport(filesystem.Transport):
    """Kombu's transport for the broker URL ``files://localhost``."""

    Channel = BrokerChannel


TRANSPORT_ALIASES[SCHEME] = f"{__name__}:Transport"

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("counterpart")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.autodiscover_tasks(related_name="jobs")
app.set_default()  # for every thread: tasks are sent and declared without importing this module


@setup_logging.connect
def keep_logging(**_: Any) -> None:
    """Keep the logging of the settings: a worker writes the same lines as the site, masked."""
