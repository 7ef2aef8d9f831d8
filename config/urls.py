"""All addresses of the site: workers under /judge/, staff everywhere else."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from console.api.site_api import api
from console.urls import redirects

urlpatterns = [
    path("admin/password_change/", RedirectView.as_view(pattern_name="password")),  # which records it
    path("admin/", admin.site.urls),
    path("judge/at/", include("crowd.urls")),
    path("judge/", include("annotation.judging.urls")),
    path("api/v1/", api.urls),
    path("", include("console.urls")),
    *redirects,
    path("", include("demo.urls")),
]
handler500 = "core.web.middleware.server_error"
