"""functionbench <task> <mode>: does one FunctionBench task and prints what came out as one JSON line.

Exit codes: 0 done, 1 the result is wrong or could not be had, 2 there is no such task or mode.
"""

import importlib
import json
import sys
import time

import machine
from tasks import MODES, TASKS
from tasks.result import WrongResult

USAGE = f"""usage: functionbench <task> <mode>
tasks: {", ".join(TASKS)}
modes: {", ".join(MODES)}"""


def run(task, mode):
    """Returns the line's fields; the libraries that a task imports count as its start-up."""
    threads = machine.limit_threads()
    module = importlib.import_module(f"tasks.{task}")
    startup = machine.seconds_since_start()
    begin = time.monotonic()
    result = module.run(mode)
    seconds = time.monotonic() - begin
    fields = {"task": task, "mode": mode}
    if result.checksum:
        fields["checksum"] = result.checksum
    fields["property"] = result.properties
    return fields | {
        "seconds": round(seconds, 3),
        "startup": round(startup, 3),
        "cpu_seconds": round(machine.cpu_seconds(), 3),
        "peak_memory_mb": round(machine.peak_memory_mb(), 1),
        "threads": threads,
    }


def main(arguments):
    if len(arguments) != 2:
        print(f"functionbench: want a task and a mode, found {len(arguments)} arguments", USAGE, sep="\n", file=sys.stderr)
        return 2
    task, mode = arguments
    if task not in TASKS or mode not in MODES:
        what = f"task {task!r}" if task not in TASKS else f"mode {mode!r}"
        print(f"functionbench: there is no {what}", USAGE, sep="\n", file=sys.stderr)
        return 2
    try:
        print(json.dumps(run(task, mode)), flush=True)
    except (WrongResult, OSError, MemoryError) as problem:
        print(f"functionbench: {task} {mode}: {problem or type(problem).__name__}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
