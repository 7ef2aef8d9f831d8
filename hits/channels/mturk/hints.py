"""Events by which MTurk says that something happened to a HIT. They come twice, late, in any order or never, so they
only say where to look first; what holds is what it lists."""

import json
from typing import Any

import boto3
from django.conf import settings

from hits.channels.mturk.client import CONFIG, told_as_channel_errors
from hits.channels.mturk.environments import Environment, environment_of
from hits.models import PlatformHIT

VERSION = "2014-08-15"
EVENTS = ["AssignmentSubmitted", "AssignmentReturned", "AssignmentAbandoned", "HITReviewable", "HITExpired"]
AT_ONCE = 10  # messages that one call brings at most
MOST_CALLS = 50


def ask_for_events(client: Any, posting: PlatformHIT) -> None:
    """Have events of the posting's HIT type sent to the queue, where there is one and nobody asked before."""
    known = PlatformHIT.objects.filter(type_id=posting.type_id, environment=posting.environment)
    if settings.MTURK_QUEUE_URL and not known.exists():
        destination = {"Destination": settings.MTURK_QUEUE_URL, "Transport": "SQS"}
        client.update_notification_settings(
            HITTypeId=posting.type_id,
            Notification={**destination, "Version": VERSION, "EventTypes": EVENTS},
            Active=True,
        )


def take_hints(environment: str) -> set[str]:
    """Empty the queue; returns the ids of the HITs that something happened to. None without a queue."""
    if not settings.MTURK_QUEUE_URL:
        return set()
    client, hinted = _queue_client(environment_of(environment)), set()
    with told_as_channel_errors():
        for _ in range(MOST_CALLS):
            queue = {"QueueUrl": settings.MTURK_QUEUE_URL}
            messages = client.receive_message(**queue, MaxNumberOfMessages=AT_ONCE).get("Messages", [])
            for message in messages:
                hinted |= hits_in(message["Body"])
                client.delete_message(**queue, ReceiptHandle=message["ReceiptHandle"])
            if not messages:
                break
    return hinted


def hits_in(body: str) -> set[str]:
    """Return the HITs that a message is about; none where it is no event, whoever put it there."""
    try:
        events = json.loads(body)["Events"]
        return {str(event["HITId"]) for event in events if "HITId" in event}
    except (ValueError, KeyError, TypeError):
        return set()


def _queue_client(environment: Environment) -> Any:
    keys = {"aws_access_key_id": environment.access_key, "aws_secret_access_key": environment.secret_key}
    place = {"endpoint_url": environment.endpoint} if environment.is_ours else {}
    return boto3.session.Session().client("sqs", region_name="us-east-1", config=CONFIG, **keys, **place)
