"""Training: learns from reviews to tell praise from complaint (TF-IDF and logistic regression).

Measures reading and cleaning of text, a sparse matrix and an iterative solver; mostly one core. The
last fifth of the reviews is held out and shows whether anything was learnt.
"""

import re

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from tasks import inputs
from tasks.result import Result, require

REVIEWS = {"short": 2_000, "medium": 25_000, "long": 75_000}

# Guessing gives a half, and the labels of one review in twenty are wrong.
BOUND = 0.85

NOT_LETTERS = re.compile("[^a-z]+")


def run(mode):
    texts, labels = inputs.read_reviews(inputs.TRAINING_REVIEWS, REVIEWS[mode])
    split = len(texts) * 4 // 5
    model = train(texts[:split], labels[:split])
    accuracy = float(model.score(texts[split:], labels[split:]))
    require(accuracy > BOUND, f"accuracy {accuracy:.3f} on the reviews held out, want above {BOUND}")
    return Result({"accuracy": round(accuracy, 4), "bound": BOUND, "held_out": len(texts) - split})


def train(texts, labels):
    model = make_pipeline(
        TfidfVectorizer(preprocessor=clean, ngram_range=(1, 2), min_df=5),
        LogisticRegression(max_iter=200),
    )
    return model.fit(texts, labels)


def clean(text):
    return NOT_LETTERS.sub(" ", text.lower())
