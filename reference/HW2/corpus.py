"""The embedded corpus: film reviews of our own making, to train on where SST-2 is not at hand.

    python reference/HW2/corpus.py [FOLDER]

writes ``train.tsv`` (450 sentences), ``validation.tsv`` (100), ``heldout.tsv`` (200), ``words.txt`` and
``vectors.npy`` (a vector of 50 numbers for each word), the same bytes each time.

It is made so that the accuracy of a network says whether it has learned. A review talks about one topic, and
each split has as many good as bad reviews of every topic. The vector of a word is mostly its topic; whether it
praises shows in one direction alone, and weakly. So a network that was not trained sorts by topic, which is
worth 50 %. Learning takes some epochs, because that direction has to be found; and it ends below 100 %, because
reviews are mixed ("tender but slow"), some negate, and some praise with words that have no vector.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

SEED = 1106
DIM = 50
SPLITS = {"train": 450, "validation": 100, "heldout": 200}
MAX_WORDS = 36
"""The length of the longest sentence, to which a program pads that knows the first two splits alone."""

TOPIC_SIZE = 2.0
"""How far the words of a topic lie from the origin, in common."""
SPREAD = 1.0
"""How far the words of a topic lie from one another, along each of the topic directions."""
SENTIMENT_SIZE = 0.5
"""How far a word of praise lies from neutral, in the direction of praise."""
NOISE = 0.1
"""How far any word strays along each direction."""
TOPIC_DIRECTIONS = 24

MIXED, NEGATED, UNKNOWN = 0.30, 0.10, 0.06
"""The shares of reviews with a word of the other side, with a negation, and of sentiment words without a vector."""

TOPICS = {
    "story": "story plot script premise ending twist dialogue scene chapter narrative tale opening",
    "cast": "cast actor actress performance lead role hero villain character chemistry stunt cameo",
    "picture": "camera image colour light frame landscape set costume cut shot lens palette",
    "sound": "music score song melody sound silence orchestra rhythm voice chorus theme drum",
    "humour": "joke comedy gag satire laugh punchline parody wit sketch timing farce banter",
}
GOOD = (
    "moving brilliant tender inventive charming vivid graceful gripping warm clever fresh lovely honest rich bold "
    "elegant lively superb touching witty sincere radiant subtle thrilling delightful crisp wise gentle stirring "
    "playful masterful sharp dazzling heartfelt assured"
)
BAD = (
    "dull clumsy tedious hollow lazy stale bland messy tired shallow noisy forced lifeless grating weak awkward "
    "pointless predictable flat dreary sloppy muddled cheap careless ugly wooden sluggish cold silly bloated "
    "annoying confused cynical laboured thin"
)
UNKNOWN_GOOD = "well-judged big-hearted spellbinding unmissable sure-footed"
UNKNOWN_BAD = "half-hearted by-the-numbers ham-fisted unwatchable paper-thin"
PLAIN = (
    "the a an this its is was feels seems looks and but with of in for that one not never quite rather very often "
    "always film movie picture director audience hour evening moment work piece , . it has from start to end "
    "keeps stays remains every"
)

WORKS = "film movie picture work"
VERBS = "is feels seems stays remains looks"

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Review:
    """A sentence and whether it praises (1) or not (0)."""

    sentence: str
    label: int


@dataclass
class Writer:
    """Writes reviews, none of them twice.

    Attributes:
        rng: makes all choices.
        written: the sentences so far.
    """

    rng: random.Random
    written: set[str] = field(default_factory=set)

    def review(self, topic: str, label: int) -> Review:
        """A review of a topic, new among those written so far."""
        while True:
            words = list(self._words(topic.split(), label))
            sentence = " ".join(words)
            if len(words) <= MAX_WORDS and sentence not in self.written:
                self.written.add(sentence)
                return Review(sentence, label)

    def split(self, count: int) -> list[Review]:
        """``count`` reviews in random order, as many good as bad ones of every topic."""
        kinds = [(topic, label) for topic in TOPICS.values() for label in (0, 1)]
        reviews = [self.review(*kinds[i % len(kinds)]) for i in range(count)]
        self.rng.shuffle(reviews)
        return reviews

    def _words(self, topic: list[str], label: int) -> Iterator[str]:
        sides = [label] * self.rng.choice([1, 2, 2, 3])
        if self.rng.random() < MIXED:
            sides.insert(self.rng.randrange(len(sides) + 1), 1 - label)
            sides.append(label)
        for i, side in enumerate(sides):
            if i:
                yield self.rng.choice([",", "and", "but" if side != sides[i - 1] else "and"])
            yield from self._clause(topic, side)
        yield "."

    def _clause(self, topic: list[str], side: int) -> list[str]:
        rng = self.rng
        noun, other, plain = (
            rng.choice(topic),
            rng.choice(topic),
            rng.choice(WORKS.split()),
        )
        word, verb = self._opinion(side), rng.choice(VERBS.split())
        if rng.random() < NEGATED:
            return ["the", noun, verb, rng.choice(["not", "never"]), self._opinion(1 - side)]
        degree = rng.choice(["", "", "quite", "rather", "very", "often", "always"]).split()
        return rng.choice(
            [
                ["the", noun, verb, *degree, word],
                ["a", *degree, word, noun, "in", "this", plain],
                ["this", plain, "has", "a", word, noun, "and", "a", other],
                ["every", noun, "of", "the", plain, verb, *degree, word],
                ["from", noun, "to", other, "it", verb, word],
                [*degree, word, "in", "its", noun],
            ]
        )

    def _opinion(self, side: int) -> str:
        known, unknown = (GOOD, UNKNOWN_GOOD) if side else (BAD, UNKNOWN_BAD)
        return self.rng.choice((unknown if self.rng.random() < UNKNOWN else known).split())


def frame(rng: random.Random) -> Vector:
    """A random orthonormal frame ``[DIM, DIM]``, by Gram and Schmidt; its first row means praise."""
    rows: list[Vector] = []
    for _ in range(DIM):
        row = np.array([rng.gauss(0, 1) for _ in range(DIM)])
        for known in rows:
            row -= (row @ known) * known
        rows.append(row / np.sqrt(row @ row))
    return np.array(rows)


def vectors(rng: random.Random) -> dict[str, Vector]:
    """The vector ``[DIM]`` of every known word, to four decimals."""
    axes = frame(rng)
    found: dict[str, Vector] = {}

    def place(words: str, centre: Vector, praise: float) -> None:
        for word in words.split():
            spread = np.zeros(DIM)
            spread[1 : 1 + TOPIC_DIRECTIONS] = [rng.gauss(0, SPREAD) for _ in range(TOPIC_DIRECTIONS)]
            stray = [rng.gauss(0, NOISE) for _ in range(DIM)]
            local = centre + spread + stray
            local[0] += praise * rng.uniform(0.6, 1.4) * SENTIMENT_SIZE
            found[word] = np.round(local @ axes, 4)

    for i, words in enumerate(TOPICS.values()):
        centre = np.zeros(DIM)
        centre[1 + i] = TOPIC_SIZE
        place(words, centre, 0.0)
    place(PLAIN, np.zeros(DIM), 0.0)
    place(GOOD, np.zeros(DIM), 1.0)
    place(BAD, np.zeros(DIM), -1.0)
    return found


def write(folder: Path) -> None:
    """Write the corpus into a folder, which is made if it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    writer = Writer(random.Random(SEED))
    for name, count in SPLITS.items():
        lines = [f"{review.sentence}\t{review.label}" for review in writer.split(count)]
        (folder / f"{name}.tsv").write_text("\n".join(["sentence\tlabel", *lines, ""]), encoding="utf-8")
    words = vectors(random.Random(SEED + 1))
    (folder / "words.txt").write_text("\n".join([*words, ""]), encoding="utf-8")
    np.save(folder / "vectors.npy", np.array(list(words.values()), dtype=np.float32))


def main(arguments: list[str]) -> None:
    """Write to the given folder, or to the committed one."""
    here = Path(__file__).resolve().parents[2] / "fixtures" / "HW2" / "corpus"
    write(Path(arguments[0]) if arguments else here)


if __name__ == "__main__":
    main(sys.argv[1:])
