// Pictures of hosts: everything has a place of its own, texts fit, and every device is drawn.
#include "topology/export/picture.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <pugixml.hpp>
#include <set>
#include <string>

#include "tests/topology/support/corpus.hpp"
#include "topology/export/bandwidth_bands.hpp"
#include "topology/export/markup.hpp"
#include "topology/export/svg.hpp"
#include "topology/survey.hpp"

namespace weft::topology {
namespace {

using testing::HasSubstr;

constexpr double kTolerance = 0.01;

bool contains(const PictureBox& outer, const PictureBox& inner) {
  return inner.x >= outer.x - kTolerance && inner.y >= outer.y - kTolerance &&
         inner.x + inner.width <= outer.x + outer.width + kTolerance &&
         inner.y + inner.height <= outer.y + outer.height + kTolerance;
}

bool overlap(const PictureBox& a, const PictureBox& b) {
  return a.x + a.width > b.x + kTolerance && b.x + b.width > a.x + kTolerance && a.y + a.height > b.y + kTolerance &&
         b.y + b.height > a.y + kTolerance;
}

bool is_around(const Picture& picture, int outer, int inner) {
  while (inner >= 0 && inner != outer) inner = picture.boxes[static_cast<std::size_t>(inner)].inside;
  return inner == outer;
}

void expect_places(const Picture& picture) {
  const int count = static_cast<int>(picture.boxes.size());
  for (int a = 0; a < count; ++a) {
    const PictureBox& box = picture.boxes[static_cast<std::size_t>(a)];
    if (box.inside >= 0) {
      EXPECT_TRUE(contains(picture.boxes[static_cast<std::size_t>(box.inside)], box)) << box.title << " sticks out";
    }
    for (int b = a + 1; b < count; ++b) {
      const PictureBox& other = picture.boxes[static_cast<std::size_t>(b)];
      if (is_around(picture, a, b) || is_around(picture, b, a)) continue;
      EXPECT_FALSE(overlap(box, other)) << box.title << " overlaps " << other.title;
    }
  }
}

void expect_texts_fit(const Picture& picture) {
  for (const PictureBox& box : picture.boxes) {
    for (const PictureText& text : box.texts) {
      EXPECT_GE(text.x, box.x) << text.text;
      EXPECT_LE(text.x + text_width(text.text) * text.size, box.x + box.width) << text.text << " in " << box.title;
      EXPECT_LE(text.y, box.y + box.height) << text.text;
      EXPECT_GE(text.y - text.size, box.y) << text.text;
    }
  }
}

void expect_sound(const Graph& graph) {
  Locality locality(graph);
  for (int machine : graph.ids(NodeKind::Machine)) {
    const Picture picture = draw_host(locality, machine, {});
    expect_places(picture);
    expect_texts_fit(picture);
    for (const Node& node : graph.nodes) {
      const bool device = node.kind == NodeKind::Gpu || node.kind == NodeKind::Nic;
      if (!device || locality.node(machine).host != node.host) continue;
      EXPECT_TRUE(picture.places.contains(node.id)) << node.name;
    }
    pugi::xml_document document;
    EXPECT_TRUE(document.load_string(svg_of(picture, graph.name, {}).c_str()));
  }
}

TEST(Picture, models_are_drawn_without_overlap) {
  for (const char* line :
       {"dgx-h100", "dgx-a100", "p5.48xlarge", "pcie-8gpu", "cpu-2socket", "packages:8 numa:8 gpu:8",
        "packages:1 gpu:2", "packages:4 numa:16 cores:16 gpu:16 nic:16 hdr", "gpu:8 nvlink:50", "packages:1 numa:3"}) {
    SCOPED_TRACE(line);
    expect_sound(model(line).value());
  }
}

TEST(Picture, recorded_machines_are_drawn_without_overlap) {
  int files = 0;
  for (const auto& [folder, ending] : {std::pair{"hwloc", ".xml"}, {"nccl", ".xml"}, {"nvidia-smi", ".txt"}}) {
    for (const std::string& file : test::corpus_files(folder, ending)) {
      SCOPED_TRACE(file);
      const Result<Graph> graph = load(file);
      ++files;
      ASSERT_TRUE(graph) << graph.status().to_string();
      expect_sound(*graph);
    }
  }
  if (files == 0) GTEST_SKIP() << "the recorded machines are not here; WEFT_CORPUS names their folder";
}

TEST(Picture, many_like_nics_are_one_box_that_names_them) {
  Graph graph = model("packages:1 gpu:1").value();
  for (int i = 0; i < 64; ++i) {
    Node nic;
    nic.kind = NodeKind::Nic;
    nic.parent = graph.ids(NodeKind::PciBridge).front();
    nic.name = fmt::format("vf{}", i);
    nic.device = "15b3:101e";
    const int parent = nic.parent;
    graph.connect(parent, graph.add(nic), LinkKind::Pci, 8, 0.25, "assumed");
  }
  expect_sound(graph);
  Locality locality(graph);
  const int hidden = *graph.find("vf63");
  const Picture picture = draw_host(locality, 0, {{hidden, {{7, "warning"}}}});
  const auto rest = std::find_if(picture.boxes.begin(), picture.boxes.end(), [](const PictureBox& box) {
    return !box.texts.empty() && box.texts.front().text == "and 58 NICs like it";
  });
  ASSERT_NE(rest, picture.boxes.end());
  EXPECT_THAT(rest->title, HasSubstr("vf63"));
  ASSERT_EQ(rest->marks.size(), 1u);
  EXPECT_EQ(rest->marks.front().number, 7);
}

TEST(Picture, links_have_the_colour_of_their_bandwidth_and_assumed_ones_are_dashed) {
  EXPECT_EQ(bandwidth_band(0.1), 0);
  EXPECT_EQ(bandwidth_band(15.75), 1);
  EXPECT_EQ(bandwidth_band(31.5), 2);
  EXPECT_EQ(bandwidth_band(63), 3);
  EXPECT_EQ(bandwidth_band(121), 4);
  EXPECT_EQ(bandwidth_band(1e12), static_cast<int>(bandwidth_bands().size()) - 1);
  const Graph graph = model("dgx-h100").value();
  Locality locality(graph);
  const std::string svg = svg_of(draw_host(locality, 0, {}), "x", {});
  EXPECT_THAT(svg, HasSubstr("class=\"link band6\""));
  EXPECT_THAT(svg, HasSubstr("gpu0 to nvswitch0: 18 x nvlink 450 GB/s each way"));
}

TEST(Picture, marks_lead_to_findings_and_overlays_follow_nodes) {
  const Graph graph = model("dgx-h100").value();
  Locality locality(graph);
  const int gpu = *graph.find("gpu0");
  const PictureMarks marks = {{gpu, {{1, "error"}, {2, "info"}, {3, "info"}, {4, "info"}}}};
  const std::string svg =
      svg_of(draw_host(locality, 0, marks), "x", {{"ring0", {{gpu, *graph.find("gpu1")}, {gpu, 99999}}}});
  EXPECT_THAT(svg, AllOf(HasSubstr("<g class=\"found error\">"), HasSubstr("<a id=\"part1\" href=\"#finding1\">")));
  EXPECT_THAT(svg, HasSubstr("href=\"#finding2\""));
  EXPECT_THAT(svg, HasSubstr(">+2</text>"));
  EXPECT_THAT(svg, HasSubstr("<g class=\"overlay ring0\">\n<path"));
}

TEST(Markup, foreign_text_is_escaped_and_measured) {
  EXPECT_EQ(escaped("<b a='1' c=\"2\">&</b>"), "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;&lt;/b&gt;");
  EXPECT_EQ(escaped(std::string_view("a\0b\x1b\xff\xed\xa0\x80", 8)),
            "a\xef\xbf\xbd"
            "b\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(fitted("gpu0", 100, 10), "gpu0");
  EXPECT_EQ(fitted("NVIDIA H100 80GB HBM3", 50, 10), "NVIDI\xe2\x80\xa6");
  EXPECT_LE(text_width(fitted(std::string(300, 'W'), 80, 10)) * 10, 80);
  EXPECT_EQ(fitted("", 10, 10), "");
}

}  // namespace
}  // namespace weft::topology
