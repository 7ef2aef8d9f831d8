"""Prolific's replies to its client, without Prolific."""

import httpx

from crowd.channels.prolific.client import Client, Environment

API = "https://api.test"


def client_with(*replies: httpx.Response | Exception) -> Client:
    """A client that gets these replies, one after the other."""
    coming = iter(replies)

    def answer(request: httpx.Request) -> httpx.Response:
        reply = next(coming)
        if isinstance(reply, Exception):
            raise reply
        return reply

    place = Environment("live", API, "https://app.test", "the-token", "w1")
    return Client(place, transport=httpx.MockTransport(answer))
