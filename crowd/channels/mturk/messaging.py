"""Write to workers through MTurk."""

from typing import Any

from crowd.channels.base import ChannelError
from crowd.channels.mturk.client import TurkError, told_as_channel_errors
from crowd.channels.mturk.qualifying import platform_id
from crowd.models import Message


def send(client: Any, message: Message, *, environment: str) -> None:
    """Send it once and set its ``failure``. Where the answer is lost nobody can tell whether it arrived, as MTurk lists
    no messages; it is then not sent again by itself."""
    try:
        with told_as_channel_errors():
            answer = client.notify_workers(
                Subject=message.subject,
                MessageText=message.text,
                WorkerIds=[platform_id(message.worker, environment)],
            )
    except TurkError as error:
        if not error.reached:
            raise
        raise ChannelError(f"{error} Whether the message arrived is not known.", permanent=True) from error
    failures = answer.get("NotifyWorkersFailureStatuses", [])
    message.failure = failures[0].get("NotifyWorkersFailureMessage", "not delivered") if failures else ""
