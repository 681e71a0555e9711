"""The peers that Hydra starts: MPICH, Debian's and pip's, Intel MPI, and oneCCL on top of Intel MPI."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .contenders import Variant
from .mpi import (NETWORK_TLS, SHARED_MEMORY_TLS, contender, debian_launcher, told_version, wheel_environment,
                  wheel_home)
from .namespaces import INTERFACE
from .processes import Command


@dataclass(frozen=True)
class Hydra:
    mpiexec: str
    program: Path
    environment: dict
    intel: bool = False

    def where(self, task):
        """The ranks' hosts, how to reach them, and their cores."""
        ranks = ["-n", str(task.place.ranks)]
        if task.hosts is not None:
            per_host = task.hosts.cluster.ranks_per_host
            hosts = ",".join(task.hosts.hosts if self.intel else [f"{host}:{per_host}" for host in task.hosts.hosts])
            blocks = ["-ppn", str(per_host)] if self.intel else []
            return ["-launcher", "ssh", "-launcher-exec", str(task.hosts.agent), "-iface", INTERFACE, "-hosts", hosts,
                    *blocks, *ranks]
        if self.intel:
            return ["-launcher", "fork", "-host", "localhost", *ranks]
        return ranks + ([] if task.oversubscribed else ["-bind-to", "core"])

    def start(self, more, task):
        environment = {**self.environment, **self.settings(task), **more, "COMPARE_STORE": str(task.scratch)}
        names = sorted(set(environment) - {"PATH"})
        given = [word for name in names for word in ("-genv", name, environment[name])]
        words = [self.mpiexec, *self.where(task), *given, str(self.program), *task.loop_arguments()]
        return [Command(task.on_first_host(words), environment)]

    def settings(self, task):
        """Which networks are used; the same for all variants."""
        if not self.intel:
            over_network = {"UCX_TLS": NETWORK_TLS, "UCX_NET_DEVICES": INTERFACE}
            return over_network if task.hosts else {"UCX_TLS": SHARED_MEMORY_TLS}
        if task.hosts:
            # Hosts that all claim the same cores: pinned ranks of different hosts would meet on one.
            return {"I_MPI_FABRICS": "shm:ofi", "FI_PROVIDER": "tcp", "FI_TCP_IFACE": INTERFACE, "I_MPI_PIN": "0",
                    "CCL_KVS_IFACE": INTERFACE}
        return {"I_MPI_FABRICS": "shm"}

    def variant(self, name, environment=None, **more):
        return Variant(name, partial(self.start, environment or {}), **more)


def mpich_variants(hydra, task):
    if task.hosts is not None:
        return [hydra.variant("ucx-tcp")]
    gathered = {f"MPIR_CVAR_{name}_POSIX_INTRA_ALGORITHM": "release_gather" for name in ("BCAST", "ALLREDUCE", "BARRIER")}
    return [hydra.variant("default"),
            hydra.variant("release-gather", gathered, collectives=("all_reduce", "broadcast", "barrier"))]


def intel_variants(hydra, task):
    """Its default is the faster mode for most sizes even where ranks share cores, so both are measured there."""
    reproducible = hydra.variant("cbwr2", {"I_MPI_CBWR": "2"}, collectives=("all_reduce", "reduce_scatter"), reproducible=True)
    network = "shm-tcp" if task.hosts else "shm"
    yielding = hydra.variant(f"{network}-yield2", {"I_MPI_THREAD_YIELD": "2", "I_MPI_WAIT_MODE": "0"})
    return [hydra.variant(network), *([yielding] if task.oversubscribed else []), reproducible]


def oneccl_variants(hydra, task):
    return [hydra.variant("mpi-tcp" if task.hosts else "mpi-shm")]


def mpich(name, title, mpiexec, compiler, builder, environment):
    version = told_version(mpiexec, r"Version:\s*(\S+)", environment) or "unknown"
    hydra = Hydra(mpiexec, builder.build("mpi.c", compiler, environment=environment, version=version), environment)
    return contender(name, title, version, partial(mpich_variants, hydra), mpiexec, hydra.program)


def find_mpich_debian(builder, _folder):
    return mpich("mpich", "MPICH (Debian)", debian_launcher("mpiexec.mpich"), "mpicc.mpich", builder, {})


def find_mpich_wheel(builder, folder):
    home = wheel_home(folder, "mpich", "mpiexec")
    return mpich("mpich-pip", "MPICH (pip)", str(home / "bin" / "mpiexec"), str(home / "bin" / "mpicc"), builder,
                 wheel_environment(home))


def wheel_version(home, package):
    """Of a package that pip has installed into a virtual environment."""
    name = package.replace("-", "_")
    found = sorted((home / "lib").glob(f"python*/site-packages/{name}-*.dist-info"))
    return found[-1].name.removesuffix(".dist-info").split("-")[-1] if found else "unknown"


def intel_home(folder, package):
    home = wheel_home(folder, package, "mpiexec.hydra")
    environment = {**wheel_environment(home), "LD_LIBRARY_PATH": f"{home}/lib", "I_MPI_ROOT": str(home)}
    return home, environment, ["-I", f"{home}/include", "-L", f"{home}/lib", f"-Wl,-rpath,{home}/lib"]


def find_intel_mpi(builder, folder):
    home, environment, flags = intel_home(folder, "impi-devel")
    version = wheel_version(home, "impi-devel")
    program = builder.build("mpi.c", "gcc", [*flags, "-lmpi"], version=version)
    hydra = Hydra(str(home / "bin" / "mpiexec.hydra"), program, environment, intel=True)
    return contender("intelmpi", "Intel MPI (pip)", version, partial(intel_variants, hydra), hydra.mpiexec, program)


def find_oneccl(builder, folder):
    home, environment, flags = intel_home(folder, "oneccl-devel")
    version = wheel_version(home, "oneccl-devel")
    program = builder.build("oneccl.cpp", "g++", [*flags, "-lccl", "-Wl,--allow-shlib-undefined"], version=version)
    hydra = Hydra(str(home / "bin" / "mpiexec.hydra"), program, {**environment, "CCL_ROOT": str(home)}, intel=True)
    return contender("oneccl", "oneCCL (pip)", version, partial(oneccl_variants, hydra), hydra.mpiexec, program)
