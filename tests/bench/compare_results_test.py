"""From what programs print to cells, ratios and JSON."""

import json
import unittest
from types import SimpleNamespace

from comparison.cases import Place
from comparison.contenders import Contender, Point, Unreadable, read_lines
from comparison.document import document, to_text
from comparison.measuring import Run, judge
from comparison.peers import LeftOut
from comparison.processes import Outcome
from comparison.results import cells_of, near_runs, summary, verdict
from comparison.weft import points_of

TWO = Place(2)


def outcome(text="", errors="", exit_code=0, timed_out=False):
    return Outcome(exit_code, text, errors, 1.5, timed_out)


def run(program, times, variant="default", number=1, place=TWO, collective="all_reduce", flags=(60.0, 62.0), failure="", wrong=0):
    points = tuple(Point(size, us, us / 2, us * 2, wrong, "ring" if program == "weft" else "") for size, us in times.items())
    return Run(number, place, collective, program, variant, points, failure, 1.0, flags, f"{program} --it")


class Reading(unittest.TestCase):
    LINE = "result all_reduce 2 2048 0.4100 0.3900 0.9000 1000 74 0"

    def test_results_stand_between_other_lines(self):
        points = read_lines(outcome(f"a launcher's words\n{self.LINE}\n\nend\n"), None)
        self.assertEqual(points, [Point(2048, 0.41, 0.39, 0.9, 0)])

    def test_half_a_line_is_no_result(self):
        for line in ("result all_reduce 2 2048 0.41", self.LINE.replace("0.4100", "nonsense"), self.LINE.replace("0.4100", "0.0")):
            with self.assertRaises(Unreadable):
                read_lines(outcome(line), None)

    def test_weft_bench_json_tells_time_and_algorithm(self):
        result = {"algorithm": "ring", "channels": 4, "bytes": 8, "wrong": 0, "time_us": {"min": 0.1, "median": 0.2, "p99": 0.5}}
        self.assertEqual(points_of({"schema": 1, "results": [result]}), [Point(8, 0.2, 0.1, 0.5, 0, "ring@4")])

    def test_another_schema_is_refused(self):
        with self.assertRaises(Unreadable):
            points_of({"schema": 2, "results": []})


class Judging(unittest.TestCase):
    POINTS = [Point(8, 1, 1, 1, 0)]

    def judge(self, what, points=POINTS, expected=(8, 32), forgiving=True):
        return judge(what, points, expected, forgiving)

    def test_all_sizes_right_is_no_failure(self):
        self.assertEqual(self.judge(outcome(), expected=(8,)), "")

    def test_a_crash_is_told_with_how_far_it_came(self):
        self.assertEqual(self.judge(outcome(exit_code=-11)), "ended by signal 11; 1 of 2 sizes were measured")

    def test_a_peer_that_stumbles_over_its_end_has_measured_all_the_same(self):
        self.assertEqual(self.judge(outcome(exit_code=255), expected=(8,)), "")
        self.assertNotEqual(self.judge(outcome(exit_code=255), expected=(8,), forgiving=False), "")
        self.assertNotEqual(self.judge(outcome(exit_code=-9, timed_out=True), expected=(8,)), "")

    def test_the_last_words_are_told_without_a_launchers_rulers(self):
        errors = "no such device\n---------\n   \n"
        self.assertIn("exit status 1: no such device;", self.judge(outcome(errors=errors, exit_code=1), []))

    def test_a_missed_deadline_is_told(self):
        self.assertIn("did not end within 2 s", self.judge(outcome(exit_code=-9, timed_out=True), []))

    def test_wrong_results_and_missing_ones_are_failures(self):
        self.assertEqual(self.judge(outcome(), [Point(8, 1, 1, 1, 3)]), "wrong results at 8 bytes")
        self.assertEqual(self.judge(outcome()), "only 1 of 2 sizes were measured")


class Cells(unittest.TestCase):
    def cell(self, *runs):
        cells = cells_of(runs)
        self.assertEqual(len(cells), 1)
        return cells[0]

    def test_the_least_of_the_rounds_medians_counts(self):
        cell = self.cell(run("weft", {8: 0.3}), run("peer", {8: 0.5}),
                         run("weft", {8: 0.2}, number=2), run("peer", {8: 0.6}, number=2))
        self.assertEqual((cell.weft.us, cell.peers["peer"].us), (0.2, 0.5))
        self.assertAlmostEqual(cell.ratio, 2.5)

    def test_each_peer_has_its_best_variant(self):
        cell = self.cell(run("weft", {8: 1}), run("peer", {8: 3}, "slow"), run("peer", {8: 2}, "fast"), run("other", {8: 4}))
        self.assertEqual((cell.peers["peer"].variant, cell.best_peer, cell.ratio), ("fast", "peer", 2))

    def test_wrong_results_count_for_nobody(self):
        cell = self.cell(run("weft", {8: 1}), run("peer", {8: 2}), run("cheat", {8: 0.01}, wrong=1))
        self.assertEqual(cell.best_peer, "peer")

    def test_what_a_peer_measured_before_it_crashed_counts(self):
        cells = cells_of([run("weft", {8: 1, 32: 1}), run("peer", {8: 2}, failure="ended by signal 11")])
        self.assertEqual([cell.ratio for cell in cells], [2, None])

    def test_a_cell_without_weft_or_without_peers_has_no_ratio(self):
        self.assertIsNone(self.cell(run("peer", {8: 2})).ratio)
        self.assertIsNone(self.cell(run("weft", {8: 2})).ratio)

    def test_symmetric_buffers_are_told_beside_private_ones(self):
        cell = self.cell(run("weft", {8: 2}), run("weft", {8: 1}, "symmetric"), run("peer", {8: 4}))
        self.assertEqual((cell.ratio, cell.ratio_of(cell.others["symmetric"])), (2, 4))

    def test_sizes_ascend_and_places_keep_their_order(self):
        four = Place(4)
        cells = cells_of([run("weft", {32: 1, 8: 1}, place=four), run("weft", {8: 1})])
        self.assertEqual([(cell.key.place, cell.key.bytes) for cell in cells], [(four, 8), (four, 32), (TWO, 8)])


