"""The URLs of the pages that undo, discard and rename."""

from django.urls import path

from console.upkeep import views

urlpatterns = [
    path("batches/<slug:name>/undo/", views.batch_undo, name="batch_undo"),
    path("rounds/<slug:name>/discard/", views.round_discard, name="round_discard"),
    path("names/<slug:kind>/<path:name>/", views.renaming, name="rename"),
]
