"""Addresses of earlier versions: each answers with a redirect to the page that took it in."""

from django.urls import path
from django.views.generic import RedirectView

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

urlpatterns = [
    path(old, RedirectView.as_view(pattern_name=page, query_string=True)) for old, page in OLD_ADDRESSES.items()
]
