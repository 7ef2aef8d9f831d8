"""Subscriptions to events, as Prolific's two descriptions of them answer."""

import json

import httpx
import pytest

from crowd.channels.prolific.client import Client, Environment
from crowd.channels.prolific.workspaces import TYPES, subscribe

HERE = "https://judge.example/hook/"


def subscription(id: str, kind: str, address: str = HERE) -> dict:
    return {"id": id, "event_type": kind, "target_url": address, "is_enabled": True, "workspace_id": "w1"}


@pytest.mark.parametrize("as_list", [True, False])
def test_new_subscriptions_are_confirmed_and_then_the_earlier_ones_of_the_site_removed(as_list):
    there = [subscription("old", TYPES[0]), subscription("others", TYPES[0], "https://other.example/")]
    confirmed, removed = [], []

    def answer(request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix("/api/v1/hooks/")
        sent = json.loads(request.content or "{}")
        if path == "secrets/":
            return httpx.Response(201, json={"value": "the-secret"})
        if request.method == "DELETE":
            removed.append(path)
            return httpx.Response(204)
        if request.method == "GET":
            return httpx.Response(200, json={"results": there if request.url.params["is_enabled"] == "true" else []})
        if path != "subscriptions/":
            confirmed.append((path, sent["secret"]))
            return httpx.Response(200, json={})
        new = subscription(f"new-{len(there)}", sent["event_type"])
        there.append(new)
        headers = {"X-Hook-Secret": f"of {new['id']}"}
        return httpx.Response(201, headers=headers, json={"results": there} if as_list else new)

    place = Environment("live", "https://api.test", "https://app.test", "the-token", "w1")
    assert subscribe(Client(place, transport=httpx.MockTransport(answer)), HERE) == "the-secret"
    assert confirmed == [("subscriptions/new-2/", "of new-2"), ("subscriptions/new-3/", "of new-3")]
    assert removed == ["subscriptions/old/"]
