"""Names of languages that do not exist: each strings together syllables of its own."""

import random

import numpy

from tasks.rnn_name_generation import END, LONGEST

LANGUAGES = 6
NAMES_PER_LANGUAGE = 2_000

CONSONANTS = "bcdfghjklmnprstvwz"
VOWELS = "aeiou"


def training_set(seed):
    """Returns the names as rows of symbols, filled up with END, and the language of each."""
    generator = random.Random(seed)
    rows, languages = [], []
    for language in range(LANGUAGES):
        syllables = [syllable(generator) for _ in range(20)]
        endings = [syllable(generator) for _ in range(5)]
        for _ in range(NAMES_PER_LANGUAGE):
            stem = generator.choices(syllables, k=generator.choice((1, 1, 2)))
            name = "".join(stem) + generator.choice(endings)
            symbols = [ord(letter) - ord("a") + 1 for letter in name[: LONGEST - 1]]
            rows.append(symbols + [END] * (LONGEST - len(symbols)))
            languages.append(language)
    return numpy.array(rows), numpy.array(languages)


def syllable(generator):
    coda = generator.choice(("", "", "l", "n", "r", "s"))
    return generator.choice(CONSONANTS) + generator.choice(VOWELS) + coda
