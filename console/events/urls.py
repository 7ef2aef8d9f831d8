"""The URL of the page of jobs and events."""

from django.urls import path

from console.events import views

urlpatterns = [
    path("activity/", views.activity, name="activity"),
]
