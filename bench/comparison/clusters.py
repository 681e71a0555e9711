"""Emulated clusters as text, "4x2@1gbit/3=200mbit": four hosts of two ranks, links of 1 Gbit/s, host 3's of 200 Mbit/s. Also what
their wires allow at best."""

import re
from dataclasses import dataclass

from .cases import BadInput

MAX_HOSTS = 64
PAYLOAD_SHARE = 1448 / 1514  # of an Ethernet frame that carries TCP, as tbf counts it
BITS = {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9}


@dataclass(frozen=True)
class Cluster:
    text: str
    ranks_per_host: int
    rates: tuple  # of each host's link, as tc writes them: "1gbit"

    @property
    def hosts(self):
        return len(self.rates)

    @property
    def ranks(self):
        return self.hosts * self.ranks_per_host

    def host_of(self, rank):
        """Ranks are placed in blocks."""
        return rank // self.ranks_per_host


def bits_per_second(rate):
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(kbit|mbit|gbit)", rate)
    if not match or float(match[1]) <= 0:
        raise BadInput(f"{rate!r} is no rate of a link; write 200mbit or 1gbit")
    return float(match[1]) * BITS[match[2]]


def parse_cluster(text):
    match = re.fullmatch(r"(\d+)x(\d+)@([^/]+)((?:/\d+=[^/]+)*)", text)
    if not match:
        raise BadInput(f"{text!r} is no cluster; write HOSTSxRANKS@RATE[/HOST=RATE...], as 4x2@1gbit/3=200mbit")
    hosts, ranks = int(match[1]), int(match[2])
    if not (2 <= hosts <= MAX_HOSTS and ranks >= 1):
        raise BadInput(f"{text!r}: a cluster has 2 to {MAX_HOSTS} hosts, and each at least one rank")
    rates = [match[3].lower()] * hosts
    for exception in filter(None, match[4].split("/")):
        host, rate = exception.split("=", 1)
        if int(host) >= hosts:
            raise BadInput(f"{text!r}: there is no host {host}, the last is {hosts - 1}")
        rates[int(host)] = rate.lower()
    for rate in rates:
        bits_per_second(rate)
    return Cluster(text, ranks, tuple(rates))


def wire_floor_us(cluster, collective, size):
    """The least time in which the links can carry what this collective must move, or None: a barrier moves nothing to speak of.
    Every host must send or take its share over its own link; an all_reduce moves at least 2 (hosts - 1) buffers in all."""
    if collective == "barrier":
        return None
    rates = [bits_per_second(rate) / 8 * PAYLOAD_SHARE for rate in cluster.rates]
    others = (cluster.hosts - 1) / cluster.hosts
    slowest = min(rates)
    seconds = {
        "all_reduce": max(size / slowest, 2 * (cluster.hosts - 1) * size / sum(rates)),
        "all_gather": others * size / slowest,
        "reduce_scatter": others * size / slowest,
        "all_to_all": cluster.ranks_per_host * others * size / slowest,
        "broadcast": size / slowest,
    }[collective]
    return seconds * 1e6
