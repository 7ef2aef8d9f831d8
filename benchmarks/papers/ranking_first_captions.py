"""Hodosh et al. 2013: tables 1 and 2, over captions that experts judged, and figure 3, the words most alike."""

from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.papers.book import Made, markdown
from benchmarks.papers.ranking_data import Floats, read_flickr8k
from benchmarks.papers.ranking_systems import MAIN, TRAINING, compared, similarity_parts, texts
from counterpart_annotators.classical.word_similarities import most_alike
from counterpart_annotators.words import bleu_1, content_words, rouge_1, stem_of, words_of
from counterpart_statistics.judged.overlap_rows import THIRDS
from counterpart_statistics.significance import Compared, compared_means, cumulative_shares, stars

BLOCK = 50  # images whose judged captions are compared at a time


@cache
def first_captions(data: Path) -> dict[str, np.ndarray]:
    """Return the judged pair that each system puts first for each image with one, as places in the experts' list."""
    found = read_flickr8k(data)
    judged = np.flatnonzero(~found.own)
    images, captions = found.experts[judged].T
    chosen = {"Random": np.random.default_rng(0).random(len(judged))}
    for shown, name in MAIN.items():
        chosen[shown] = np.empty(len(judged))
        for start in range(0, len(found.captions), BLOCK):
            here = (images >= start) & (images < start + BLOCK)
            columns, place = np.unique(captions[here], return_inverse=True)
            rows = [one[1:] for one in found.captions[start : start + BLOCK]]
            table = compared(texts(data)[name], rows, [found.pool[column] for column in columns])
            chosen[shown][here] = table[images[here] - start, place]
    return {name: judged[_first_of_each(images, scores)] for name, scores in chosen.items()}


def _first_of_each(images: np.ndarray, scores: Floats) -> np.ndarray:
    order = np.lexsort((-scores, images))
    return order[np.unique(images[order], return_index=True)[1]]


def table_1(data: Path) -> Made:
    firsts = first_captions(data)
    means = read_flickr8k(data).means
    found = cumulative_shares([means[places] for places in firsts.values()], THIRDS, against=len(firsts) - 1)
    rows = [
        [name, *(_starred(100 * found.figures[row, t], found.pvalues[row, t]) for t in range(len(THIRDS)))]
        for row, name in enumerate(firsts)
    ]
    return Made(
        "; ".join(
            f"{name} {100 * found.figures[row, 0]:.1f}, {100 * found.figures[row, 4]:.1f}"
            for row, name in enumerate(firsts)
            if name in ("Random", "BoW5", "TagRank", "Tri5Sem")
        )
        + " (4.0, ≥ 2.67)",
        markdown(["", "4.0", "≥ 3.67", "≥ 3.33", "≥ 3.0", "≥ 2.67", "≥ 2.33", "≥ 2.0"], rows),
    )


def table_2(data: Path) -> Made:
    found = read_flickr8k(data)
    firsts = first_captions(data)
    plain, stems = cache(words_of), cache(content_words)
    scores: dict[str, list[Floats]] = {"experts": [], "BLEU": [], "ROUGE": []}
    for places in firsts.values():
        pairs = [(found.pool[caption], found.captions[image]) for image, caption in found.experts[places].tolist()]
        scores["experts"].append(found.means[places])
        scores["BLEU"].append(np.array([bleu_1(*pair, words=plain) for pair in pairs]))
        scores["ROUGE"].append(np.array([rouge_1(*pair, words=stems) for pair in pairs]))
    tested: dict[str, Compared] = {
        name: compared_means(values, against=len(firsts) - 1, samples=10_000) for name, values in scores.items()
    }
    rows = [
        [name, *(_starred(one.figures[row], one.pvalues[row], 2) for one in tested.values())]
        for row, name in enumerate(firsts)
    ]
    return Made("; ".join(" ".join(str(cell) for cell in row[:2]) for row in rows), markdown(["", *tested], rows))


def _starred(value: float, pvalue: float, places: int = 1) -> str:
    return f"{value:.{places}f}{stars(pvalue).replace('*', '∗')}"


def figure_3(data: Path) -> Made:
    words, parts = similarity_parts(data)
    spelt = _spellings(data)
    titles = {"align": "alignment", "caption": "company in captions", "image": "company in images"}
    rows = [
        [
            word,
            title,
            ", ".join(f"{spelt[stem]} {value:.2f}" for stem, value in most_alike(parts[name], words, stem_of(word))),
        ]
        for word in ("rider", "swim")
        for name, title in titles.items()
    ]
    found = {(row[0], row[1]): row[2] for row in rows}
    return Made(
        f"rider by alignment: {found['rider', 'alignment']}; swim by company: {found['swim', 'company in captions']}",
        markdown(["word", "similarity", "five most alike"], rows),
    )


def _spellings(data: Path) -> dict[str, str]:
    """Return the most frequent word of each stem."""
    captions = [text for image in read_flickr8k(data).training[:TRAINING] for text in image]
    counts = Counter(word for text in captions for word in words_of(text))
    return {stem_of(word): word for word, _ in reversed(counts.most_common())}
