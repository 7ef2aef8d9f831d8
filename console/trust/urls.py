"""The URLs of the pages of trust."""

from django.urls import path

from console.trust import views

urlpatterns = [
    path("rounds/<slug:name>/effect/", views.round_effect, name="round_effect"),
    path("rounds/<slug:name>/estimates/", views.round_estimates, name="round_estimates"),
]
