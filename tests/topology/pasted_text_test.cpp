// Texts as people paste them: cut or wrapped on the right, with something before each line, several in one file, with
// a byte-order mark. What was lost is unknown, and a remark says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <tuple>

#include "tests/topology/support/recorded_tree.hpp"
#include "topology/import/import.hpp"
#include "topology/import/line_prefix.hpp"

namespace weft::topology {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Survey read(std::string_view text) {
  test::RecordedTree folder;
  folder.write("/pasted.txt", text);
  Result<Survey> survey = load_survey(folder.root() + "/pasted.txt");
  EXPECT_TRUE(survey) << survey.status().to_string();
  return survey ? std::move(survey).value() : Survey();
}

std::string refusal(std::string_view text) {
  test::RecordedTree folder;
  folder.write("/pasted.txt", text);
  const Result<Survey> survey = load_survey(folder.root() + "/pasted.txt");
  return survey ? std::string("accepted") : std::string(survey.error().message());
}

std::vector<std::string> remarks_of(const Survey& survey) {
  std::vector<std::string> texts;
  for (const Remark& remark : survey.remarks) texts.push_back(remark.subject + ": " + remark.evidence);
  return texts;
}

std::string between(const Survey& survey, std::string_view a, std::string_view b) {
  const std::optional<int> from = survey.graph.find(a);
  const std::optional<int> to = survey.graph.find(b);
  if (!from || !to) return "absent";
  return std::string(to_string(survey.graph.best_path(*from, *to).path_class));
}

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// `text` with `prefix` before each line.
std::string prefixed(std::string_view prefix, std::string_view text) {
  std::string result(prefix);
  for (std::size_t at = 0; at < text.size(); ++at) {
    result += text[at];
    if (text[at] == '\n' && at + 1 < text.size()) result += prefix;
  }
  return result;
}

const std::string kTable =
    "\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\t X \tNV4\tPIX\tSYS\t0-3\t0\n"
    "GPU1\tNV4\t X \tSYS\tPIX\t4-7\t1\n"
    "NIC0\tPIX\tSYS\t X \tSYS\n"
    "NIC1\tSYS\tPIX\tSYS\t X \n"
    "\n"
    "NIC Legend:\n"
    "  NIC0: mlx5_0\n"
    "  NIC1: mlx5_1\n";

TEST(PastedText, rows_tell_of_columns_that_are_cut_off) {
  const Survey survey = read(
      "        GPU0    GPU1    NIC0\n"
      "GPU0     X      NODE    PIX\n"
      "GPU1    NODE     X      SYS\n"
      "NIC0    PIX     SYS      X\n"
      "NIC1    SYS     PIX     SYS\n"
      "NIC Legend:\n"
      "  NIC0: mlx5_0\n"
      "  NIC1: mlx5_1\n");
  EXPECT_EQ(between(survey, "gpu1", "mlx5_1"), "PIX");
  EXPECT_EQ(between(survey, "gpu0", "mlx5_1"), "SYS");
  EXPECT_THAT(remarks_of(survey), ElementsAre(HasSubstr("pasted.txt:1: the table is cut or wrapped on the right: the "
                                                        "columns of NIC1 are missing")));
}

TEST(PastedText, what_is_cut_off_and_told_nowhere_is_unknown) {
  const Survey survey = read(
      "        GPU0    GPU1    NIC0\n"
      "GPU0     X      NODE    PIX\n"
      "GPU1    NODE     X      SYS\n"
      "NIC Legend:\n"
      "  NIC0: mlx5_0\n"
      "  NIC1: mlx5_1\n");
  EXPECT_EQ(between(survey, "gpu1", "mlx5_0"), "SYS");
  EXPECT_EQ(between(survey, "gpu1", "mlx5_1"), "UNKNOWN");
  EXPECT_THAT(remarks_of(survey), testing::Contains(HasSubstr("the columns of NIC1 are missing")));
}

TEST(PastedText, a_header_may_be_cut_within_a_name_and_a_row_within_a_cell) {
  const Survey survey = read(
      "GPU0  GPU1  GPU2  NI\n"
      "GPU0  X     NV18  NV1\n"
      "GPU1  NV18  X     NV1\n"
      "GPU2  NV18  NV18  X\n"
      "NIC0  PIX   SYS   SYS\n");
  EXPECT_EQ(survey.graph.ids(NodeKind::Gpu).size(), 3u);
  EXPECT_EQ(between(survey, "gpu0", "NIC0"), "PIX");
  EXPECT_THAT(remarks_of(survey), testing::Not(testing::Contains(HasSubstr("NV1,"))));
  for (const Link& link : survey.graph.links) EXPECT_EQ(link.count, link.kind == LinkKind::NvLink ? 18 : link.count);
}

TEST(PastedText, a_wrapped_table_is_read_from_its_rows) {
  const Survey survey = read(
      "        GPU0    GPU1    NIC0\n"
      "NIC1    CPU Affinity\n"
      "GPU0     X      NODE    PIX\n"
      "SYS     0-3\n"
      "GPU1    NODE     X      SYS\n"
      "PIX     4-7\n"
      "NIC0    PIX     SYS      X\n"
      "SYS\n"
      "NIC1    SYS     PIX     SYS\n"
      " X\n");
  EXPECT_EQ(between(survey, "gpu1", "NIC1"), "PIX");
  EXPECT_THAT(remarks_of(survey), testing::Contains(HasSubstr("cut or wrapped on the right")));
}

TEST(PastedText, what_all_lines_begin_with_is_no_part_of_them) {
  const Survey plain = read(kTable);
  EXPECT_THAT(remarks_of(plain), IsEmpty());
  for (const char* prefix : {"> ", ">", "> > ", "0: ", "node7: ", "[1,0]<stdout>:", "2024-05-01T12:00:00.123Z ",
                             "2024-05-01 12:00:00 ", "[12:00:01] ", "12:00:01 node7: "}) {
    EXPECT_EQ(read(prefixed(prefix, kTable)), plain) << prefix;
    const std::string rocm = text_of("tests/topology/data/rocm-smi-3gpu.txt");
    EXPECT_EQ(read(prefixed(prefix, rocm)), read(rocm)) << prefix;
  }
}

TEST(PastedText, a_prefix_is_shared_by_all_lines) {
  const auto stripped = [](std::vector<std::string> lines) {
    strip_shared_prefix(lines);
    return lines;
  };
  EXPECT_THAT(stripped({"0: a", "", "0:", "0: \tb"}), ElementsAre("a", "", "", "\tb"));
  EXPECT_THAT(stripped({"12:00:01 a", "12:00:02 b"}), ElementsAre("a", "b"));
  EXPECT_THAT(stripped({"0: a", "1: b"}), ElementsAre("0: a", "1: b")) << "two ranks are two texts";
  EXPECT_THAT(stripped({"> a", "b"}), ElementsAre("> a", "b"));
  EXPECT_THAT(stripped({"0: a"}), ElementsAre("0: a"));
  EXPECT_THAT(stripped({"0000:c1:00.0 a", "0-3 b"}), ElementsAre("0000:c1:00.0 a", "0-3 b"));
}

std::string mixed(std::string_view first, std::string_view second) {
  std::string text;
  for (std::size_t a = 0, b = 0; a < first.size() || b < second.size();)
    for (auto [rest, at, label] : {std::tuple(first, &a, "0: "), std::tuple(second, &b, "1: ")}) {
      if (*at >= rest.size()) continue;
      const std::size_t end = rest.find('\n', *at) + 1;
      text += std::string(label) + std::string(rest.substr(*at, end - *at));
      *at = end;
    }
  return text;
}

TEST(PastedText, ranks_of_one_host_say_the_same_and_those_of_several_are_refused) {
  EXPECT_EQ(read(mixed(kTable, kTable)).graph, read(kTable).graph);
  EXPECT_THAT(remarks_of(read(mixed(kTable, kTable))), IsEmpty());
  std::string other = kTable;
  other.replace(other.find("NV4"), 3, "NV2");
  EXPECT_THAT(refusal(mixed(kTable, other)),
              HasSubstr("pasted.txt:2: behind \"1:\" stands another text than behind \"0:\": give what each rank"));
  const std::string rocm = text_of("tests/topology/data/rocm-smi-3gpu.txt");
  EXPECT_EQ(read(mixed(rocm, rocm)).graph, read(rocm).graph);
  EXPECT_THAT(refusal(mixed(rocm, kTable)), HasSubstr("another text"));
}

TEST(PastedText, a_second_text_of_rocm_smi_that_says_other_things_is_told) {
  const std::string rocm = text_of("tests/topology/data/rocm-smi-3gpu.txt");
  EXPECT_THAT(remarks_of(read(rocm + rocm)), IsEmpty());
  std::string other = rocm;
  other.replace(other.find("XGMI"), 4, "PCIE");
  EXPECT_THAT(remarks_of(read(rocm + other)), ElementsAre(HasSubstr("is PCIE, but in another text it is XGMI")));
  const std::string types = "== Link Type between two GPUs ==\n GPU0 GPU1\nGPU0 0 XGMI\nGPU1 XGMI 0\n";
  EXPECT_THAT(remarks_of(read(rocm + types)),
              ElementsAre(HasSubstr("the GPUs here are not those of line 17: give the texts of several hosts")));
}

TEST(PastedText, a_second_table_is_not_read_and_that_is_told) {
  std::string other = kTable;
  other.replace(other.find("NV4"), 3, "NV2");
  EXPECT_THAT(remarks_of(read(kTable + other)),
              ElementsAre(AllOf(HasSubstr("pasted.txt:10: another table begins here, which is not read"),
                                HasSubstr("that of line 1 is"))));
  EXPECT_THAT(remarks_of(read(kTable + kTable)), IsEmpty()) << "a copy says nothing more";
}

TEST(PastedText, a_byte_order_mark_says_nothing) {
  const std::string mark = "\xef\xbb\xbf";
  const std::string json = to_json(read(kTable).graph);
  const std::string fabric =
      "weft-fabric 1\nname small\nhosts 4 of dgx-h100\nlevels 3\nrails\nleaf hosts 2 oversubscription 1\n"
      "pod hosts 2 oversubscription 7\nlatency 0.3\n";
  const std::string hwloc = text_of("tests/topology/data/gh200-72c-no-io.xml");
  const std::string rocm = text_of("tests/topology/data/rocm-smi-3gpu.txt");
  for (const std::string& text : {kTable, json, hwloc, rocm}) EXPECT_EQ(read(mark + text), read(text));
  EXPECT_EQ(refusal(mark + fabric), "accepted");
  EXPECT_THAT(refusal(mark + mark + kTable.substr(0, 4)), HasSubstr("is not a topology file")) << "once";
}

TEST(PastedText, rocm_smi_may_tell_numa_nodes_alone) {
  const Survey survey = read(
      "=========== Numa Nodes ===========\n"
      "GPU[0]\t\t: (Topology) Numa Node: 0\n"
      "GPU[0]\t\t: (Topology) Numa Affinity: 0\n"
      "GPU[4]\t\t: (Topology) Numa Node: 1\n");
  EXPECT_TRUE(survey.graph.find("gpu0"));
  EXPECT_TRUE(survey.graph.find("gpu4"));
  EXPECT_EQ(survey.graph.ids(NodeKind::Numa).size(), 2u);
  EXPECT_THAT(remarks_of(survey), ElementsAre(HasSubstr("the type of the link is told of 0 of 1 pairs")));
}

}  // namespace
}  // namespace weft::topology
