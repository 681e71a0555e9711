"""The page: one file, well-formed, that shows what the JSON holds."""

import re
import unittest
from html.parser import HTMLParser

from compare_results_test import sample_document
from comparison.page import page
from comparison.plot import Axis, Series, decades, lines, round_steps
from comparison.text import ratio_table, summary_line

VOID = {"meta", "br", "line", "path", "circle", "polygon"}


class Reader(HTMLParser):
    """Complains of tags that are not closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.wrong, self.texts, self.classes = [], [], [], []

    def handle_starttag(self, tag, attributes):
        self.classes += [value for name, value in attributes if name == "class"]
        if tag not in {"meta"}:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.classes += [value for name, value in attributes if name == "class"]

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        self.texts.append(data)


def read(text):
    reader = Reader()
    reader.feed(text)
    return reader


class Page(unittest.TestCase):
    def setUp(self):
        self.text = page(sample_document())
        self.reader = read(self.text)

    def test_every_tag_is_closed_in_order(self):
        self.assertEqual((self.reader.wrong, self.reader.open), ([], []))

    def test_nothing_comes_from_elsewhere(self):
        self.assertNotRegex(self.text, r"https?://|<script|<link|@import|url\(")

    def test_what_programs_said_is_text_and_no_markup(self):
        self.assertIn("exit status 1: &lt;no&gt; network", self.text)
        self.assertNotIn("<no>", self.text)
        self.assertIn("A Peer &amp; Son", self.text)

    def test_won_tied_and_lost_cells_are_told_by_a_sign_too(self):
        words = " ".join(self.reader.texts)
        for verdict, shown in (("won", "2.00 ▲"), ("lost", "0.50 ▼"), ("tie", "1.00 =")):
            self.assertIn(verdict, self.reader.classes)
            self.assertIn(shown, words)

    def test_cells_measured_in_unlike_states_say_so(self):
        self.assertIn("other state", self.reader.texts)

    def test_each_collective_with_sizes_has_latency_and_bandwidth(self):
        captions = re.findall(r"<figcaption>(.*?)</figcaption>", self.text)
        self.assertEqual(captions, ["all_reduce: time of a call", "all_reduce: bus bandwidth"] * 2)

    def test_the_floor_of_a_cluster_is_drawn_and_that_of_one_machine_is_not(self):
        here, cluster = self.text.split("ranks on the emulated cluster")
        self.assertNotIn('<g class="floor">', here)
        self.assertIn('<g class="floor">', cluster)

    def test_who_is_left_out_and_why_is_there(self):
        self.assertIn("no headers", self.reader.texts)

    def test_both_colour_schemes_are_there(self):
        self.assertIn("prefers-color-scheme: dark", self.text)


class Plots(unittest.TestCase):
    def test_the_axis_is_logarithmic_where_it_should_be(self):
        axis = Axis(1, 100, 0, 10, True)
        self.assertEqual([axis.at(value) for value in (1, 10, 100)], [0, 5, 10])

    def test_ticks_enclose_all_values(self):
        self.assertEqual(decades(0.2, 30), [0.1, 1, 10, 100])
        self.assertEqual(decades(1, 1), [1, 10])
        self.assertEqual(round_steps(17), [0, 5, 10, 15, 20])
        self.assertEqual(round_steps(20), [0, 5, 10, 15, 20])

    def test_one_point_alone_can_be_drawn(self):
        drawn = lines([Series("a", "p0", 0, ((8, 1.0, "told"),))], str, str, True, "title")
        self.assertEqual(read(drawn).wrong, [])
        self.assertIn("<title>told</title>", drawn)

    def test_nothing_to_draw_is_no_picture(self):
        self.assertEqual(lines([], str, str, True, "title"), "")


class Text(unittest.TestCase):
    def test_the_terminal_shows_ratio_and_best_peer(self):
        table = ratio_table(sample_document())
        self.assertRegex(table, r"8 B +2\.00 peer/default")
        self.assertRegex(table, r"1 MiB +no peer")

    def test_the_last_line_sums_up(self):
        line = summary_line(sample_document())
        self.assertIn("won 1, tie 1, lost 1, without a ratio 1", line)
        self.assertIn("flag 60 to 240 ns", line)


if __name__ == "__main__":
    unittest.main()
