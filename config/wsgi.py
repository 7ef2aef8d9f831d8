"""The WSGI entry point that gunicorn serves."""

import os

from django.core.management.base import BaseCommand
from django.core.wsgi import get_wsgi_application

from config.logs import mask_gunicorn

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_wsgi_application()
mask_gunicorn()
BaseCommand().check()  # Commands do this themselves; a site with unsafe settings does not start either.
