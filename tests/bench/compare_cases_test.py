"""Sizes, clusters and what their wires allow, as bench/compare counts them."""

import unittest

from comparison.arguments import parse
from comparison.cases import (BadInput, Sizes, bus_factor, format_bytes, format_us, moved_bytes, parse_bytes, sizes_of)
from comparison.clusters import parse_cluster, wire_floor_us
from comparison.namespaces import leftovers, shaping


class Bytes(unittest.TestCase):
    def test_sizes_are_read_as_people_write_them(self):
        for text, count in (("8", 8), ("4k", 4096), ("64M", 64 << 20), ("1GiB", 1 << 30), ("2MB", 2 << 20)):
            self.assertEqual(parse_bytes(text), count)

    def test_what_is_no_size_is_refused_by_name(self):
        for text in ("", "k", "-8", "1.5M", "8X", "0x8"):
            with self.assertRaisesRegex(BadInput, "is no size"):
                parse_bytes(text)

    def test_a_block_has_at_least_one_element(self):
        self.assertEqual(moved_bytes("all_gather", 8, 8), 32)
        self.assertEqual(moved_bytes("all_to_all", 3, 8), 12)
        self.assertEqual(moved_bytes("all_reduce", 8, 8), 8)

    def test_blocks_are_rounded_down(self):
        self.assertEqual(moved_bytes("reduce_scatter", 3, 2048), 170 * 3 * 4)

    def test_sizes_that_round_to_the_same_call_are_measured_once(self):
        self.assertEqual(sizes_of("all_gather", 8, Sizes(8, 128)), [32, 128])
        self.assertEqual(sizes_of("all_reduce", 8, Sizes(8, 128)), [8, 32, 128])
        self.assertEqual(sizes_of("barrier", 8, Sizes(8, 128)), [0])

    def test_default_sizes_go_by_factors_of_four_and_end_with_64_mib(self):
        self.assertEqual(list(Sizes().sweep()), [8 * 4**power for power in range(12)] + [64 << 20])
        self.assertEqual(list(Sizes(8, 128).sweep()), [8, 32, 128])
        self.assertEqual(list(Sizes(8, 8).sweep()), [8])
        self.assertEqual([sizes.last_step for sizes in (Sizes(), Sizes(8, 128), Sizes(8, 8))], [32 << 20, 128, 8])

    def test_bus_bandwidth_is_scaled_as_nccl_tests_does(self):
        self.assertEqual(bus_factor("all_reduce", 4), 1.5)
        self.assertEqual(bus_factor("all_to_all", 4), 0.75)
        self.assertEqual(bus_factor("broadcast", 4), 1)

    def test_numbers_are_written_with_three_digits_that_count(self):
        self.assertEqual([format_us(us) for us in (0.1234, 12.34, 123.4, 999.7, 12340, 5e6)],
                         ["0.12 us", "12.3 us", "123 us", "1.00 ms", "12.3 ms", "5.00 s"])
        self.assertEqual([format_bytes(count) for count in (8, 2048, 2040, 8 << 20)], ["8 B", "2 KiB", "2040 B", "8 MiB"])


class Clusters(unittest.TestCase):
    def test_a_cluster_is_hosts_ranks_and_rates(self):
        cluster = parse_cluster("4x2@1gbit/3=200mbit")
        self.assertEqual((cluster.hosts, cluster.ranks_per_host, cluster.ranks), (4, 2, 8))
        self.assertEqual(cluster.rates, ("1gbit", "1gbit", "1gbit", "200mbit"))
        self.assertEqual([cluster.host_of(rank) for rank in range(8)], [0, 0, 1, 1, 2, 2, 3, 3])

    def test_what_is_no_cluster_is_refused(self):
        for text in ("4x2", "1x2@1gbit", "4x0@1gbit", "4x2@fast", "4x2@1gbit/4=1gbit", "4x2@1gbit/3", "4x2@0gbit", "99x1@1gbit"):
            with self.assertRaises(BadInput, msg=text):
                parse_cluster(text)

    def test_equal_links_carry_two_thirds_more_than_a_buffer_for_four_hosts(self):
        cluster = parse_cluster("4x2@1gbit")
        second = (16 << 20) / (1e9 / 8 * 1448 / 1514) * 1e6
        self.assertAlmostEqual(wire_floor_us(cluster, "all_reduce", 16 << 20), 1.5 * second)
        self.assertAlmostEqual(wire_floor_us(cluster, "all_gather", 16 << 20), 0.75 * second)
        self.assertAlmostEqual(wire_floor_us(cluster, "all_to_all", 16 << 20), 1.5 * second)
        self.assertAlmostEqual(wire_floor_us(cluster, "broadcast", 16 << 20), second)
        self.assertIsNone(wire_floor_us(cluster, "barrier", 0))

    def test_a_slow_host_sends_and_takes_a_whole_buffer_once(self):
        floor = wire_floor_us(parse_cluster("4x1@1gbit/3=200mbit"), "all_reduce", 16 << 20)
        self.assertAlmostEqual(floor / 1e3, 701.7, places=1)

    def test_a_link_holds_a_millisecond_and_never_less_than_two_large_packets(self):
        self.assertEqual(shaping("10gbit"), ["tbf", "rate", "10gbit", "burst", "1250000", "limit", "10000000"])
        self.assertEqual(shaping("200mbit"), ["tbf", "rate", "200mbit", "burst", "131072", "limit", "1048576"])

    def test_leftovers_are_those_whose_tool_has_ended(self):
        names = ["weft-compare-10-h0", "weft-compare-10-switch", "weft-compare-11-h0", "weft-compare-12", "h0", "weft-compare-x"]
        self.assertEqual(leftovers(names, lambda process: process == 11), ["weft-compare-10", "weft-compare-12"])


class Arguments(unittest.TestCase):
    def test_without_a_place_this_machine_is_measured(self):
        self.assertEqual(parse([]).ranks, [2, 4, 8])
        self.assertEqual(parse(["--cluster", "2x1@1gbit"]).ranks, [])

    def test_clusters_are_not_measured_at_sizes_that_take_minutes(self):
        self.assertEqual(parse(["--cluster", "2x1@1gbit"]).sizes.max_bytes, 16 << 20)
        self.assertEqual(parse([]).sizes.max_bytes, 64 << 20)

    def test_what_makes_no_sense_is_refused(self):
        for words in (["--ranks", "1"], ["--ranks", "2,x"], ["--rounds", "0"], ["--collectives", "gather"], ["--nonsense"],
                      ["--min-bytes", "1M", "--max-bytes", "1k"], ["--json", "/nowhere/at/all.json"], ["--time-budget", "0"],
                      ["--deadline", "0"], ["--min-bytes", "0"]):
            with self.assertRaises(BadInput, msg=" ".join(words)):
                parse(words)


if __name__ == "__main__":
    unittest.main()
