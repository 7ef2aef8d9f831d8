"""Refusals of an act, CounterpartErrors, as pages show them: at a form, above the next page, or as a page not found."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest

from core.errors import CounterpartError

OPTION = re.compile(r"--([a-z-]+)")


@contextmanager
def refusals_in(form: forms.Form, field: str | None = None) -> Iterator[None]:
    """Add a refusal of the body to the form, with the labels of its fields instead of the options of a command."""
    try:
        yield
    except CounterpartError as error:
        refuse(form, error, field)


def refuse(form: forms.Form, error: CounterpartError, field: str | None = None) -> None:
    """Add a refusal to the form, as ``refusals_in`` does."""

    def label(option: re.Match[str]) -> str:
        name = option[1].replace("-", "_")
        return f"“{form[name].label}”" if name in form.fields else option[0]

    form.add_error(field, OPTION.sub(label, str(error)))


@contextmanager
def refusals_as_messages(request: HttpRequest) -> Iterator[None]:
    """Show a refusal of the body as a message above the next page."""
    try:
        yield
    except CounterpartError as error:
        messages.error(request, str(error))


@contextmanager
def refusals_as_404() -> Iterator[None]:
    """Answer a refusal of the body with the page for a missing page."""
    try:
        yield
    except CounterpartError as error:
        raise Http404(str(error)) from error
