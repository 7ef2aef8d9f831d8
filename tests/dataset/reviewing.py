"""What tests of reviews share: shortcuts for the acts, and people who act."""

from django.contrib.auth.models import User

from dataset.models import Review
from dataset.reviews.reviews import Conclusion, conclude

LEVEL, EXCLUDED, KEPT = Review.Conclusion.LEVEL, Review.Conclusion.EXCLUDED, Review.Conclusion.KEPT


def another_person(name: str = "kim") -> User:
    return User.objects.create_user(username=name)


def give_level(made, pair, level: int, *, by: User, **more) -> Review:
    """Let a person give a pair of the round a level."""
    return conclude(made.pool.collection, [pair], Conclusion(LEVEL, level=level), by=by, **more)[0]


def exclude_caption(collection, caption: int, *, by: User, grounds="wrong", reason="It shows kites.") -> Review:
    conclusion = Conclusion(EXCLUDED, grounds=grounds, reason=reason)
    return conclude(collection, [(None, caption)], conclusion, by=by)[0]


def exclude_image(collection, image: int, *, by: User, reason="Twice in the training set.") -> Review:
    conclusion = Conclusion(EXCLUDED, grounds="duplicate", reason=reason)
    return conclude(collection, [(image, None)], conclusion, by=by)[0]


def level_of(collection, pair) -> int | None:
    """The level that holds of a pair by review, None if the votes hold."""
    review = Review.objects.holding(collection).get(pair)
    return review.level if review else None
