"""The URLs of the pages of annotators."""

from django.urls import path

from console.annotators import views

urlpatterns = [
    path("collections/<slug:name>/annotators/", views.side_by_side, name="side_by_side"),
    path("collections/<slug:name>/embeddings/", views.embeddings, name="embeddings"),
    path("add-annotator/", views.annotator_add, name="annotator_add"),
    path("annotators/", views.annotators, name="annotators"),
    path("annotators/<slug:name>/", views.annotator, name="annotator"),
    path("annotators/<slug:name>/origin/", views.annotator_origin, name="annotator_origin"),
    path("annotators/<slug:name>/train/", views.train, name="train"),
    path("annotators/<slug:name>/training/", views.training_progress, name="training"),
    path("pools/", views.pools, name="pools"),
    path("pools/<slug:name>/", views.pool, name="pool"),
]