class States(unittest.TestCase):
    def test_near_runs_are_those_with_fast_flags_before_and_after(self):
        near, far = run("weft", {8: 1}), run("weft", {8: 2}, flags=(60.0, 240.0))
        self.assertEqual(near_runs([near, far]), [near])

    def test_one_flag_faster_than_the_rest_is_no_state(self):
        runs = [run("weft", {8: 1}, flags=(30.0, 60.0))] + [run("weft", {8: 1})] * 10
        self.assertEqual(near_runs(runs), runs)

    def test_where_flags_were_not_measured_no_state_is_known(self):
        self.assertEqual(near_runs([run("weft", {8: 1}, flags=(None, None))]), [])

    def test_the_near_state_has_a_ratio_of_its_own(self):
        runs = [run("weft", {8: 1}), run("peer", {8: 1.5}, flags=(240.0, 240.0)), run("weft", {8: 1}, number=2),
                run("peer", {8: 2}, number=2)]
        (cell,) = cells_of(near_runs(runs))
        self.assertEqual(cell.ratio, 2)


class Verdicts(unittest.TestCase):
    def test_within_three_percent_is_a_tie(self):
        self.assertEqual([verdict(ratio) for ratio in (1.031, 1.03, 1, 0.971, 0.97, None)],
                         ["won", "tie", "tie", "tie", "lost", "unknown"])

    def test_the_summary_counts_and_has_the_geometric_mean(self):
        self.assertEqual(summary([2, 0.5, 1, None]), {"won": 1, "tie": 1, "lost": 1, "unknown": 1, "geometric_mean_ratio": 1.0})
        self.assertIsNone(summary([None])["geometric_mean_ratio"])


def sample_document():
    """Of two places, with a failure and a change of the machine's state."""
    cluster = Place(4, 4, "4x1@1gbit/3=200mbit")
    runs = [run("weft", {8: 0.1, 2048: 0.2}), run("peer", {8: 0.2, 2048: 0.1}, flags=(62.0, 240.0)),
            run("weft", {8: 0.09}, "symmetric"),
            run("weft", {0: 0.1}, collective="barrier"), run("peer", {0: 0.1}, collective="barrier"),
            run("weft", {1 << 20: 9e4}, place=cluster), run("peer", {}, place=cluster, failure="exit status 1: <no> network")]
    weft = Contender("weft", "Weft", "0.1.0", None, None)
    peer = Contender("peer", "A Peer & Son", "4.0", None, None)
    plan = SimpleNamespace(weft=weft, peers=[peer], state=SimpleNamespace(why_not=""))
    machine = {"host": "node", "cpu": "A CPU", "cores": 2, "kernel": "6.1"}
    settings = {"rounds": 1, "started": "today"}
    return document(plan, SimpleNamespace(runs=runs), machine, [LeftOut("gloo", "no headers")], settings)


class Json(unittest.TestCase):
    def test_it_has_what_the_documentation_says(self):
        cell = sample_document()["cells"][0]
        self.assertEqual(cell, {
            "collective": "all_reduce", "ranks": 2, "bytes": 8, "hosts": 1, "cluster": None,
            "weft_us": 0.1, "weft_algorithm": "ring",
            "peers": {"peer": 0.2}, "variants": {"peer": "default"}, "best_peer": "peer", "ratio": 2.0, "verdict": "won",
            "near_ratio": None, "floor_us": None, "flag_ns": {"weft": 61.0, "best_peer": 151.0}, "weft_symmetric_us": 0.09, "symmetric_ratio": 2.2222})

    def test_it_tells_states_failures_and_who_was_left_out(self):
        made = sample_document()
        self.assertEqual(made["schema"], 1)
        self.assertEqual(made["state"], {"flag_ns": {"least": 60.0, "most": 240.0}, "changed": True})
        self.assertEqual(made["left_out"], [{"peer": "gloo", "why": "no headers"}])
        self.assertEqual([entry["why"] for entry in made["failures"]], ["exit status 1: <no> network"])
        self.assertEqual(made["summary"]["won"], 1)

    def test_on_a_cluster_cells_have_hosts_and_a_floor(self):
        cell = sample_document()["cells"][-1]
        self.assertEqual((cell["hosts"], cell["cluster"], cell["ratio"]), (4, "4x1@1gbit/3=200mbit", None))
        self.assertAlmostEqual(cell["floor_us"], 43855.2, places=0)

    def test_its_text_is_json_with_a_line_for_each_cell(self):
        made = sample_document()
        text = to_text(made)
        self.assertEqual(json.loads(text), made)
        self.assertEqual(sum('"best_peer": "peer"' in line for line in text.splitlines()), 3)


if __name__ == "__main__":
    unittest.main()
