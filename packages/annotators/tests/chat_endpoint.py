"""A chat endpoint for tests: a thread that gives the test's answers and stores the questions."""

import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any, NamedTuple


class Reply(NamedTuple):
    """A status, a body and headers; a body of None closes the connection without a word."""

    status: int = 200
    body: str | None = ""
    headers: dict[str, str] = {}


class Asked(NamedTuple):
    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def caption(self) -> str:
        text = self.body["messages"][1]["content"][1]["text"]
        return json.loads(text.removeprefix("Description: ").removesuffix("\nLevel:"))


class Stub:
    """``answer`` gives the reply to a request; ``asked`` are the requests so far, in order."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.answer: Callable[[Asked], Reply] = lambda asked: said("1")
        self.lock = Lock()
        self.url = ""

    def in_turn(self, *replies: Reply) -> None:
        """Give these replies one after the other, and the last one ever after."""
        left = list(replies)
        self.answer = lambda asked: left.pop(0) if len(left) > 1 else left[0]


def said(text: str, *, levels: dict[str, float] | None = None, usage: tuple[int, int] | None = (100, 1)) -> Reply:
    """A chat completion that says ``text``, with the probabilities of some tokens in the place of the first one."""
    choice: dict[str, Any] = {"message": {"role": "assistant", "content": text}}
    if levels is not None:
        top = [{"token": token, "logprob": math.log(chance)} for token, chance in levels.items()]
        choice["logprobs"] = {"content": [{"token": text, "logprob": -0.1, "top_logprobs": top}]}
    body: dict[str, Any] = {"choices": [choice]}
    if usage:
        body["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
    return Reply(200, json.dumps(body))


def refused(status: int, message: str = "", **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status, json.dumps({"error": {"message": message}}), named)


@contextmanager
def serving() -> Iterator[Stub]:
    stub = Stub()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked = Asked(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
            with stub.lock:
                stub.asked.append(asked)
                reply = stub.answer(asked)
            self.reply(reply)

        def reply(self, reply: Reply) -> None:
            if reply.body is None:
                self.close_connection = True
                return
            content = reply.body.encode()
            self.send_response(reply.status)
            for name, value in {**reply.headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    stub.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
