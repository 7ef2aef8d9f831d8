"""Every app writes events; only the console's pages read them, to show them."""

from pathlib import Path

from django.apps import apps
from django.conf import settings

ALLOWED = {"core/events.py", "console/events/views.py", "console/home/views.py", "console/rounds/vote_orders.py"}


def test_no_decision_rests_on_an_event():
    own = [Path(app.path) for app in apps.get_app_configs() if Path(app.path).is_relative_to(settings.BASE_DIR)]
    modules = [path for folder in own for path in folder.rglob("*.py") if "migrations" not in path.parts]
    users = {str(path.relative_to(settings.BASE_DIR)) for path in modules if "Event.objects" in path.read_text("utf-8")}
    assert users <= ALLOWED
