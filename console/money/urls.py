"""The URLs of the pages of money."""

from django.urls import path

from console.money import money_page

urlpatterns = [
    path("rounds/<slug:name>/money/", money_page.round_money, name="round_money"),
    path("rounds/<slug:name>/ledger.csv", money_page.ledger_csv, name="ledger_csv"),
    path("rounds/<slug:name>/payments.csv", money_page.payments_csv, name="payments_csv"),
    path("rounds/<slug:name>/top-up/", money_page.round_top_up, name="round_top_up"),
    path("rounds/<slug:name>/sync/", money_page.round_sync, name="round_sync"),
    path("rounds/<slug:name>/audit/start/", money_page.audit_start, name="audit_start"),
    path("rounds/<slug:name>/audit/repair/", money_page.audit_repair, name="audit_repair"),
    path("rounds/<slug:name>/calls/send/", money_page.round_calls_send, name="round_calls_send"),
    path("calls/<uuid:call_id>/settle/", money_page.call_settle, name="call_settle"),
]
