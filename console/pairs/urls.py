"""The URLs of the pages of pairs."""

from django.urls import path

from console.pairs import explorer, views

urlpatterns = [
    path("pairs/<int:image_id>/<int:caption_id>/", views.pair, name="pair"),
    path("pairs/<int:image_id>/<int:caption_id>/conclude/", views.pair_conclude, name="pair_conclude"),
    path("pairs/<int:image_id>/<int:caption_id>/undo/", views.reviews_undo, name="reviews_undo"),
    path("pairs/<int:image_id>/<int:caption_id>/second/<int:review_id>/", views.review_second, name="review_second"),
    path("<slug:kind>s/<slug:name>/pairs/", explorer.pairs, name="pairs"),
    path("<slug:kind>s/<slug:name>/pairs.csv", explorer.pairs_csv, name="pairs_csv"),
    path("<slug:kind>s/<slug:name>/pairs/review/", explorer.pairs_review, name="pairs_review"),
]
