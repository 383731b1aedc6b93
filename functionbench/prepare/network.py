"""Training of the network that writes names, and the names that it has to write."""

import numpy

from tasks import rnn_name_generation as task
from tasks.result import digest

HIDDEN = 128
STEPS = 500
BATCH = 96
RATE = 3e-3

# Bits per letter; guessing among 27 symbols costs 4.75.
GOOD_ENOUGH = 2.3


def train(names, languages):
    """Returns the model; fails when it has not learnt to foresee letters."""
    generator = numpy.random.default_rng(20263)
    model = initial_model(generator, languages.max() + 1)
    optimiser = Adam(model)
    losses = []
    for _ in range(STEPS):
        batch = generator.integers(0, len(names), BATCH)
        loss, gradients = backpropagate(model, names[batch], languages[batch])
        optimiser.step(model, gradients)
        losses.append(loss)
    bits = numpy.mean(losses[-50:]) / numpy.log(2)
    print(f"network: {bits:.2f} bits per letter")
    if bits > GOOD_ENOUGH:
        raise RuntimeError(f"the network has not learnt: {bits:.2f} bits per letter, want {GOOD_ENOUGH}")
    counts = numpy.bincount(names[:, 0], minlength=task.SYMBOLS)
    return model | {"initials": counts / counts.sum()}


def initial_model(generator, languages):
    shapes = {
        "symbol": (task.SYMBOLS, HIDDEN),
        "language": (languages, HIDDEN),
        "recurrent": (HIDDEN, HIDDEN),
        "output": (HIDDEN, task.SYMBOLS),
    }
    model = {name: generator.normal(0, HIDDEN**-0.5, shape) for name, shape in shapes.items()}
    return model | {"output_bias": numpy.zeros(task.SYMBOLS)}


def backpropagate(model, names, languages):
    """Returns the mean cross-entropy per letter in nats, and its gradients, through all time steps."""
    rows = numpy.arange(len(names))
    inputs = numpy.insert(names[:, :-1], 0, task.END, axis=1)
    counts = numpy.insert(names[:, :-1] != task.END, 0, True, axis=1)  # the first END of a name, and what is before it
    states, errors, loss = [numpy.zeros((len(names), HIDDEN))], [], 0.0
    for t in range(names.shape[1]):
        state = forward(model, inputs[:, t], languages, states[-1])
        logits = state @ model["output"] + model["output_bias"]
        logits -= logits.max(axis=1, keepdims=True)
        error = numpy.exp(logits)
        error /= error.sum(axis=1, keepdims=True)
        loss -= (numpy.log(error[rows, names[:, t]]) * counts[:, t]).sum()
        error[rows, names[:, t]] -= 1
        errors.append(error * counts[:, t, None] / counts.sum())
        states.append(state)
    gradients = {name: numpy.zeros_like(weights) for name, weights in model.items()}
    after = numpy.zeros((len(names), HIDDEN))
    for t in reversed(range(names.shape[1])):
        gradients["output"] += states[t + 1].T @ errors[t]
        gradients["output_bias"] += errors[t].sum(axis=0)
        raw = (errors[t] @ model["output"].T + after) * (1 - states[t + 1] ** 2)
        gradients["recurrent"] += states[t].T @ raw
        numpy.add.at(gradients["symbol"], inputs[:, t], raw)
        numpy.add.at(gradients["language"], languages, raw)
        after = raw @ model["recurrent"].T
    return loss / counts.sum(), gradients


def forward(model, symbols, languages, state):
    return numpy.tanh(model["symbol"][symbols] + model["language"][languages] + state @ model["recurrent"])


class Adam:
    """The optimiser of Kingma and Ba, with the usual constants."""

    def __init__(self, model):
        self.steps = 0
        self.mean = {name: numpy.zeros_like(weights) for name, weights in model.items()}
        self.square = {name: numpy.zeros_like(weights) for name, weights in model.items()}

    def step(self, model, gradients):
        self.steps += 1
        rate = RATE * (1 - 0.999**self.steps) ** 0.5 / (1 - 0.9**self.steps)
        for name, gradient in gradients.items():
            self.mean[name] += 0.1 * (gradient - self.mean[name])
            self.square[name] += 0.001 * (gradient**2 - self.square[name])
            model[name] -= rate * self.mean[name] / (numpy.sqrt(self.square[name]) + 1e-8)


def names_digest(model, count):
    """Returns the checksum of the names, written all at once and not one by one as the task does."""
    languages, initials, draws = task.assignments(model, count)
    names = numpy.full((count, task.LONGEST), task.END)
    names[:, 0] = initials
    state = forward(model, numpy.full(count, task.END), languages, numpy.zeros((count, HIDDEN)))
    alive = numpy.ones(count, dtype=bool)
    for t in range(draws.shape[1]):
        state = forward(model, names[:, t], languages, state)
        weights = numpy.exp((state @ model["output"] + model["output_bias"]) / task.TEMPERATURE).cumsum(axis=1)
        chosen = (weights <= draws[:, t, None] * weights[:, -1:]).sum(axis=1)
        alive &= chosen != task.END
        names[alive, t + 1] = chosen[alive]
    return digest("\n".join(task.spell(row[row != task.END]) for row in names))
