"""Hodosh et al. 2013 on Flickr8k's public judgments: figures 2 and 4, tables 8 to 10, the filter of section 4.3.2."""

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path

import numpy as np

from benchmarks.papers.book import Made, markdown, numbers
from benchmarks.papers.ranking_data import Flickr8k, Floats, read_flickr8k
from counterpart_annotators.bags import bleu_1_table
from counterpart_annotators.words import REFERENCES, bleu_1, content_words, rouge_1, words_of
from counterpart_statistics.agreement import krippendorff_alpha
from counterpart_statistics.threshold_agreement import detection, filtered, kappas

LEVELS = (8 / 3, 3, 10 / 3, 11 / 3, 4)
LEVEL_NAMES = [f"experts ≥ {level}" for level in ("2.67", "3.0", "3.33", "3.67", "4.0")]
TENTHS = np.arange(1, 11) / 10
# Words are read once each; otherwise these are those of counterpart_annotators.words.OVERLAPS.
SCORES = {"BLEU": partial(bleu_1, words=cache(words_of)), "ROUGE": partial(rouge_1, words=cache(content_words))}
FIGURE_2 = (
    "a man is doing tricks on a bicycle on ramps in front of a crowd",
    "a man on a bike executes a jump as part of a competition while the crowd watches",
    "a man rides a yellow bike over a ramp while others watch",
    "bike rider jumping obstacles",
    "bmx biker jumps off of ramp",
    "a group of people sit at a table in front of a large building",
    "people are drinking and walking in front of a brick building",
    "people are enjoying drinks at a table outside a large brick building",
    "two people are seated at a table with drinks",
    "two people are sitting at an outdoor cafe in front of an old building",
)
PRINTED_FILTERS = {  # threshold of BLEU-1 → percent dropped of all pairs, of those of at least 2⅔, of at least 3
    0.25: ("86.0", "6.7", "3.5"),
    0.26: ("90.4", "12.3", "7.5"),
    0.33: ("55", "6.9", ""),
    0.334: ("65", "11.9", ""),
}
FIGURE_4 = (
    "a girl wearing a yellow shirt and sunglasses smiles",
    "a man climbs up a sheer wall",
    "a miami basketball player dribbles by an arizona state player",
    "a group of people walking a city street in warm weather",
    "a boy jumps into the blue pool",
    "a dog in a grassy field looking up",
    "basketball players in",
    "a man riding a motor bike kicks up dirt",
    "dogs pulling a sled in a sled race",
    "two little girls practice martial",
    "a snowboarder in the air over a snowy",
    "a child jumping on a tennis court",
    "a boy in a blue life jacket jumps into the",
    "a black dog with a purple collar",
)


def figure_2(data: Path) -> Made:
    found = read_flickr8k(data)
    every = [text for captions in [*found.captions, *found.training] for text in captions]
    known = {_letters(text) for text in every}
    shown = sum(text in known for text in FIGURE_2)
    return Made(f"{shown} of them found; {np.mean([len(text.split()) for text in every]):.1f} words (signs count)")


def figure_4(data: Path) -> Made:
    found = read_flickr8k(data)
    pool = [_letters(text) for text in found.pool]
    scores: dict[int, list[float]] = {}
    for (_, caption), mean in zip(found.experts.tolist(), found.means.tolist(), strict=True):
        scores.setdefault(caption, []).append(mean)
    rows = []
    for text in FIGURE_4:
        places = [place for place, other in enumerate(pool) if other.startswith(text)]
        counts = Counter(round(score, 2) for place in places for score in scores.get(place, []))
        rows.append([text, ", ".join(f"{score:g}: {n}" for score, n in sorted(counts.items(), reverse=True)) or "–"])
    alpha = krippendorff_alpha(found.expert_scores)
    return Made(
        f"{sum(row[1] != '–' for row in rows)} of them in the pool and judged; α {alpha:.2f}",
        markdown(["caption (the begin, as printed)", "experts' mean scores of it: number of images"], rows),
    )


def _letters(text: str) -> str:
    return " ".join(re.sub("[^a-z ]", "", text.lower()).split())


def kappa_table(found: Flickr8k, metric: str, part: slice) -> Floats:
    """Return kappa at ten thresholds of BLEU or ROUGE against some captions (rows) and five of the experts."""
    scores = [SCORES[metric](found.pool[caption], found.captions[image][part]) for image, caption in found.experts]
    return kappas(scores, found.means, TENTHS, LEVELS)


def _both(found: Flickr8k, part: slice) -> tuple[Floats, Floats]:
    return kappa_table(found, "BLEU", part), kappa_table(found, "ROUGE", part)


