"""Addresses at which visitors of a platform arrive, under /judge/at/."""

from django.urls import path

from crowd.frame import views

app_name = "crowd"
urlpatterns = [
    path("<slug:channel>/<slug:environment>/", views.entry, name="frame"),
    path("<slug:channel>/<slug:environment>/<str:token>/", views.sheet, name="frame_sheet"),
    path("<slug:channel>/<slug:environment>/<str:token>/draft/", views.draft, name="frame_draft"),
    path("<slug:channel>/<slug:environment>/<str:token>/picture/<int:place>/", views.picture, name="frame_picture"),
]
