"""The URLs of the inbox and of a worker's case."""

from django.urls import path

from console.review import inbox, views

urlpatterns = [
    path("inbox/", inbox.inbox, name="inbox"),
    path("collections/<slug:name>/queue/", inbox.queue, name="queue"),
    path("review/<int:assignment_id>/", views.assignment, name="assignment"),
    path("review/<int:assignment_id>/decide/", views.assignment_decide, name="assignment_decide"),
    path("review/<int:assignment_id>/undo/", views.assignment_undo, name="assignment_undo"),
]
