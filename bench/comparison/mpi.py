"""What the peers that start by a launcher of MPI have in common: where they are found, how they tell their version, and what UCX may use
below them."""

import re
import shutil

from .building import CannotBuild
from .contenders import Contender, read_lines
from .processes import run

SHARED_MEMORY_TLS = "self,posix,sysv,cma"
NETWORK_TLS = f"tcp,{SHARED_MEMORY_TLS}"
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
REMEDY = "bench/compare --install-peers brings it"


def debian_launcher(name):
    launcher = shutil.which(name)
    if launcher is None:
        raise CannotBuild(f"no {name}; {REMEDY}")
    return launcher


def wheel_home(folder, package, launcher):
    """Where pip has put a package, its programs in bin."""
    home = folder / package
    if not (home / "bin" / launcher).exists():
        raise CannotBuild(f"not in the peers' folder; {REMEDY}")
    return home


def wheel_environment(home):
    return {"PATH": f"{home}/bin:{SYSTEM_PATH}"}


def told_version(launcher, pattern, environment):
    """What `LAUNCHER --version` says where the pattern has its group, or None."""
    match = re.search(pattern, run([launcher, "--version"], 20, environment).output)
    return match[1] if match else None


def contender(name, title, version, variants, launcher, program):
    return Contender(name, title, version, variants, read_lines, {"launcher": launcher, "program": str(program)})
