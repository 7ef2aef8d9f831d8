"""The URLs of the pages of platforms."""

from django.urls import path

from console.platforms import views

urlpatterns = [
    path("rounds/<slug:name>/sync/", views.round_sync, name="round_sync"),
    path("rounds/<slug:name>/costs/", views.round_costs, name="round_costs"),
    path("rounds/<slug:name>/prolong/", views.round_prolong, name="round_prolong"),
    path("rounds/<slug:name>/calls/send/", views.round_calls_send, name="round_calls_send"),
    path("rounds/<slug:name>/audit/", views.audit, name="audit"),
    path("rounds/<slug:name>/audit/start/", views.audit_start, name="audit_start"),
    path("rounds/<slug:name>/audit/repair/", views.audit_repair, name="audit_repair"),
    path("submissions/<int:assignment_id>/pay/", views.submission_pay, name="submission_pay"),
    path("calls/", views.calls, name="calls"),
    path("calls/<uuid:call_id>/send/", views.call_send, name="call_send"),
    path("calls/<uuid:call_id>/settle/", views.call_settle, name="call_settle"),
]
