"""The staff's addresses."""

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path

from console.views import collections, home, jobs, machines, pictures, review, rounds, versions

urlpatterns = [
    path("", home.home, name="home"),
    path(
        "login/", LoginView.as_view(template_name="console/login.html", redirect_authenticated_user=True), name="login"
    ),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("pictures/<int:image_id>/", pictures.picture, name="picture"),
    path("images/<int:image_id>/", pictures.image, name="image"),
    path("collections/", collections.collections, name="collections"),
    path("collections/<slug:name>/", collections.collection, name="collection"),
    path("machines/", machines.machines, name="machines"),
    path("machines/<slug:name>/", machines.machine, name="machine"),
    path("pools/", machines.pools, name="pools"),
    path("pools/<slug:name>/", machines.pool, name="pool"),
    path("plan/", rounds.round_plan, name="round_plan"),
    path("rounds/", rounds.rounds, name="rounds"),
    path("rounds/<slug:name>/", rounds.round, name="round"),
    path("rounds/<slug:name>/publish/", rounds.round_publish, name="round_publish"),
    path("rounds/<slug:name>/close/", rounds.round_close, name="round_close"),
    path("rounds/<slug:name>/aggregate/", rounds.round_aggregate, name="round_aggregate"),
    path("rounds/<slug:name>/hits/", rounds.hits, name="hits"),
    path("rounds/<slug:name>/hits/<int:number>/", rounds.hit, name="hit"),
    path("judgments/", review.judgments, name="judgments"),
    path("review/", review.review, name="review"),
    path("review/<int:assignment_id>/", review.assignment, name="assignment"),
    path("review/<int:assignment_id>/decide/", review.assignment_decide, name="assignment_decide"),
    path("versions/", versions.versions, name="versions"),
    path("versions/<slug:name>/", versions.version, name="version"),
    path("versions/<slug:name>/files/<str:file_name>", versions.version_file, name="version_file"),
    path("release/", versions.release, name="release"),
    path("scores/", versions.scores, name="scores"),
    path("jobs/", jobs.jobs, name="jobs"),
    path("jobs/<uuid:job_id>/", jobs.job, name="job"),
    path("jobs/<uuid:job_id>/progress/", jobs.job_progress, name="job_progress"),
    path("jobs/<uuid:job_id>/cancel/", jobs.job_cancel, name="job_cancel"),
    path("journal/", jobs.journal, name="journal"),
]
