"""The URLs of charts and of the results of rounds."""

from django.urls import path

from console.charts import views

urlpatterns = [
    path("rounds/<slug:name>/results/", views.round_results, name="round_results"),
    path("charts/<str:kind>/<slug:name>/<slug:subject>/", views.chart, name="chart"),
    path("charts/<str:kind>/<slug:name>/measure", views.chart_measure, name="chart_measure"),
    path("charts/<str:kind>/<slug:name>/<slug:subject>.<str:form>", views.chart_file, name="chart_file"),
]
