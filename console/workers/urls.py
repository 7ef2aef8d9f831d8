"""The URLs of the pages of workers."""

from django.urls import path

from console.workers import views

urlpatterns = [
    path("workers/", views.workers, name="workers"),
    path("workers/<slug:pseudonym>/", views.worker, name="worker"),
    path("workers/<slug:pseudonym>/exclude/", views.worker_exclude, name="worker_exclude"),
    path("workers/<slug:pseudonym>/readmit/", views.worker_readmit, name="worker_readmit"),
    path("workers/<slug:pseudonym>/pause/<slug:name>/", views.worker_pause, name="worker_pause"),
    path("workers/<slug:pseudonym>/resume/<slug:name>/", views.worker_resume, name="worker_resume"),
    path("workers/<slug:pseudonym>/write/", views.worker_write, name="worker_write"),
    path("workers/<slug:pseudonym>/link/", views.worker_link, name="worker_link"),
    path("workers/<slug:pseudonym>/forget/", views.worker_forget, name="worker_forget"),
]
