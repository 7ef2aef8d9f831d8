"""What the columns of the exported tables mean, for metadata that describes them."""

import pyarrow as pa

TABLES = {
    "pairs": "Every positive or judged pair with its label and the votes behind it; judged negatives included, and "
    "pairs that were rejected automatically.",
    "judgments": "Every judgment, those of excluded answer sets and on gold controls included.",
    "captions": "The captions that queries search, with their texts.",
    "images": "The images that queries search, with their file names.",
}
COLUMNS = {
    "image_id": "The collection's id of an image.",
    "caption_id": "The collection's id of a caption.",
    "image": "The collection's id of an image.",
    "caption": "The collection's id of a caption.",
    "positive": "Lenient label: 1 for a match by the version's policies.",
    "strict": "Strict label: 1 for a match of level 1, or one that was not judged but is a match by a merged source.",
    "graded": "Graded label: the sum of positive and strict, 2, 1 or 0. A pair's gain is half of it.",
    "level": "1 = 100% YES, 2 = Partially YES, 3 = Mostly NO, 4 = 100% NO.",
    "votes": "Number of judgments that count.",
    "share_1": "Share of level 1.",
    "share_2": "Share of level 2.",
    "share_3": "Share of level 3.",
    "share_4": "Share of level 4.",
    "confidence": "Share of the pair's level: of its votes by majority (1 for one vote), else a model's probability.",
    "probability": "Share of verdicts with such votes whose side, match or no match, is right, by the answers to "
    "controls of all workers; empty without votes, where a reviewer decided, and where too little was measured for it.",
    "simulated_votes": "Votes by programs instead of people.",
    "review": "Level that a reviewer set, if any.",
    "sources": "Sources by which the pair is a match, separated by semicolons; automatic: nobody judged the pair, and "
    "its probability of a match rejected it.",
    "round": "Name of the round.",
    "hit": "Number of the HIT in its round.",
    "assignment": "Number of the answer set in its HIT.",
    "place": "Place of the pair in the HIT.",
    "position": "Position at which the worker saw the pair.",
    "control": "Empty for a candidate, otherwise the polarity of the gold control.",
    "control_retired": "1 if the control was retired, as good workers failed it.",
    "worker": "Pseudonym of the worker in this release.",
    "shortcoming": "Why the pair is no perfect match.",
    "wrong_way": "What the caption describes in a wrong way.",
    "at": "Time of the answer, UTC.",
    "active_seconds": "Active time of the whole answer set in seconds.",
    "wording": "Version of the guidelines that the worker read.",
    "channel": "Where the worker came from.",
    "simulated": "1 if a program answered instead of a person.",
    "counted": "1 if the judgment entered a verdict.",
    "seconds": "Active time on the pair in seconds, as far as it is known.",
    "order_seed": "Seed of the round, from which its order was drawn.",
    "reason": "Why the round asked the pair: all of its pool, first-hits of an annotator, or the audit of a query.",
    "inclusion": "Probability that the round asked the pair, known before any judgment.",
    "text": "The caption, verbatim.",
    "file_name": "The picture's file name in the collection.",
    "width": "Width of the picture in pixels.",
    "height": "Height of the picture in pixels.",
    "query": "1 if it is a query of the version.",
    "image_query": "1 if the image is a query of the version.",
    "caption_query": "1 if the caption is a query of the version.",
}


def meaning_of(column: pa.Field) -> str:
    """Return what a column means; empty for one of another project's format, such as MTEB's."""
    if pa.types.is_struct(column.type):
        return "The picture itself, as bytes of its file."
    return COLUMNS.get(column.name, "")
