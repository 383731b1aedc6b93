"""Reviews of nothing in particular: words that do not exist, some of which mostly praise or complain."""

import csv
import gzip
import io
import itertools
import random

WORDS = 6_000
FEELING_WORDS = 150  # of each kind
FEELING = 0.2  # share of a review's words
HONEST = 0.8  # share of those that agree with the review
WRONG_LABELS = 0.05


class Generator:
    """Draws reviews; the same seed gives the same ones in the same order."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        words = self.vocabulary(WORDS + 2 * FEELING_WORDS)
        self.feelings = words[:FEELING_WORDS], words[FEELING_WORDS : 2 * FEELING_WORDS]
        self.neutral = words[2 * FEELING_WORDS :]
        # Words are as frequent as Zipf says: the n-th in proportion to 1/n.
        self.frequencies = list(itertools.accumulate(1 / rank for rank in range(1, WORDS + 1)))

    def vocabulary(self, count):
        syllables = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
        words = {}  # keeps the order, which that of a set would not
        while len(words) < count:
            words["".join(self.random.choices(syllables, k=self.random.randint(2, 4)))] = None
        return list(words)

    def reviews(self, count):
        """Returns pairs of a label (1: praise, 0: complaint) and a text."""
        return [self.review() for _ in range(count)]

    def review(self):
        praise = self.random.randrange(2)
        length = self.random.randint(20, 80)
        words = self.random.choices(self.neutral, cum_weights=self.frequencies, k=length)
        for position in range(length):
            if self.random.random() < FEELING:
                kind = praise if self.random.random() < HONEST else 1 - praise
                words[position] = self.random.choice(self.feelings[kind])
        label = praise if self.random.random() >= WRONG_LABELS else 1 - praise
        return label, self.punctuated(words)

    def punctuated(self, words):
        sentences, rest = [], words
        while rest:
            length = self.random.randint(4, 12)
            sentences.append(" ".join(rest[:length]).capitalize() + self.random.choice((".", "!", "...")))
            rest = rest[length:]
        return " ".join(sentences)


def write(path, reviews):
    """Writes a file that depends on the reviews alone: without a name or a date in its head."""
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", mtime=0, fileobj=raw) as packed:
        with io.TextIOWrapper(packed, encoding="ascii", newline="") as text:
            csv.writer(text, lineterminator="\n").writerows(reviews)
