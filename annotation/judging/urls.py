"""The worker's addresses, under /judge/."""

from django.conf import settings
from django.urls import path
from django.views.generic import TemplateView
from django.views.static import serve

from annotation.judging import home, installed, qualification, views
from annotation.judging.links import by_assignment, by_link

app_name = "judging"
urlpatterns = [
    path("", by_link(home.start), name="start"),
    # At this address, as the script may serve only what is below its own.
    path("shell.js", serve, {"path": "judging/shell.js", "document_root": settings.BASE_DIR / "static"}, name="shell"),
    path("offline/", by_link(TemplateView.as_view(template_name="judging/offline.html")), name="offline"),
    path("words/<str:language>/", installed.words, name="words"),
    path("example/<str:token>/<int:place>/", by_link(installed.example_picture), name="example_picture"),
    path("join/<str:join_key>/", by_link(home.join), name="join"),
    path("invited/<str:token>/", by_link(home.invited), name="invited"),
    path("me/<str:token>/", by_link(home.home), name="home"),
    path("me/<str:token>/take/", by_link(home.take), name="take"),
    path("me/<str:token>/appeal/<int:rejection_id>/", by_link(home.appeal_against), name="appeal"),
    path("me/<str:token>/ask/<int:assignment_id>/", by_link(home.ask_to_be_paid), name="ask_for_pay"),
    path("me/<str:token>/test/", by_link(qualification.test), name="test"),
    path("test-picture/<str:token>/<int:place>/", by_link(qualification.test_picture), name="test_picture"),
    path("me/<str:token>/practice/", by_link(qualification.practice), name="practice"),
    path("me/<str:token>/practice/<int:place>/", by_link(qualification.why), name="practice_why"),
    path("practice-picture/<str:token>/<int:place>/", by_link(qualification.practice_picture), name="practice_picture"),
    path("task/<str:token>/", by_assignment(views.task), name="task"),
    path("task/<str:token>/draft/", by_assignment(views.draft), name="draft"),
    path("task/<str:token>/extend/", by_assignment(views.extend), name="extend"),
    path("task/<str:token>/return/", by_assignment(views.give_back), name="give_back"),
    path("task/<str:token>/receipt/", by_assignment(views.receipt), name="receipt"),
    path("picture/<str:token>/<int:place>/", by_link(views.picture), name="picture"),
]
