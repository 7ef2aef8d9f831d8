import json
from collections import Counter
from math import log, sqrt
from unicodedata import normalize

import numpy as np
import pytest

from counterpart_annotators.kinds.embedding.annotator import RIDGE, _ridge
from counterpart_annotators.kinds.overlap import OverlapScores

TEXTS = ["A red dog.", "a dog runs", "Two cats", "two RED cats", "a red car", "???"]
OWN = [0, 0, 1, 1, 2, 2]


def slow_scores(texts: list[str], own: list[int], n_images: int) -> np.ndarray:
    """The definition, pair by pair, with dictionaries."""
    bags = [Counter(text.lower().replace(".", "").replace("?", "").split()) for text in texts]
    idf = {word: log(1 + len(bags) / sum(word in bag for bag in bags)) for bag in bags for word in bag}

    def cosine(one: Counter, other: Counter) -> float:
        def dot(a: Counter, b: Counter) -> float:
            return sum(n * b[word] * idf[word] ** 2 for word, n in a.items())

        lengths = sqrt(dot(one, one) * dot(other, other))
        return dot(one, other) / lengths if lengths else 0.0

    def image(i: int, without: int) -> Counter:
        return sum((bags[c] for c, of in enumerate(own) if of == i and c != without), Counter())

    return np.array([[cosine(bags[c], image(i, c)) for c in range(len(bags))] for i in range(n_images)])


def all_scores(texts: list[str], own: list[int], n_images: int) -> np.ndarray:
    return OverlapScores(texts, own, n_images).block(np.arange(n_images), np.arange(len(texts)))


def test_random_texts_agree_with_the_definition():
    rng = np.random.default_rng(1)
    texts = [" ".join(rng.choice(list("abcdefgh"), size=rng.integers(0, 6))) for _ in range(40)]
    own = rng.integers(0, 12, 40).tolist()
    np.testing.assert_allclose(all_scores(texts, own, 12), slow_scores(texts, own, 12), atol=1e-6)


def test_a_case_worked_by_hand():
    # x is in both of two texts, y in one. Image 1 has only "x".
    scores = all_scores(["x y", "x"], [0, 1], 2)
    x, y = log(1 + 2 / 2), log(1 + 2 / 1)
    assert scores[1, 0] == pytest.approx(x / sqrt(x**2 + y**2))


def test_blocks_are_parts_of_the_whole():
    whole = all_scores(TEXTS, OWN, 3)
    rows, columns = np.array([2, 0]), np.array([5, 1, 0])
    part = OverlapScores(TEXTS, OWN, 3).block(rows, columns)
    np.testing.assert_array_equal(part, whole[np.ix_(rows, columns)])


@pytest.mark.parametrize("shape", [(5, 12), (12, 5)])
def test_the_regression_is_the_same_solved_on_either_side(shape):
    rng = np.random.default_rng(0)
    features, wanted = rng.normal(size=shape).astype(np.float32), rng.normal(size=(shape[0], 2)).astype(np.float32)
    gram = features.T @ features + RIDGE * shape[1] * np.eye(shape[1])
    np.testing.assert_allclose(_ridge(features, wanted), np.linalg.solve(gram, features.T @ wanted), atol=1e-5)


