"""Addresses of a platform's visitors, under /judge/at/."""

from django.urls import path

from annotation.judging import views as judging
from crowd.views import entry, finish, framed, framed_assignment, hook, session

app_name = "crowd"
urlpatterns = [
    path("<slug:channel>/<slug:environment>/", framed(entry), name="entry"),
    path("<slug:channel>/<slug:environment>/hook/", hook, name="hook"),
    path("<slug:channel>/<slug:environment>/session/<str:token>/", framed(session), name="session"),
    path("<slug:channel>/<slug:environment>/<str:token>/", framed_assignment(judging.task, finish=finish), name="task"),
    path("<slug:channel>/<slug:environment>/<str:token>/draft/", framed_assignment(judging.draft), name="draft"),
]
