"""What config/web_worker.py uses of gunicorn beyond its public interface: an upgrade that removes one fails by name."""

from inspect import getsource, signature

import pytest
from gunicorn import util
from gunicorn.http.message import Message, Request
from gunicorn.http.unreader import SocketUnreader
from gunicorn.workers import gthread


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (gthread, "_DEFER"),
        (gthread.TConn, "init"),
        (SocketUnreader, "unread"),
        (SocketUnreader, "take_buffered"),
        (Request, "force_close"),
    ],
)
def test_gunicorn_has_the_attribute(owner, name):
    assert hasattr(owner, name), f"gunicorn has no {owner.__name__}.{name} any more, which config/web_worker.py uses"


@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        (gthread.ThreadWorker.handle, ["self", "conn"]),
        (gthread.ThreadWorker.handle_request, ["self", "req", "conn"]),
        (gthread.ThreadWorker._keepalive_after, ["self", "conn", "keepalive"]),
        (util.write_error, ["sock", "status_int", "reason", "mesg"]),
    ],
)
def test_a_method_that_the_worker_overrides_or_calls_takes_the_same_parameters(method, parameters):
    assert list(signature(method).parameters) == parameters


@pytest.mark.parametrize(
    ("owner", "words"),
    [
        (gthread.TConn, "self.parser"),
        (gthread.TConn, "self.sock"),
        (SocketUnreader, "self.sock.recv("),
        (Message, "self._expected_100_continue"),
        (gthread.ThreadWorker, "_DEFER"),
    ],
)
def test_an_attribute_of_an_instance_still_has_its_name(owner, words):
    assert words in getsource(owner), f"{owner.__name__} does not set {words} any more, which config/web_worker.py uses"
