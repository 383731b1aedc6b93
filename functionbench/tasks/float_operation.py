"""Floating-point operations: sine, cosine and square root of 1, 2, 3 … in a loop of the interpreter.

Measures one core at scalar floating point and bytecode; memory does not matter.
"""

import math

from tasks.result import Result, digest, require

STEPS = {"short": 4_000_000, "medium": 25_000_000, "long": 75_000_000}

TOLERANCE = 1e-9


def run(mode):
    steps = STEPS[mode]
    sums = sine, cosine, root = loop(steps)
    wanted = closed_forms(steps)
    error = max(abs(have - want) / max(1, abs(want)) for have, want in zip(sums, wanted, strict=True))
    require(error < TOLERANCE, f"sums {sums} differ from the closed forms {wanted}")
    return Result(
        {"sin": round(sine, 6), "cos": round(cosine, 6), "sqrt": float(f"{root:.9g}"), "error": error},
        digest(f"{sine:.6f} {cosine:.6f} {root:.9g}"),
    )


def loop(steps):
    sin, cos, sqrt = math.sin, math.cos, math.sqrt
    sine = cosine = root = 0.0
    for i in range(1, steps + 1):
        sine += sin(i)
        cosine += cos(i)
        root += sqrt(i)
    return sine, cosine, root


def closed_forms(n):
    """Returns the three sums: Lagrange's identities, and the Euler-Maclaurin series of the root."""
    factor = math.sin(n / 2) / math.sin(1 / 2)
    zeta = -0.207886224977354566  # ζ(−1/2)
    root = 2 / 3 * n**1.5 + n**0.5 / 2 + zeta + n**-0.5 / 24
    return factor * math.sin((n + 1) / 2), factor * math.cos((n + 1) / 2), root
