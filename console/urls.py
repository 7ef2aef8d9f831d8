"""The URLs of staff pages and acts, which the modules of each subject's folder declare; and those of earlier versions,
which answer with a redirect to the page that took them in."""

from importlib import import_module

from django.urls import path
from django.views.generic import RedirectView

from console import palette  # noqa: F401  declares its page
from console.permissions import PAGES
from core.extensions import STAFF_PAGES, modules_in

for folder in STAFF_PAGES:
    for module in modules_in(folder):
        import_module(f"{folder}.{module}")
urlpatterns = PAGES

OLD_ADDRESSES: dict[str, str] = {
    "codes/": "inbox",
    "conflicts/": "inbox",
    "design/": "round_plan",
    "rejections/": "inbox",
    "review/": "inbox",
    "events/": "activity",
    "jobs/": "activity",
    "pipeline/": "home",
    "webhooks/": "tokens",
    "rounds/<slug:name>/controls/": "round_pairs",
    "rounds/<slug:name>/workers/": "round_people",
    "rounds/<slug:name>/ledger/": "round_money",
    "rounds/<slug:name>/payments/": "round_money",
    "rounds/<slug:name>/costs/": "round_money",
    "rounds/<slug:name>/audit/": "round_money",
    "rounds/<slug:name>/effect/": "round_results",
    "versions/": "results_list",
    "scores/": "results_list",
    "rounds/<slug:name>/estimates/": "round_results",
    "calls/": "rounds",
    "annotators/": "collections",
    "pools/": "collections",
    "judgments/": "rounds",
    "collections/<slug:name>/embeddings/": "side_by_side",
    "pairs/<int:image_id>/<int:caption_id>/trail/": "pair",
}
"""Old address → URL name of its page today, with the same arguments."""

redirects = [
    path(old, RedirectView.as_view(pattern_name=page, query_string=True)) for old, page in OLD_ADDRESSES.items()
]