def _kappa_details(tables: Mapping[str, tuple[Floats, Floats]]) -> str:
    """Return a table for BLEU and ROUGE against each set of captions."""
    parts = []
    for name, both in tables.items():
        for metric, table in zip(SCORES, both, strict=True):
            rows = ([f"≥ {threshold:.1f}", *row] for threshold, row in zip(TENTHS, table, strict=True))
            parts.append(f"{metric}, {name}\n\n{markdown(['', *LEVEL_NAMES], rows)}")
    return "\n\n".join(parts)


def table_8(data: Path) -> Made:
    found = read_flickr8k(data)
    bleu, rouge = every = _both(found, REFERENCES["all"])
    gold, gold_rouge = first = _both(found, REFERENCES["first"])
    return Made(
        f"BLEU {bleu[9, 4]:.2f}, {bleu[7, 3]:.2f}, ROUGE {rouge[3, 4]:.2f}, {rouge[3, 3]:.2f}, {rouge[2, 1]:.2f}; "
        f"BLEU {gold[7, 4]:.2f}, ROUGE {gold_rouge[8, 4]:.3f}",
        _kappa_details({"all five captions": every, "the pool's caption": first}),
    )


def table_9(data: Path) -> Made:
    found = read_flickr8k(data)
    four, four_rouge = rest = _both(found, REFERENCES["rest"])
    single = [_both(found, slice(number, number + 1)) for number in range(1, 5)]
    bleu, rouge = (numbers((float(np.nanmax(table)) for table in tables), 2) for tables in zip(*single, strict=True))
    return Made(
        f"BLEU {four[6, 2]:.2f}, ROUGE {four_rouge[1, 0]:.2f}; one: BLEU {bleu}, ROUGE {rouge} (first to fourth of the "
        "others)",
        _kappa_details({"the other four": rest, "the first of the others": single[0]}),
    )


def table_10(data: Path) -> Made:
    found = read_flickr8k(data)
    judged = found.crowd[found.experts[:, 0], found.experts[:, 1]]
    lay = np.where(found.own, 1.0, np.nan_to_num(judged))
    shares = (1 / 3, 0.5, 2 / 3, 1.0)
    table = kappas(lay, found.means, shares, LEVELS)
    quality = detection(lay, found.means, 0.5, LEVELS)
    kappa_rows = ([f"crowd ≥ {share:.2f}", *row] for share, row in zip(shares, table, strict=True))
    quality_rows = ([level, *(100 * value[place] for value in quality)] for place, level in enumerate(LEVEL_NAMES))
    relevant = found.relevant()
    by_caption, by_image = (
        ", ".join(str(int((relevant.sum(axis).clip(max=4) == n).sum())) for n in (1, 2, 3, 4)) for axis in (0, 1)
    )
    return Made(
        f"κ {table[1, 2]:.2f}; precision {100 * quality.precision[0]:.1f}; recall {100 * quality.recall[4]:.1f}, "
        f"{100 * quality.recall[3]:.1f}; {int(relevant.sum()) - len(relevant):,}; {by_caption}; images of 1, 2, 3, 4+ "
        f"captions {by_image}",
        f"κ\n\n{markdown(['', *LEVEL_NAMES], kappa_rows)}\n\n"
        f"Crowd ≥ 0.5, percent\n\n{markdown(['', 'precision', 'recall', 'F1'], quality_rows)}",
    )


def section_432(data: Path) -> Made:
    found = read_flickr8k(data)
    stems = bleu_1_table(found.pool, found.captions)
    plain = bleu_1_table(found.pool, found.captions, words=words_of)
    pairs = bleu_1_table(found.pool, found.captions, words=_pairs_of_stems)
    people = found.expert_table().ravel()
    lost = {}
    for threshold in PRINTED_FILTERS:
        scores = (stems if threshold < 0.3 else plain).ravel()
        kept = [filtered(scores, people, [threshold], good=good) for good in (8 / 3, 3)]
        lost[threshold] = [f"{100 * one[0]:.1f}" for one in (kept[0].dropped, kept[0].lost, kept[1].lost)]
    rows = (
        ["stems without stop words" if threshold < 0.3 else "words as they are", f"< {threshold}", *map(_arrow, *both)]
        for threshold, *both in zip(lost, lost.values(), PRINTED_FILTERS.values(), strict=True)
    )
    below = found.crowd[stems < 0.25]
    below = below[~np.isnan(below)]
    return Made(
        "drops {}%, loses {}% and {}%; ".format(*lost[0.25])
        + f"{(stems > 0).mean():.1%}, {(pairs > 0).mean():.1%}; {(below < 0.5).mean():.1%}, {(below == 0).mean():.1%}",
        "Percent, paper → ours.\n\n" + markdown(["BLEU-1 of", "dropped", "of all", "of ≥ 2⅔", "of ≥ 3"], rows),
    )


def _arrow(ours: str, paper: str) -> str:
    return f"{paper or '–'} → {ours}"


def _pairs_of_stems(text: str) -> list[str]:
    stems = content_words(text)
    return [" ".join(pair) for pair in zip(stems, stems[1:], strict=False)]
