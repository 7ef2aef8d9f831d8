"""Addresses of earlier versions: each answers with a redirect to the page that took it in."""

from django.urls import path
from django.views.generic import RedirectView

OLD_ADDRESSES: dict[str, str] = {
    "conflicts/": "review",
    "events/": "activity",
    "jobs/": "activity",
    "pipeline/": "home",
    "webhooks/": "tokens",
}
"""Old address → URL name of its page today, with the same arguments."""

urlpatterns = [
    path(old, RedirectView.as_view(pattern_name=page, query_string=True)) for old, page in OLD_ADDRESSES.items()
]
