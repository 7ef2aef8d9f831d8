"""A worker that is killed once its receiver has got a notification: python -m tests.integrations.killed_delivery PK"""

import os
import signal
import sys
from typing import Any

import django


def main(pk: str) -> None:
    django.setup()
    from core.web import public_network
    from integrations import deliveries

    post = public_network.post

    def post_and_die(*given: Any, **named: Any) -> None:
        post(*given, **named)
        os.kill(os.getpid(), signal.SIGKILL)

    public_network.is_public = lambda address: address == "127.0.0.1"
    public_network.post = post_and_die  # type: ignore[assignment]
    deliveries.deliver(int(pk))


if __name__ == "__main__":
    main(*sys.argv[1:])
