"""The embedded broker: messages as files, of which nobody ever reads half."""

import logging
import os
from pathlib import Path
from queue import Empty
from time import monotonic_ns
from typing import Any
from uuid import uuid4

from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.json import dumps

logger = logging.getLogger(__name__)

SCHEME = "files"


class Channel(filesystem.Channel):
    """Kombu's channel makes an empty file and then fills it; a worker that took one in between stopped for good."""

    def _put(self, queue: str, message: Any, **kwargs: Any) -> None:  # type: ignore[override]  # as kombu's own do
        """Write the message under a name that no reader looks for, then give it its own."""
        whole = Path(self.data_folder_out) / f"{monotonic_ns()}_{uuid4()}.{queue}.msg"
        part = whole.with_name(f"{whole.name}.part")
        part.write_text(dumps(message), encoding="utf-8")
        os.replace(part, whole)

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        """Return the next message. One that cannot be read, as a full disk leaves it, is dropped: the reconciler sends
        again what it stood for."""
        try:
            return super()._get(queue)
        except ValueError as error:
            logger.warning("A message in %s could not be read and was dropped: %s", self.data_folder_in, error)
            raise Empty from error


class Transport(filesystem.Transport):
    """What ``files://localhost`` stands for, once this module is imported."""

    Channel = Channel


TRANSPORT_ALIASES[SCHEME] = f"{__name__}:Transport"
