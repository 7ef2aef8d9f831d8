"""The URLs of the pages of review."""

from django.urls import path

from console.review import views

urlpatterns = [
    path("review/", views.review, name="review"),
    path("review/<int:assignment_id>/", views.assignment, name="assignment"),
    path("review/<int:assignment_id>/decide/", views.assignment_decide, name="assignment_decide"),
    path("review/<int:assignment_id>/bonus/", views.assignment_bonus, name="assignment_bonus"),
    path("review/<int:assignment_id>/return/", views.assignment_return, name="assignment_return"),
    path("rejections/", views.rejections, name="rejections"),
    path("rejections/<int:rejection_id>/second/", views.rejection_second, name="rejection_second"),
    path("rejections/<int:rejection_id>/drop/", views.rejection_drop, name="rejection_drop"),
    path("rejections/<int:rejection_id>/reverse/", views.rejection_reverse, name="rejection_reverse"),
    path("rejections/<int:rejection_id>/appeal/", views.appeal_enter, name="appeal_enter"),
    path("appeals/<int:appeal_id>/answer/", views.appeal_answer, name="appeal_answer"),
]
