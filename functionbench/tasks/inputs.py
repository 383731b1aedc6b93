"""Where the inputs are that the build of the image prepared."""

import csv
import gzip
import itertools
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "inputs"

TRAINING_REVIEWS = FOLDER / "reviews-train.csv.gz"
PREDICTION_REVIEWS = FOLDER / "reviews-predict.csv.gz"
REVIEW_MODEL = FOLDER / "reviews-model.joblib"
NAME_MODEL = FOLDER / "names-model.npz"
NAME_DIGESTS = FOLDER / "names-digests.json"


def read_reviews(path, count):
    """Returns the texts and the labels (1: praise, 0: complaint) of the first reviews of a file."""
    texts, labels = [], []
    with gzip.open(path, "rt", encoding="ascii", newline="") as f:
        for label, text in itertools.islice(csv.reader(f), count):
            texts.append(text)
            labels.append(int(label))
    if len(texts) < count:
        raise OSError(f"{path} has {len(texts)} reviews, want {count}")
    return texts, labels
