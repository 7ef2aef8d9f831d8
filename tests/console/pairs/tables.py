"""The pairs table as tests ask for it, and reviews that they send there."""

from django.urls import reverse

from tests.annotation.cast import candidates


def table(kind="round", name="round-1", page="pairs", **filters) -> str:
    return reverse(page, args=[kind, name], query=filters)


def shown(client, made, **filters) -> str:
    """The letters of the candidates that the round's table lists, in its order; ``?`` for other pairs."""
    response = client.get(table(**filters))
    assert response.status_code == 200, response.content.decode()
    letters = dict(zip(candidates(made.hits.get()), "abcd", strict=True))
    return "".join(letters.get((one.image.pk, one.caption.pk), "?") for one in response.context.get("lines", []))


def review(client, pairs, conclusion="4", **more):
    data = {"pair": [f"{image}-{caption}" for image, caption in pairs], "conclusion": conclusion, **more}
    return client.post(table(page="pairs_review", disagreement="yes"), data)
