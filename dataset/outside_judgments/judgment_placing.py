"""Where the rows of a file of judgments belong in a round: in the HITs that it names, or in those of their pairs."""

from typing import Any

import numpy as np
import pandas as pd

from core import clock
from core.errors import CounterpartError, some_of
from core.text import counted
from hits.models import Item, Round

PAIR = ["image", "caption"]
Places = dict[str, list[str]]
"""Kinds of answers that are not taken as they are → their places in the file."""
_ALIKE = "Pack the round from the same pool with the same seed, design and controls."


def items_of(round: Round) -> pd.DataFrame:
    """Return a row for each item of the round, by HIT and place; ``polarity`` is empty for a candidate."""
    columns = {
        "pk": "item_id",
        "hit__number": "hit",
        "hit_id": "hit_id",
        "image__key": "image",
        "caption__key": "caption",
        "image_id": "image_id",
        "caption_id": "caption_id",
        "control__polarity": "polarity",
    }
    found: Any = Item.objects.filter(hit__round=round).order_by("hit__number", "place").values_list(*columns)
    return pd.DataFrame.from_records(list(found), columns=list(columns.values())).fillna({"polarity": ""})


def at_items(rows: pd.DataFrame, items: pd.DataFrame, notes: Places) -> pd.DataFrame:
    """Return the rows with their items, in the HITs that the file names.

    If most pairs are in other HITs there, the round was packed otherwise: candidates go to the first HIT with their
    pair, and answers on controls and those that did not count are left out and noted. Raises CounterpartError for HITs
    and pairs that the round does not have.
    """
    found = rows.merge(items, on=["hit", *PAIR], how="left")
    if found["item_id"].isna().mean() > 0.5:
        return _at_other_items(rows, items, notes)
    missing = found[found["item_id"].isna()]
    if len(missing):
        raise CounterpartError(
            f"{counted(count_pairs(missing), 'pair')} of the file cannot be found in HIT "
            f"{some_of(missing['hit'].unique().tolist())}: {some_pairs(missing)}. {_ALIKE}"
        )
    other = found[found["control"] != found["polarity"]]
    if len(other):
        raise CounterpartError(
            f"{counted(count_pairs(other), 'pair is a control', 'pairs are controls')} in the file or in the round "
            f"but not in both: {some_pairs(other)}. {_ALIKE}"
        )
    return found


def _at_other_items(rows: pd.DataFrame, items: pd.DataFrame, notes: Places) -> pd.DataFrame:
    places = "line " + rows.index.astype(str).to_series(index=rows.index)
    is_control = rows["control"] != ""
    notes["controls"] += places[is_control].tolist()
    notes["rejected"] += places[~is_control & (rows["counted"] == 0)].tolist()
    kept = rows[~is_control & (rows["counted"] == 1)]
    return at_first_items(kept.assign(hit=None, assignment=1, active_seconds=np.nan), items[items["polarity"] == ""])


def at_candidates(rows: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with the items of their pairs; where a pair is in several HITs, its answers take turns.

    Raises CounterpartError for pairs that are not candidates of the round.
    """
    candidates = items[items["polarity"] == ""].copy()
    candidates["turn"] = candidates.groupby(PAIR).cumcount()
    turns = candidates.groupby(PAIR).size().rename("turns").reset_index()
    found = rows.merge(turns, on=PAIR, how="left")
    _check_asked(found[found["turns"].isna()])
    found["turn"] = (found["answer"] - 1) % found["turns"].astype(int)
    found = found.merge(candidates, on=[*PAIR, "turn"])
    return found.assign(
        assignment=found["answer"], simulated=0, counted=1, active_seconds=np.nan, seconds=None, at=clock.now()
    )


def at_first_items(rows: pd.DataFrame, items: pd.DataFrame, unknown: list[str] | None = None) -> pd.DataFrame:
    """Return the rows with the items of their pairs: in the HIT that a row names, or of several the first candidate, or
    else the first control.

    Rows of pairs that the round does not have are left out and their places added to ``unknown``; if that is None,
    raises CounterpartError.
    """
    ordered = items.sort_values("polarity", key=lambda polarity: polarity != "", kind="stable")
    by = PAIR if rows["hit"].isna().any() else ["hit", *PAIR]
    found = rows.drop(columns=[] if "hit" in by else "hit").merge(ordered.drop_duplicates(by), on=by, how="left")
    missing = found["item_id"].isna()
    if unknown is None:
        _check_asked(found[missing])
    else:
        unknown += found.loc[missing, "place"].tolist()
    return found[~missing].astype({"item_id": int, "hit_id": int, "hit": int, "image_id": int, "caption_id": int})


def _check_asked(missing: pd.DataFrame) -> None:
    if len(missing):
        raise CounterpartError(
            f"The round does not ask about {counted(count_pairs(missing), 'pair')} of the file: "
            f"{some_pairs(missing)}. Pack a round of the pool that they were proposed in."
        )


def count_pairs(rows: pd.DataFrame) -> int:
    return len(rows[PAIR].drop_duplicates())


def some_pairs(rows: pd.DataFrame) -> str:
    pairs = rows[PAIR].drop_duplicates()
    return some_of([f"image {image} with caption {caption}" for image, caption in pairs.itertuples(index=False)])
