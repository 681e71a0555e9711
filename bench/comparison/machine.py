"""Facts of this machine, and its state: how near two cores are at this moment (programs/state.c)."""

import os
import platform
import re
from pathlib import Path

from .building import CannotBuild
from .processes import run

STATE_DEADLINE_S = 20
FOREIGN_SETTINGS = ("WEFT_", "UCX_", "OMPI_", "PMIX_", "I_MPI_", "CCL_", "FI_", "MPIR_")


def read_text(path):
    try:
        return Path(path).read_text(errors="replace").strip()
    except OSError:
        return ""


def physical_cores():
    """How many cores the CPUs are of that this process may use; threads of one core count once."""
    cpus = sorted(os.sched_getaffinity(0))
    cores = {read_text(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list") or str(cpu) for cpu in cpus}
    return len(cores)


def facts():
    processor = re.search(r"^model name\s*:\s*(.+)$", read_text("/proc/cpuinfo"), re.MULTILINE)
    return {
        "host": platform.node(),
        "cpu": processor[1] if processor else platform.machine(),
        "cores": physical_cores(),
        "cpus": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "kernel": platform.release(),
        "virtual": " hypervisor" in read_text("/proc/cpuinfo"),
        "load": round(os.getloadavg()[0], 2),
        # What somebody has set for one of the programs counts for all runs, and is told.
        "environment": {name: value for name, value in sorted(os.environ.items()) if name.startswith(FOREIGN_SETTINGS)},
    }


class State:
    """Measures the machine's state; None where there are no two CPUs or no compiler."""

    def __init__(self, builder):
        self.why_not = ""
        try:
            self.program = builder.build("state.c", "gcc", ["-pthread"])
        except CannotBuild as reason:
            self.program, self.why_not = None, str(reason)

    def measure(self):
        """Nanoseconds that a flag takes from one core to another, or None."""
        if self.program is None:
            return None
        outcome = run([str(self.program)], STATE_DEADLINE_S)
        words = outcome.output.split()
        if outcome.failed or len(words) != 2 or words[0] != "flag":
            self.why_not = "there are no two CPUs" if outcome.exit_code == 3 else outcome.why()
            return None
        return float(words[1])
