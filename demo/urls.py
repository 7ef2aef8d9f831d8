"""The URL of the button that loads the demo."""

from django.urls import path

from demo import views

urlpatterns = [path("demo/load/", views.demo_load, name="demo_load")]
