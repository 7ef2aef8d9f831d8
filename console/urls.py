"""The URLs of staff pages, from the folder of each subject, and of acts."""

from importlib import import_module

from console import acts
from core.extensions import STAFF_PAGES

urlpatterns = [pattern for place in STAFF_PAGES for pattern in getattr(import_module(place), "urlpatterns", [])]
urlpatterns += acts.urlpatterns()
