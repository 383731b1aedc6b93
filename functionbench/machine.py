"""What this process may use of the machine, and what it has used."""

import math
import os
import resource
import time


def limit_threads():
    """Makes the linear algebra libraries start as many threads as there are cores to run them.

    They would start one per core of the machine, whatever part of them the container may use. To be
    called before they are imported; OPENBLAS_NUM_THREADS and OMP_NUM_THREADS, where set, are obeyed.
    Returns the number of threads of OpenBLAS.
    """
    threads = str(_cores())
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(variable, threads)
    return int(os.environ["OPENBLAS_NUM_THREADS"])


def _cores():
    available = len(os.sched_getaffinity(0))
    quota = _quota()
    return available if quota is None else max(1, min(available, math.ceil(quota)))


def _quota():
    """Returns the cores that the control group grants, or None without a limit."""
    for read in (_quota_v2, _quota_v1):
        try:
            quota, period = read()
            return quota / period if quota > 0 and period > 0 else None
        except (OSError, ValueError):
            continue  # the other version, or none
    return None


def _quota_v2():
    with open("/sys/fs/cgroup/cpu.max", encoding="ascii") as f:
        quota, period = f.read().split()
    return 0 if quota == "max" else int(quota), int(period)


def _quota_v1():
    values = []
    for name in ("cpu.cfs_quota_us", "cpu.cfs_period_us"):
        with open(f"/sys/fs/cgroup/cpu/{name}", encoding="ascii") as f:
            values.append(int(f.read()))
    return values


def seconds_since_start():
    """Returns the age of this process, the start of the interpreter included, to about 10 ms."""
    with open("/proc/self/stat", encoding="ascii") as f:
        fields = f.read().rpartition(")")[2].split()  # the program's name may hold blanks
    started = int(fields[19]) / os.sysconf("SC_CLK_TCK")
    return time.clock_gettime(time.CLOCK_BOOTTIME) - started


def cpu_seconds():
    """Returns the processor time of all threads, in user and system mode."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def peak_memory_mb():
    """Returns the highest resident memory in MiB.

    Not the ru_maxrss of getrusage: that remembers the container runtime which this process was.
    """
    with open("/proc/self/status", encoding="ascii") as f:
        for line in f:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    raise OSError("no VmHWM in /proc/self/status")
