"""The URLs of the pages of the home page and of jobs."""

from django.urls import path

from console.home import views

urlpatterns = [
    path("", views.home, name="home"),
    path("live/", views.home_live, name="home_live"),
    path("jobs/<uuid:job_id>/", views.job, name="job"),
    path("jobs/<uuid:job_id>/progress/", views.job_progress, name="job_progress"),
    path("jobs/<uuid:job_id>/cancel/", views.job_cancel, name="job_cancel"),
]
