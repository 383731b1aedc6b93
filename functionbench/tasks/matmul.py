"""Dense matrix multiplication in double precision (BLAS's gemm).

Measures the peak of floating point, on as many cores as the task may use, and memory of three
matrices. The factors hold small integers, so every sum is exact whatever its order.
"""

import numpy

from tasks.result import Result, digest, require

# Rows of the square matrices, and products made one after the other.
PRODUCTS = {"short": (700, 20), "medium": (2300, 5), "long": (5000, 1)}


def run(mode):
    rows, rounds = PRODUCTS[mode]
    generator = numpy.random.default_rng(rows)
    checksums = [multiply(generator, rows) for _ in range(rounds)]
    return Result({"rows": rows, "products": rounds}, digest(*checksums))


def multiply(generator, rows):
    """Returns the checksum of the product of two random matrices."""
    a, b = (generator.integers(-9, 10, (rows, rows), dtype=numpy.int8).astype(float) for _ in range(2))
    c = a @ b
    # Freivalds' check: a wrong product passes at most once in 2^32.
    probe = generator.integers(0, 2, (rows, 32)).astype(float)
    require((c @ probe == a @ (b @ probe)).all(), "C·r is not A·(B·r): the product is wrong")
    return digest(c.data)
