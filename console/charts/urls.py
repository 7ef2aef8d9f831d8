"""The URLs of the pages of charts."""

from django.urls import path

from console.charts import views

urlpatterns = [
    path("charts/<str:kind>/<slug:name>/<slug:subject>/", views.chart, name="chart"),
    path("charts/<str:kind>/<slug:name>/<slug:subject>/live/", views.chart_live, name="chart_live"),
    path("charts/<str:kind>/<slug:name>/<slug:subject>/measure/", views.chart_measure, name="chart_measure"),
    path("charts/<str:kind>/<slug:name>/<slug:subject>.<str:form>", views.chart_file, name="chart_file"),
]
