"""Prediction: tells praise from complaint with a model that the build of the image has trained.

Measures loading of a model, and cleaning and weighing of text; mostly one core. The model has not
seen these reviews.
"""

import joblib

from tasks import inputs
from tasks.result import Result, digest, require

REVIEWS = {"short": 1_000, "medium": 30_000, "long": 90_000}

BOUND = 0.85


def run(mode):
    model = joblib.load(inputs.REVIEW_MODEL)
    texts, labels = inputs.read_reviews(inputs.PREDICTION_REVIEWS, REVIEWS[mode])
    predicted = model.predict(texts)
    accuracy = float((predicted == labels).mean())
    require(accuracy > BOUND, f"accuracy {accuracy:.3f}, want above {BOUND}")
    checksum = digest(bytes(predicted.tolist()))
    return Result({"accuracy": round(accuracy, 4), "bound": BOUND, "reviews": len(texts)}, checksum)
