"""Every app writes events; only the console's pages read them, to show them."""

from tests.project.names import APPS, ROOT

ALLOWED = {"core/events.py", "console/events/views.py", "console/home/views.py", "console/rounds/vote_orders.py"}


def test_no_decision_rests_on_an_event():
    modules = [path for app in APPS for path in (ROOT / app).rglob("*.py") if "migrations" not in path.parts]
    readers = {str(path.relative_to(ROOT)) for path in modules if "Event.objects" in path.read_text("utf-8")}
    assert readers <= ALLOWED
