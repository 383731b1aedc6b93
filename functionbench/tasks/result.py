"""What a task hands back."""

import dataclasses
import hashlib


@dataclasses.dataclass(frozen=True)
class Result:
    """The outcome of a task: properties that show that it is right, and where it is exact a checksum."""

    properties: dict
    checksum: str = ""


class WrongResult(Exception):
    """The work was done and came out wrong."""


def require(holds, problem):
    """Raises WrongResult unless a property holds."""
    if not holds:
        raise WrongResult(problem)


def digest(*parts):
    """Returns a short checksum of texts and buffers."""
    state = hashlib.sha256()
    for part in parts:
        state.update(part.encode() if isinstance(part, str) else part)
    return state.hexdigest()[:16]