# Two images of one scene have two captions each, one of either pair of frames; {0} who, {1} where, {2} what it does.
SCRIPTS = {
    "Chinese": (
        "{0}在{1}{2}|{1}里的{0}|一张{0}{2}的照片，{1}|{1}上有{0}",
        "狗 公园 跑|猫 沙发 睡|马 草地 吃|孩子 海滩 玩|女人 厨房 做饭|男人 街 骑车|鸟 树 叫|火车 车站 停",
    ),
    "Japanese": (
        "{1}で{0}が{2}いる。|{0}は{1}の中で{2}います|{1}にいる{0}、{2}いるところ|写真：{1}で{2}いる{0}",
        "犬 公園 走って|猫 ソファ 眠って|子供 海辺 遊んで|女性 キッチン 料理して|鳥 木の枝 歌って",
    ),
    "Thai": (
        "{0}กำลัง{2}ใน{1}|ใน{1}มี{0}ที่{2}อยู่|{1}กับ{0}ซึ่ง{2}|ภาพของ{0}{2}ที่{1}",
        "สุนัข สวนสาธารณะ วิ่ง|แมว โซฟา นอนหลับ|เด็ก ชายหาด เล่นทราย|ผู้หญิง ห้องครัว ทำอาหาร|ผู้ชาย ถนน ปั่นจักรยาน|นก กิ่งไม้ ร้องเพลง",
    ),
    "Hindi": (
        "{1} में एक {0} {2} है।|एक {0} {1} के अंदर {2} है|{1} और {0} जो {2} है|तस्वीर: {0} {1} पर {2} है",
        "कुत्ता पार्क दौड़ता|बिल्ली सोफ़ा सोती|बच्चा तट खेलता|महिला रसोई पकाती|आदमी सड़क चलता|चिड़िया डाली गाती",
    ),
    "Korean": (
        "{1} 안에서 {0} 하나가 {2}.|{0} 하나, {1} 안, {2}|{1} 그리고 {0} — {2}|사진: {2} {0} {1}",
        "강아지 공원 달린다|고양이 소파 잔다|아이 해변 논다|여자 부엌 요리한다|남자 거리 자전거를 탄다",
    ),
    "Arabic": (
        "{0} {2} في {1}.|في {1} يوجد {0} {2}|{1} مع {0} {2}|صورة: {0} {2} عند {1}",
        "كَلْبٌ الحَدِيقَةِ يَرْكُضُ|قِطٌّ الأَرِيكَةِ يَنَامُ|طِفْلٌ الشَّاطِئِ يَلْعَبُ|امْرَأَةٌ المَطْبَخِ تَطْبُخُ|رَجُلٌ الشَّارِعِ يَقُودُ|طَائِرٌ الغُصْنِ يُغَنِّي",
    ),
    "Vietnamese": (
        "Một {0} đang {2} trong {1}.|Trong {1} có {0} đang {2}|{1} với {0}, {2}|Ảnh {0} {2} ở {1}",
        "chó công_viên chạy|mèo ghế_dài ngủ|trẻ bãi_biển chơi|phụ_nữ nhà_bếp nấu|đàn_ông đường_phố đạp",
    ),
    "emoji": ("{0}{2}{1}!|{1}: {0}, {2}|{2} {0} … {1}|{0}{1}{2}", "🐕 🏞️ 🏃🏽‍♀️|🐈 🛋️ 😴|👩🏽‍🍳 🇫🇷 🍲|🧑‍🚀 🌕 ⛳"),
}  # fmt: skip


@pytest.mark.parametrize("script", SCRIPTS)
def test_captions_of_one_scene_find_each_other_in_any_script(script):
    frames, scenes = (part.split("|") for part in SCRIPTS[script])
    written = [frame.format(*scene.split(" ", 2)) for scene in scenes for frame in frames]
    texts = [normalize("NFD" if number % 2 else "NFC", text) for number, text in enumerate(written)]
    assert siblings_found(texts) == len(texts)


@pytest.mark.shared
@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_collection_of_pairs_of_scenes_is_searched(shared, language):
    lines = (shared / f"fixtures/intake/{language}.jsonl").read_text(encoding="utf-8").splitlines()
    assert siblings_found([json.loads(line)["text"] for line in lines]) == 32


def siblings_found(texts: list[str]) -> int:
    """The captions, two an image, that have the other image of their scene among their first two."""
    own = np.arange(len(texts)) // 2
    first_two = np.argsort(-all_scores(texts, own.tolist(), len(texts) // 2), axis=0, kind="stable")[:2]
    return int((first_two == own ^ 1).any(0).sum())
