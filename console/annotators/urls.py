"""The URLs of the pages of annotators."""

from django.urls import path

from console.annotators import views

urlpatterns = [
    path("collections/<slug:name>/annotators/", views.side_by_side, name="side_by_side"),
    path("add-annotator/", views.annotator_add, name="annotator_add"),
    path("annotators/<slug:name>/", views.annotator, name="annotator"),
    path("annotators/<slug:name>/origin/", views.annotator_origin, name="annotator_origin"),
    path("annotators/<slug:name>/training/", views.training, name="training"),
    path("pools/<slug:name>/", views.pool, name="pool"),
]
