"""The URLs of the pages of staff and their passwords."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from console.people import views

urlpatterns = [
    path("login/", views.log_in, name="login"),
    path("password/", views.change_password, name="password"),
    path("password/forgotten/", views.forgotten_password, name="password_forgotten"),
    path("password/<uidb64>/<token>/", views.set_password, name="password_set"),
    path("staff/", views.staff, name="staff"),
    path("doctor/", views.doctor, name="doctor"),
    path("staff/<int:user_id>/", views.person, name="person"),
    path("staff/<int:user_id>/link/", views.person_link, name="person_link"),
    path("logout/", LogoutView.as_view(), name="logout"),
]
