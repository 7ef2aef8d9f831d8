"""All addresses of the site: workers under /judge/, staff everywhere else."""

from django.contrib import admin
from django.urls import include, path

from console.api.site_api import api

urlpatterns = [
    path("admin/", admin.site.urls),
    path("judge/at/", include("crowd.urls")),
    path("judge/", include("annotation.judging.urls")),
    path("api/v1/", api.urls),
    path("", include("console.urls")),
    path("", include("demo.urls")),
]
handler500 = "config.error_pages.server_error"
