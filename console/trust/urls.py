"""The URLs of the pages of trust."""

from django.urls import path

from console.trust import views

urlpatterns = [
    path("rounds/<slug:name>/effect/", views.round_effect, name="round_effect"),
    path("rounds/<slug:name>/estimates/", views.round_estimates, name="round_estimates"),
    path("versions/<slug:name>/trust/", views.version_trust, name="version_trust"),
    path("versions/<slug:name>/trust/measure/", views.version_measure, name="version_measure"),
]
