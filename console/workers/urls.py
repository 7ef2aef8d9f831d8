"""The URLs of the pages of workers."""

from django.urls import path

from console.workers import views, worker_acts

__all__ = ["worker_acts"]

urlpatterns = [
    path("workers/", views.workers, name="workers"),
    path("workers/<slug:pseudonym>/", views.worker, name="worker"),
    path("workers/<slug:pseudonym>/link/", views.worker_link, name="worker_link"),
]
