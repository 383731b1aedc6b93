"""Name generation: a recurrent network writes names letter by letter, in plain numpy.

Measures many small dependent matrix products, as inference at batch size one is: one core, mostly
the overhead of each call. The network (Elman's, told the language) was trained by the build of the
image, which also wrote down the names that it must give.
"""

import json

import numpy

from tasks import inputs
from tasks.result import Result, digest, require

NAMES = {"short": 4_000, "medium": 40_000, "long": 120_000}

LONGEST = 16  # letters

# Symbol 0 ends a name, and stands before its first letter; 1 to 26 are the letters.
END = 0
SYMBOLS = 27

# Below 1 the likelier letters are preferred: odder names are rarer than in the training set.
TEMPERATURE = 0.7


def run(mode):
    with numpy.load(inputs.NAME_MODEL) as stored:
        model = dict(stored)
    wanted = json.loads(inputs.NAME_DIGESTS.read_text("ascii"))[mode]
    names = [generate(model, *task) for task in zip(*assignments(model, NAMES[mode]), strict=True)]
    checksum = digest("\n".join(names))
    require(checksum == wanted, f"the names have the checksum {checksum}, want {wanted}")
    return Result({"names": len(names), "letters": sum(map(len, names)), "sample": names[:3]}, checksum)


def assignments(model, count):
    """Returns the language and the first letter of each name, and a random number for each further one."""
    generator = numpy.random.default_rng(20260)
    languages = numpy.arange(count) % len(model["language"])
    initials = generator.choice(SYMBOLS, count, p=model["initials"])
    return languages, initials, generator.random((count, LONGEST - 1))


def generate(model, language, initial, draws):
    bias, recurrent, output = model["language"][language], model["recurrent"], model["output"]
    symbols = [initial]
    hidden = numpy.tanh(model["symbol"][END] + bias)
    for draw in draws:
        hidden = numpy.tanh(model["symbol"][symbols[-1]] + bias + hidden @ recurrent)
        weights = numpy.exp((hidden @ output + model["output_bias"]) / TEMPERATURE).cumsum()
        symbol = int(weights.searchsorted(draw * weights[-1], side="right"))
        if symbol == END:
            break
        symbols.append(symbol)
    return spell(symbols)


def spell(symbols):
    return "".join(chr(ord("a") + symbol - 1) for symbol in symbols).capitalize()
