"""Commands as somebody types them."""

from io import StringIO

from django.core.management import call_command


def output_of(*arguments: object) -> str:
    """Run a command; return what it prints."""
    out = StringIO()
    call_command(*map(str, arguments), stdout=out)
    return out.getvalue()
