"""LINPACK: solves dense systems Ax = b by LU factorisation with pivoting (LAPACK's gesv).

Measures floating point in cache-blocked kernels, on as many cores as the task may use. The matrices
and the solutions hold small integers, so the right-hand side is exact and so is the rounded solution.
"""

import numpy

from tasks.result import Result, digest, require

# Unknowns, and systems solved one after the other.
SYSTEMS = {"short": (1000, 15), "medium": (2200, 12), "long": (4200, 5)}

# The scaled residual below which the LINPACK benchmark accepts a solution.
BOUND = 16


def run(mode):
    unknowns, rounds = SYSTEMS[mode]
    generator = numpy.random.default_rng(unknowns)
    worst, solutions = 0.0, []
    for _ in range(rounds):
        a = generator.integers(-9, 10, (unknowns, unknowns), dtype=numpy.int8).astype(float)
        want = generator.integers(-9, 10, unknowns, dtype=numpy.int8)
        b = a @ want.astype(float)
        x = numpy.linalg.solve(a, b)
        worst = max(worst, residual(a, x, b))
        have = numpy.rint(x).astype(numpy.int8)
        require(worst < BOUND, f"scaled residual {worst:.3g}, want below {BOUND}")
        require((have == want).all(), "the solution is not the one that the system was made from")
        solutions.append(have.tobytes())
    return Result({"residual": round(worst, 6), "bound": BOUND}, digest(*solutions))


def residual(a, x, b):
    """Returns ‖Ax−b‖ / (ε·(‖A‖‖x‖+‖b‖)·n), all norms the maximum's."""
    norm = numpy.linalg.norm
    scale = norm(a, numpy.inf) * norm(x, numpy.inf) + norm(b, numpy.inf)
    return float(norm(a @ x - b, numpy.inf) / (numpy.finfo(float).eps * scale * len(b)))
