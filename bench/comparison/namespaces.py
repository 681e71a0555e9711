"""Hosts of an emulated cluster: network, UTS and IPC namespaces with an interface each, on a bridge in a namespace of its own, so
that nothing of it touches this machine's network. tbf shapes both directions of every link. UTS and IPC namespaces keep libraries
from finding shared memory between "hosts"; files, /dev/shm and process numbers are common to all.

All names carry the tool's process number: several runs do not meet, and what a killed one left behind is found and removed."""

import contextlib
import os
import re
import shutil
from pathlib import Path

from .cases import BadInput
from .clusters import bits_per_second
from .processes import Interrupted, run, undisturbed

PREFIX = "weft-compare"
INTERFACE = "eth0"
DEADLINE_S = 20
# The bucket holds a millisecond of the line's rate, but two of the largest packets that TCP hands down at once.
MIN_BURST_BYTES = 128 << 10
MIN_QUEUE_BYTES = 1 << 20

AGENT = """#!/bin/bash
# Stands in for ssh: agent [-options] HOST COMMAND WORDS...
while [[ $1 == -* ]]; do shift; done
host=$1
shift
exec nsenter --uts={folder}/$host.uts --ipc={folder}/$host.ipc ip netns exec {prefix}-$host bash -c "$*"
"""


def address_of(host):
    return f"10.77.0.{host + 1}"


def shaping(rate):
    """What tc is told of a link of this rate."""
    burst = max(MIN_BURST_BYTES, int(bits_per_second(rate) / 8 / 1000))
    return ["tbf", "rate", rate, "burst", str(burst), "limit", str(max(MIN_QUEUE_BYTES, 8 * burst))]


class Namespaces:
    """The hosts h0, h1, ... of a cluster, from `with` to its end."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.prefix = f"{PREFIX}-{os.getpid()}"
        self.folder = Path("/run") / self.prefix
        self.hosts = [f"h{number}" for number in range(cluster.hosts)]
        self.agent = self.folder / "agent"

    def __enter__(self):
        if os.geteuid() != 0:
            raise BadInput("--cluster makes network namespaces, which needs root")
        missing = [tool for tool in ("ip", "tc", "nsenter", "unshare") if shutil.which(tool) is None]
        if missing:
            raise BadInput(f"--cluster needs {', '.join(missing)}, which are not here; install iproute2 and util-linux")
        remove_leftovers()
        try:
            self.make()
        except BaseException:
            remove(self.prefix)
            raise
        return self

    def __exit__(self, *_):
        try:
            remove(self.prefix)
        except Interrupted:  # it came just before signals were held back
            remove(self.prefix)
            raise

    def on(self, host, words):
        """The command that runs `words` on host number `host`."""
        name = self.hosts[host]
        return ["nsenter", f"--uts={self.folder}/{name}.uts", f"--ipc={self.folder}/{name}.ipc",
                "ip", "netns", "exec", f"{self.prefix}-{name}", *words]

    def make(self):
        self.folder.mkdir()
        self.agent.write_text(AGENT.format(folder=self.folder, prefix=self.prefix))
        self.agent.chmod(0o755)
        switch = f"{self.prefix}-switch"
        must("ip", "netns", "add", switch)
        must("ip", "-n", switch, "link", "set", "lo", "up")
        must("ip", "-n", switch, "link", "add", "bridge0", "type", "bridge", "mcast_snooping", "0")
        must("ip", "-n", switch, "link", "set", "bridge0", "up")
        for number in range(self.cluster.hosts):
            self.make_host(number, switch)

    def make_host(self, number, switch):
        name, space, port = self.hosts[number], f"{self.prefix}-{self.hosts[number]}", f"port{number}"
        must("ip", "netns", "add", space)
        names = Path("/etc/netns") / space
        names.mkdir(parents=True)
        entries = [f"{address_of(host)} {other}\n" for host, other in enumerate(self.hosts)]
        (names / "hosts").write_text("127.0.0.1 localhost\n" + "".join(entries))
        for kind in ("uts", "ipc"):
            (self.folder / f"{name}.{kind}").touch()
        must("unshare", f"--uts={self.folder}/{name}.uts", f"--ipc={self.folder}/{name}.ipc", "hostname", name)
        must("ip", "link", "add", INTERFACE, "netns", space, "type", "veth", "peer", "name", port, "netns", switch)
        must("ip", "-n", switch, "link", "set", port, "master", "bridge0", "up")
        must("ip", "-n", space, "addr", "add", f"{address_of(number)}/24", "dev", INTERFACE)
        must("ip", "-n", space, "link", "set", "lo", "up")
        must("ip", "-n", space, "link", "set", INTERFACE, "up")
        shape = shaping(self.cluster.rates[number])
        must("tc", "-n", space, "qdisc", "add", "dev", INTERFACE, "root", *shape)
        must("tc", "-n", switch, "qdisc", "add", "dev", port, "root", *shape)


def must(*words):
    outcome = run(words, DEADLINE_S)
    if outcome.failed:
        raise BadInput(f"cannot make the cluster: {' '.join(words)}: {outcome.why()}")


def names_of_namespaces():
    listed = run(["ip", "netns", "list"], DEADLINE_S).output
    return [line.split()[0] for line in listed.splitlines() if line.strip()]


def remove(prefix):
    """All that carries this name; no error if there is nothing."""
    with undisturbed():
        for name in names_of_namespaces():
            if name.startswith(f"{prefix}-"):
                run(["ip", "netns", "del", name], DEADLINE_S)
        for names in Path("/etc/netns").glob(f"{prefix}-*"):
            shutil.rmtree(names, ignore_errors=True)
        folder = Path("/run") / prefix
        for pinned in (*folder.glob("*.uts"), *folder.glob("*.ipc")):
            run(["umount", str(pinned)], DEADLINE_S)
        shutil.rmtree(folder, ignore_errors=True)


def leftovers(names, is_running):
    """The prefixes among these names whose tool no longer runs."""
    found = {match[0] for match in (re.match(rf"{PREFIX}-(\d+)(?=-|$)", name) for name in names)
             if match and not is_running(int(match[1]))}
    return sorted(found)


def remove_leftovers():
    names = names_of_namespaces()
    with contextlib.suppress(OSError):
        names += os.listdir("/run")
    for prefix in leftovers(names, lambda process: Path(f"/proc/{process}").exists()):
        remove(prefix)
