"""python3 -m prepare: writes all inputs to the folder where the tasks look for them."""

import json
import time

import machine

machine.limit_threads()  # before anything imports numpy

import joblib
import numpy

from prepare import names, network, reviews
from tasks import inputs, lr_prediction, lr_train, rnn_name_generation


MODEL_REVIEWS = 25_000  # that the model of lr_prediction is trained on


def prepare_reviews():
    generator = reviews.Generator(seed=20261)
    training = generator.reviews(max(lr_train.REVIEWS.values()))
    reviews.write(inputs.TRAINING_REVIEWS, training)
    reviews.write(inputs.PREDICTION_REVIEWS, generator.reviews(max(lr_prediction.REVIEWS.values())))
    labels, texts = zip(*training[:MODEL_REVIEWS], strict=True)
    model = lr_train.train(texts, labels)
    del model[0].stop_words_  # the rare words left out: large, in no order, and of no use to prediction
    joblib.dump(model, inputs.REVIEW_MODEL, compress=3)


def prepare_names():
    model = network.train(*names.training_set(seed=20262))
    numpy.savez(inputs.NAME_MODEL, **model)
    digests = {mode: network.names_digest(model, count) for mode, count in rnn_name_generation.NAMES.items()}
    inputs.NAME_DIGESTS.write_text(json.dumps(digests), "ascii")


def main():
    inputs.FOLDER.mkdir(exist_ok=True)
    for step in (prepare_reviews, prepare_names):
        begin = time.monotonic()
        step()
        print(f"{step.__name__}: {time.monotonic() - begin:.1f} s", flush=True)
    for path in sorted(inputs.FOLDER.iterdir()):
        print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB")


main()
