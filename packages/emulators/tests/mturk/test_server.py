from http.client import HTTPConnection
from threading import Thread

import pytest

from counterpart_emulators.mturk.emulator import Emulator


def asked(emulator, method, path, **headers):
    connection = HTTPConnection(emulator.host, emulator.port)
    connection.request(method, path, body=b"{}" if method == "POST" else None, headers=headers)
    response = connection.getresponse()
    return response.status, response.read()


@pytest.mark.parametrize("target", ["", "Nobody.GetHIT"])
def test_a_call_of_an_unknown_service_is_refused(emulator, target):
    status, body = asked(emulator, "POST", "/", **{"X-Amz-Target": target})
    assert (status, b"UnknownOperationException" in body) == (400, True)


def test_many_clients_at_once_are_all_answered_and_no_id_is_given_twice(connect, post):
    ids: list[str] = []
    threads = [Thread(target=lambda: ids.append(post()["HITId"])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=10)
    assert len(set(ids)) == 8


def test_after_it_stopped_its_port_is_free():
    with Emulator() as first:
        port = first.port
    with Emulator(port=port) as second:
        assert second.port == port
