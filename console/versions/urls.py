"""The URLs of the pages of versions."""

from django.urls import path

from console.versions import (
    release_page,
    results,
    version_acts,  # noqa: F401  declares the acts
    views,
)

urlpatterns = [
    path("versions/<slug:name>/", views.version, name="version"),
    path("versions/<slug:name>/trust/", views.version_trust, name="version_trust"),
    path("versions/<slug:name>/changes/", views.version_changes, name="version_changes"),
    path("versions/<slug:name>/files/", views.version_files, name="version_files"),
    path("versions/<slug:name>/files/<str:file_name>", views.version_file, name="version_file"),
    path("versions/<slug:name>/downloads/<str:what>.zip", views.version_download, name="version_download"),
    path("results/<slug:name>/", results.result, name="result"),
    path("results/<slug:name>/pictures/<int:image_id>.jpg", results.result_picture, name="result_picture"),
    path("results/<slug:name>/files/<str:file_name>", results.result_file, name="result_file"),
    path("release/", release_page.release, name="release"),
    path("conflicts/send/", release_page.conflicts_send, name="conflicts_send"),
]
