"""The URLs of the pages of leaderboard."""

from django.urls import path

from console.leaderboard import views

urlpatterns = [
    path("collections/<slug:name>/leaderboard/", views.leaderboard, name="leaderboard"),
    path("benchmarks/", views.benchmarks, name="benchmarks"),
    path("benchmarks/<uuid:job_id>/", views.benchmark, name="benchmark"),
    path("runs/<int:run_id>/", views.run, name="run"),
    path("results/", views.results_list, name="results_list"),
]
