"""The URLs of the pages of webhooks."""

from django.urls import path

from console.webhooks import views

urlpatterns = [
    path("webhooks/add/", views.webhook_add, name="webhook_add"),
    path("webhooks/<uuid:webhook_id>/", views.webhook, name="webhook"),
    path("webhooks/<uuid:webhook_id>/secret/", views.webhook_secret, name="webhook_secret"),
    path("webhooks/<uuid:webhook_id>/<slug:word>/", views.webhook_act, name="webhook_act"),
    path("webhooks/<uuid:webhook_id>/deliveries/<int:delivery_id>/send/", views.delivery_send, name="delivery_send"),
]
