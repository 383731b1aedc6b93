"""The tasks, one module each: run(mode) does the work, checks it and returns a Result."""

TASKS = (
    "float_operation",
    "linpack",
    "matmul",
    "chameleon_rendering",
    "pyaes_generation",
    "lr_train",
    "lr_prediction",
    "rnn_name_generation",
)

MODES = ("short", "medium", "long")
