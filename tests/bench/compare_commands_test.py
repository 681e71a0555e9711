"""How Weft and its peers are started: pinned, sharing cores, and on the hosts of a cluster."""

import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

from comparison.cases import Place, Sizes
from comparison.clusters import parse_cluster
from comparison.contenders import Machine, Task
from comparison.gloo import Gloo
from comparison.hydra import Hydra, intel_variants, mpich_variants, oneccl_variants
from comparison.measuring import described
from comparison.open_mpi import Installation
from comparison.weft import WeftBench

CLUSTER = parse_cluster("2x2@1gbit")
HOSTS = SimpleNamespace(cluster=CLUSTER, hosts=["h0", "h1"], agent="/run/agent", on=lambda host, words: [f"on-h{host}", *words])


def here(ranks, collective="all_reduce", sizes=Sizes(8, 32), cores=2):
    return Task(Place(ranks), collective, sizes, 0.1, Machine(cores), "/tmp/scratch")


def on_cluster(collective="all_reduce", sizes=Sizes(8, 32)):
    return Task(Place(4, 2, CLUSTER.text), collective, sizes, 0.1, Machine(2), "/tmp/scratch", HOSTS)


def started(variants, task, name=None):
    """The first command of a variant, as text."""
    variant = next(variant for variant in variants if name in (None, variant.name))
    return " ".join(map(str, variant.start(task)[0].words))


class Weft(unittest.TestCase):
    def commands(self, task, variant=0):
        return WeftBench("weft-bench", (), (("symmetric", ["--symmetric"]),)).variants(task)[variant].start(task)

    def test_what_was_tuned_is_used_by_later_calls(self):
        with tempfile.TemporaryDirectory() as folder:
            weft = WeftBench("weft-bench", tables=folder)
            (tune,) = weft.tune(here(4), ["all_reduce", "barrier"])
            table = f"{folder}/here.json"
            self.assertEqual(" ".join(tune.words),
                             f"weft-bench --tune all_reduce barrier --min-bytes 8 --max-bytes 32 --table {table} -n 4")
            self.assertNotIn("WEFT_TABLE", started(weft.variants(here(4)), here(4)))
            Path(table).touch()
            self.assertTrue(started(weft.variants(here(4)), here(4)).startswith(f"env WEFT_TABLE={table} weft-bench"))
            self.assertNotIn("WEFT_TABLE", started(weft.variants(on_cluster()), on_cluster()))  # another topology

    def test_on_this_machine_it_starts_its_ranks_itself(self):
        (command,) = self.commands(here(4))
        self.assertEqual(command.words[:2] + command.words[-2:], ["weft-bench", "all_reduce", "-n", "4"])
        self.assertNotIn("--in-place", command.words)

    def test_broadcast_has_one_buffer_and_moving_roots_as_mpi(self):
        (command,) = self.commands(here(2, "broadcast"))
        self.assertIn("--in-place --root all", " ".join(command.words))

    def test_a_size_that_the_steps_pass_by_is_a_second_call(self):
        (command,) = self.commands(here(2, sizes=Sizes(8, 64)))
        self.assertEqual(command.words[:2], ["sh", "-c"])
        first, second = command.words[2].split(" && ")
        self.assertIn("--min-bytes 8 --max-bytes 64", first)
        self.assertIn("--min-bytes 64 --max-bytes 64", second)

    def test_on_a_cluster_each_rank_is_started_on_its_host(self):
        commands = self.commands(on_cluster())
        self.assertEqual([command.words[0] for command in commands], ["on-h0", "on-h0", "on-h1", "on-h1"])
        self.assertEqual([command.environment["WEFT_RANK"] for command in commands], ["0", "1", "2", "3"])
        self.assertEqual([command.environment["WEFT_HOST_ID"] for command in commands], ["h0", "h0", "h1", "h1"])
        self.assertIn("WEFT_RENDEZVOUS=10.77.0.1:29500", commands[3].words)
        self.assertNotIn("-n", commands[0].words)

    def test_two_calls_on_a_cluster_meet_at_two_ports(self):
        words = " ".join(self.commands(on_cluster(sizes=Sizes(8, 64)))[0].words)
        self.assertIn(":29500 ", words)
        self.assertIn(":29501 ", words)

    def test_it_is_told_nothing_of_the_links(self):
        words = " ".join(self.commands(on_cluster())[0].words)
        self.assertNotIn("gbit", words)

    def test_symmetric_buffers_are_a_variant(self):
        self.assertIn("--symmetric", self.commands(here(2), 1)[0].words)
        self.assertNotIn("--symmetric", self.commands(here(2), 0)[0].words)


