"""The parts of the project by name: its root, the folders of its apps, its commands."""

from pathlib import Path

from django.apps import apps
from django.core.management import get_commands

ROOT = Path(__file__).resolve().parents[2]
APPS = sorted(app.name for app in apps.get_app_configs() if Path(app.path).parent == ROOT)
COMMANDS = sorted(name for name, app in get_commands().items() if app in APPS)
