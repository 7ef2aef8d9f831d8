"""Command lines of container files as the programs themselves read them, and the settings that the documents name."""

import re
from collections.abc import Sequence
from typing import Any

from celery.bin.base import CLIContext
from celery.bin.celery import celery
from django.core.management import get_commands, load_command_class

from config.celery import app
from tests.project.names import ROOT


def options_of(command: Sequence[str]) -> dict[str, Any]:
    """Return the options of a command of Celery or manage.py; an unknown program, command or option fails the test."""
    match [*command]:
        case ["celery", "-A", "config", name, *rest]:
            context = CLIContext(app=app, no_color=True, workdir=None)
            return celery.commands[name].make_context(name, rest, obj=context).params
        case ["python", "manage.py", name, *rest]:
            parser = load_command_class(get_commands()[name], name).create_parser("manage.py", name)
            return vars(parser.parse_args(rest))
    raise AssertionError(f"Unknown program in {command}")


def documented_settings() -> set[str]:
    """Return the variables in the table of the settings."""
    table = (ROOT / "docs/operators.md").read_text().split("## Settings")[1].split("###")[0]
    return {name for row in re.findall(r"^\| (`.*?) \|", table, re.M) for name in re.findall(r"`([A-Z_0-9]+)`", row)}