class OpenMpi(unittest.TestCase):
    FOUR = Installation("mpirun", 4, "program", {})
    FIVE = Installation("mpirun", 5, "program", {})

    def test_ranks_have_a_core_each_while_there_are_enough(self):
        text = started(self.FOUR.variants(here(2)), here(2))
        self.assertIn("--map-by core --bind-to core", text)
        self.assertNotIn("yield", text)

    def test_ranks_that_share_cores_yield(self):
        for installation, words in ((self.FOUR, "--oversubscribe"), (self.FIVE, ":OVERSUBSCRIBE")):
            text = started(installation.variants(here(4)), here(4))
            self.assertIn(words, text)
            self.assertIn("mpi_yield_when_idle 1", text)
            self.assertNotIn("core", text)

    def test_spinning_collectives_are_left_out_where_cores_are_shared(self):
        self.assertIn("sm", [variant.name for variant in self.FOUR.variants(here(2))])
        self.assertNotIn("sm", [variant.name for variant in self.FOUR.variants(here(4))])

    def test_each_generation_knows_its_own_shared_memory(self):
        self.assertIn("btl self,vader", started(self.FOUR.variants(here(2)), here(2)))
        self.assertIn("btl self,sm", started(self.FIVE.variants(here(2)), here(2)))

    def test_on_a_cluster_the_agent_stands_in_for_ssh_and_ranks_yield(self):
        for installation, words in ((self.FOUR, "--mca plm_rsh_agent /run/agent"),
                                    (self.FIVE, "--prtemca plm_ssh_agent /run/agent")):
            text = started(installation.variants(on_cluster()), on_cluster(), "ob1-tcp")
            self.assertTrue(text.startswith("on-h0 mpirun -np 4 --host h0:2,h1:2"))
            self.assertIn(words, text)
            self.assertIn("mpi_yield_when_idle 1", text)

    def test_flat_and_hierarchical_are_both_told_explicitly(self):
        variants = self.FIVE.variants(on_cluster())
        self.assertIn("coll_han_priority 0", started(variants, on_cluster(), "ob1-tcp"))
        self.assertIn("coll_han_priority 100", started(variants, on_cluster(), "ucx-tcp-han"))


class Hydras(unittest.TestCase):
    MPICH = Hydra("mpiexec", "program", {})
    INTEL = Hydra("mpiexec", "program", {"I_MPI_ROOT": "home"}, intel=True)

    def test_mpich_has_a_core_for_each_rank_while_there_are_enough(self):
        self.assertIn("-bind-to core", started(mpich_variants(self.MPICH, here(2)), here(2)))
        self.assertNotIn("-bind-to", started(mpich_variants(self.MPICH, here(4)), here(4)))

    def test_intel_mpi_yields_besides_its_default_where_cores_are_shared(self):
        self.assertEqual([variant.name for variant in intel_variants(self.INTEL, here(2))], ["shm", "cbwr2"])
        self.assertEqual([variant.name for variant in intel_variants(self.INTEL, here(4))], ["shm", "shm-yield2", "cbwr2"])
        self.assertIn("I_MPI_THREAD_YIELD 2", started(intel_variants(self.INTEL, here(4)), here(4), "shm-yield2"))

    def test_only_its_reproducible_mode_promises_equal_bits(self):
        self.assertEqual([variant.name for variant in intel_variants(self.INTEL, here(4)) if variant.reproducible], ["cbwr2"])

    def test_on_a_cluster_ranks_are_placed_in_blocks(self):
        self.assertIn("-hosts h0:2,h1:2 -n 4", started(mpich_variants(self.MPICH, on_cluster()), on_cluster()))
        self.assertIn("-hosts h0,h1 -ppn 2 -n 4", started(oneccl_variants(self.INTEL, on_cluster()), on_cluster()))

    def test_the_page_shows_settings_but_not_the_scratch_folder(self):
        text = described(oneccl_variants(self.INTEL, here(2))[0].start(here(2)), "/tmp/scratch")
        self.assertIn("COMPARE_STORE=SCRATCH I_MPI_FABRICS=shm", text)


class Gloos(unittest.TestCase):
    def test_ranks_are_started_one_by_one(self):
        commands = Gloo("program").variants(here(3))[0].start(here(3))
        self.assertEqual([command.environment["COMPARE_RANK"] for command in commands], ["0", "1", "2"])
        self.assertEqual({command.environment["COMPARE_INTERFACE"] for command in commands}, {"lo"})

    def test_receivers_spin_only_where_they_have_a_core_each(self):
        self.assertTrue(any(variant.name.endswith("poll") for variant in Gloo("program").variants(here(2))))
        self.assertFalse(any(variant.name.endswith("poll") for variant in Gloo("program").variants(here(4))))

    def test_on_a_cluster_they_use_its_interface(self):
        commands = Gloo("program").variants(on_cluster())[0].start(on_cluster())
        self.assertEqual([command.words[0] for command in commands], ["on-h0", "on-h0", "on-h1", "on-h1"])
        self.assertEqual(commands[0].environment["COMPARE_INTERFACE"], "eth0")


if __name__ == "__main__":
    unittest.main()
