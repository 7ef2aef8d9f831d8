"""The URLs of the pages about the API; its calls are under ``api/v1/``."""

from django.urls import path

from console.api import views

urlpatterns = [
    path("api/", views.reference, name="api_reference"),
    path("llms.txt", views.llms, name="llms"),
]
