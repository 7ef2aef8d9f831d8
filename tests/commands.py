"""Commands as they are typed."""

import json
from io import StringIO
from typing import Any

from django.core.management import call_command


def output_of(*arguments: object) -> str:
    """Run a command; return what it prints."""
    out = StringIO()
    call_command(*map(str, arguments), stdout=out)
    return out.getvalue()


def figures_printed(*arguments: object, **options: object) -> Any:
    """Run a command with --json; return what it prints."""
    out = StringIO()
    call_command(*map(str, arguments), **options, json=True, stdout=out)
    return json.loads(out.getvalue())
