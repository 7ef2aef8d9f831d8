"""The worker's addresses, under /judge/."""

from django.urls import path

from annotation.judging import qualification, views

app_name = "judging"
urlpatterns = [
    path("join/<str:join_key>/", views.join, name="join"),
    path("me/<str:token>/", views.home, name="home"),
    path("me/<str:token>/take/", views.take, name="take"),
    path("me/<str:token>/object/<int:rejection_id>/", views.object_to, name="object"),
    path("me/<str:token>/test/", qualification.test, name="test"),
    path("me/<str:token>/test/picture/<int:place>/", qualification.picture, name="test_picture"),
    path("task/<str:token>/", views.task, name="task"),
    path("task/<str:token>/draft/", views.draft, name="draft"),
    path("task/<str:token>/return/", views.give_back, name="give_back"),
    path("task/<str:token>/receipt/", views.receipt, name="receipt"),
    path("task/<str:token>/picture/<int:place>/", views.picture, name="picture"),
]
