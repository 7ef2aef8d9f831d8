"""The URLs of the pages of collections."""

from django.urls import path

from console.collections import tested_items, views
from corpus.models import Caption, Image

urlpatterns = [
    path("pictures/<int:image_id>/", views.picture, name="picture"),
    path("pictures/signed/<token>/", views.signed_picture, name="signed_picture"),
    path("images/<int:pk>/", views.query, {"kind": Image}, name="image"),
    path("captions/<int:pk>/", views.query, {"kind": Caption}, name="caption"),
    path("collections/", views.collections, name="collections"),
    path("import/", views.collection_import, name="collection_import"),
    path("import/<uuid:job_id>/", views.import_look, name="import_look"),
    path("collections/<slug:name>/", views.collection, name="collection"),
    path("collections/<slug:name>/ids/<slug:what>/", views.collection_ids, name="collection_ids"),
    path("collections/<slug:name>/matches/", views.matches, name="matches"),
    path("collections/<slug:name>/samples/", views.samples, name="samples"),
    path("samples/<slug:name>/captions/", views.sample_captions, name="sample_captions"),
    path("tests/<slug:name>/", tested_items.test_items, name="test_items"),
]
