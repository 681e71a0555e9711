"""Emulated hosts: they reach each other, are shaped, are found by the stand-in for ssh, and are gone afterwards."""

import os
import shutil
import unittest
from pathlib import Path

from comparison.cases import BadInput
from comparison.clusters import parse_cluster
from comparison.namespaces import Namespaces, address_of, names_of_namespaces
from comparison.processes import run

TOOLS = ("ip", "tc", "nsenter", "unshare")


def why_not():
    """Why no namespaces can be made here, or None."""
    if os.geteuid() != 0:
        return "needs root"
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        return f"needs {', '.join(missing)}"
    try:
        with Namespaces(parse_cluster("2x1@1gbit")):
            return None
    except BadInput as reason:
        return str(reason)


class Hosts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        reason = why_not()
        if reason:
            raise unittest.SkipTest(reason)
        cls.hosts = Namespaces(parse_cluster("3x1@1gbit/2=200mbit"))
        cls.enterClassContext(cls.hosts)

    def output(self, words):
        outcome = run(words, 20)
        self.assertFalse(outcome.failed, outcome.why())
        return outcome.output

    def test_each_has_a_name_of_its_own(self):
        self.assertEqual([self.output(self.hosts.on(host, ["hostname"])) for host in range(3)], ["h0\n", "h1\n", "h2\n"])

    def test_each_knows_the_others_by_name(self):
        for host in range(3):
            found = self.output(self.hosts.on(0, ["getent", "hosts", f"h{host}"]))
            self.assertEqual(found.split(), [address_of(host), f"h{host}"])

    def test_they_reach_each_other(self):
        script = ("import socket, sys; s = socket.create_server((sys.argv[1], 7000)); print('up', flush=True)\n"
                  "import subprocess; t = subprocess.run(sys.argv[2:], timeout=20); c = s.accept()[0]; print(c.getpeername()[0])")
        client = self.hosts.on(1, ["python3", "-c", f"import socket; socket.create_connection(('{address_of(0)}', 7000), 10)"])
        self.assertEqual(self.output(self.hosts.on(0, ["python3", "-c", script, address_of(0), *client])), f"up\n{address_of(1)}\n")

    def test_links_have_the_rates_that_were_asked_for(self):
        for host, rate in ((0, "rate 1Gbit"), (2, "rate 200Mbit")):
            self.assertIn(rate, self.output(self.hosts.on(host, ["tc", "qdisc", "show", "dev", "eth0"])))
            ports = self.output(["tc", "-n", f"{self.hosts.prefix}-switch", "qdisc", "show", "dev", f"port{host}"])
            self.assertIn(rate, ports)

    def test_the_agent_runs_a_command_line_on_a_host(self):
        self.assertEqual(self.output([str(self.hosts.agent), "-x", "-q", "h1", "hostname;", "echo", "'a", "b'"]), "h1\na b\n")

    def test_processes_of_different_hosts_share_no_system_v_memory(self):
        spaces = {self.output(self.hosts.on(host, ["readlink", "/proc/self/ns/ipc"])) for host in range(3)}
        self.assertEqual(len(spaces), 3)


class Removal(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        reason = why_not()
        if reason:
            raise unittest.SkipTest(reason)

    def left(self, prefix):
        return [name for name in (*names_of_namespaces(), *os.listdir("/run"), *map(str, Path("/etc/netns").glob("*")))
                if prefix in name]

    def test_nothing_is_left_afterwards(self):
        with Namespaces(parse_cluster("2x1@1gbit")) as hosts:
            self.assertEqual(len(self.left(hosts.prefix)), 3 + 1 + 2)
        self.assertEqual(self.left(hosts.prefix), [])

    def test_nothing_is_left_after_an_error(self):
        with self.assertRaises(ZeroDivisionError):
            with Namespaces(parse_cluster("2x1@1gbit")) as hosts:
                raise ZeroDivisionError
        self.assertEqual(self.left(hosts.prefix), [])

    def test_nothing_is_left_where_only_some_could_be_made(self):
        hosts = Namespaces(parse_cluster("2x1@1gbit"))
        hosts.hosts[1] = "h0"
        with self.assertRaises((BadInput, OSError)):
            hosts.__enter__()
        self.assertEqual(self.left(hosts.prefix), [])


if __name__ == "__main__":
    unittest.main()
