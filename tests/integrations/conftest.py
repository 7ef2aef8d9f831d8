"""A webhook of a researcher, to a receiver of the test, and a delivery to it."""

import pytest
from django.contrib.auth.models import Group, User

from integrations.models import Delivery, Webhook
from tests.integrations.receiving import receiver, tell

__all__ = ["receiver"]


@pytest.fixture
def owner(db) -> User:
    owner = User.objects.create_user(username="robin", email="robin@example.org")
    owner.groups.add(Group.objects.get(name="researcher"))
    return owner


@pytest.fixture
def webhook(owner, receiver) -> Webhook:
    return Webhook.objects.create(owner=owner, url=receiver.url, types=["round.closed"])


@pytest.fixture
def delivery(webhook) -> Delivery:
    return tell(webhook)
