"""The URL of the event log."""

from django.urls import path

from console.events import views

urlpatterns = [
    path("events/", views.events, name="events"),
]
