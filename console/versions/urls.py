"""The URLs of the pages of versions."""

from django.urls import path

from console.versions import release_page, results, views

urlpatterns = [
    path("versions/", views.versions, name="versions"),
    path("versions/<slug:name>/", views.version, name="version"),
    path("versions/<slug:name>/files/<str:file_name>", views.version_file, name="version_file"),
    path("versions/<slug:name>/score/", views.version_score, name="version_score"),
    path("versions/<slug:name>/verify/", views.version_verify, name="version_verify"),
    path("versions/<slug:name>/changes/", views.version_changes, name="version_changes"),
    path("versions/<slug:name>/export/", views.version_export, name="version_export"),
    path("versions/<slug:name>/downloads/<str:what>.zip", views.version_download, name="version_download"),
    path("versions/<slug:name>/publish/", results.version_publish, name="version_publish"),
    path("versions/<slug:name>/withdraw/", results.version_withdraw, name="version_withdraw"),
    path("results/<slug:name>/", results.result, name="result"),
    path("results/<slug:name>/pictures/<int:image_id>.jpg", results.result_picture, name="result_picture"),
    path("release/", release_page.release, name="release"),
    path("conflicts/send/", release_page.conflicts_send, name="conflicts_send"),
]
