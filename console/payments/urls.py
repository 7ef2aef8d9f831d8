"""The URLs of the pages of payments."""

from django.urls import path

from console.payments import views

urlpatterns = [
    path("rounds/<slug:name>/top-up/", views.round_top_up, name="round_top_up"),
    path("rounds/<slug:name>/payments/", views.payments, name="payments"),
    path("rounds/<slug:name>/payments.csv", views.payments_csv, name="payments_csv"),
    path("codes/", views.codes, name="codes"),
    path("rounds/<slug:name>/ledger/", views.ledger, name="ledger"),
    path("rounds/<slug:name>/ledger.csv", views.ledger_csv, name="ledger_csv"),
    path("rounds/<slug:name>/ceiling/", views.round_ceiling, name="round_ceiling"),
]
