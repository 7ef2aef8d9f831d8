from http.client import HTTPConnection
from threading import Thread

import pytest
from botocore.exceptions import ConnectionClosedError
from werkzeug.routing import Rule
from werkzeug.wrappers import Response

from emulators.mturk.emulator import Emulator
from emulators.mturk.errors import TurkError
from emulators.server import Drop
from tests.emulators.mturk.conftest import TYPE


class Scripted:
    """Faults that answer what a test wants, and note what they were asked."""

    def __init__(self, *, before=None, after=None) -> None:
        self.before, self.after, self.asked = before, after, []

    def before_call(self, operation, params):
        self.asked.append(("before", operation))
        return self.before

    def before_response(self, operation, params, result):
        self.asked.append(("after", operation, dict(result)))
        return self.after


def types(world):
    with world.looking() as state:
        return len(state.hit_types)


def test_a_fault_may_refuse_a_call_that_the_world_never_sees(emulator, world, mturk, refused):
    emulator.faults = Scripted(before=TurkError("Rate exceeded", code="ThrottlingException"))
    assert refused(mturk.create_hit_type, **TYPE) == ("ThrottlingException", None, "Rate exceeded")
    assert types(world) == 0


def test_a_fault_may_answer_something_that_is_no_json(emulator, mturk, refused):
    emulator.faults = Scripted(before=Response("<html>Bad gateway</html>", status=502, mimetype="text/html"))
    assert refused(mturk.get_account_balance)[0] == "502"


def test_the_world_may_have_done_a_call_whose_answer_is_dropped(emulator, world, mturk):
    emulator.faults = Scripted(after=Drop())
    with pytest.raises(ConnectionClosedError):
        mturk.create_hit_type(**TYPE)
    assert types(world) == 1


def test_a_fault_may_change_what_is_answered(emulator, mturk):
    emulator.faults = Scripted(after={"AvailableBalance": "0.01"})
    assert mturk.get_account_balance()["AvailableBalance"] == "0.01"
    assert emulator.faults.asked[-1][:2] == ("after", "GetAccountBalance")


def test_a_fault_that_does_not_happen_changes_nothing(emulator, mturk):
    emulator.faults = Scripted()
    assert mturk.get_account_balance()["AvailableBalance"] == "10000.00"


def test_the_client_itself_retries_a_dropped_answer_and_does_the_call_twice(emulator, connect, post, do, worker):
    """Why bonuses need tokens: botocore's own retries pay twice."""
    client, drops, assignment_id = connect(attempts=2), [Drop()], do(post()["HITId"], worker)
    emulator.faults = Scripted()
    emulator.faults.before_response = lambda *_: drops.pop() if drops else None
    client.send_bonus(WorkerId=worker, AssignmentId=assignment_id, BonusAmount="1", Reason="r")
    assert client.list_bonus_payments(AssignmentId=assignment_id)["NumResults"] == 2


def asked(emulator, method, path, **headers):
    connection = HTTPConnection(emulator.host, emulator.port)
    connection.request(method, path, body=b"{}" if method == "POST" else None, headers=headers)
    response = connection.getresponse()
    return response.status, response.read()


def test_more_addresses_can_be_added(emulator):
    emulator.routes.add(Rule("/hello/<name>", methods=["GET"], endpoint=lambda request, name: Response(name)))
    assert asked(emulator, "GET", "/hello/turk") == (200, b"turk")
    assert asked(emulator, "GET", "/nowhere")[0] == 404


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


def test_a_taken_port_is_an_error_that_says_so(emulator):
    with pytest.raises(OSError, match="in use"):
        Emulator(port=emulator.port)


def test_after_it_stopped_its_port_is_free():
    with Emulator() as first:
        port = first.port
    with Emulator(port=port) as second:
        assert second.port == port
