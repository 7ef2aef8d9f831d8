"""The WSGI entry point that gunicorn serves."""

import os

import django
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.core.management.base import BaseCommand
from django.utils.http import parse_header_parameters

from config.logs import mask_gunicorn


class Utf8Request(WSGIRequest):
    """A request whose text is UTF-8, whatever it declares: Django fails before any middleware if the declared charset
    is unknown. ``TextGate`` refuses other charsets."""

    def _set_content_type_params(self, meta: dict[str, str]) -> None:
        self.content_type, self.content_params = parse_header_parameters(meta.get("CONTENT_TYPE", ""))


class Handler(WSGIHandler):
    request_class = Utf8Request


os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup(set_prefix=False)
application = Handler()
mask_gunicorn()
BaseCommand().check()  # Commands do this themselves; a site with unsafe settings does not start either.
