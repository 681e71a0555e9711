// ctest: serial
// Whatever file topo-probe is given: it ends by itself with 2 and one line that names the file, within a second and 64
// MiB.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/sanitizers.hpp"
#include "tests/topology/support/recorded_tree.hpp"
#include "tests/topology/support/tar_text.hpp"

namespace weft::topology {
namespace {

using test::TarText;
using testing::HasSubstr;

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr unsigned kHangs = 60;  // seconds after which a child is ended

struct Ended {
  int exit_code = -1;
  std::string complaint;
  double cpu_s = 0;
  std::size_t memory = 0;  // bytes, at most
};

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

class BadInput : public testing::Test {
 protected:
  Ended probe(const std::string& file) {
    const std::string complaints = scratch_.root() + "/complaints";
    const char* folder = std::getenv("WEFT_TEST_BIN");
    const std::string program = std::string(folder != nullptr ? folder : ".") + "/topo-probe";
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(kHangs);
      const int null = ::open("/dev/null", O_WRONLY);
      const int file_of_complaints = ::open(complaints.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      ::dup2(null, STDOUT_FILENO);
      ::dup2(file_of_complaints, STDERR_FILENO);
#if !WEFT_ADDRESS_SANITIZER && !WEFT_THREAD_SANITIZER
      const rlimit data{128 * kMiB, 128 * kMiB};  // with what libraries reserve and never use
      ::setrlimit(RLIMIT_DATA, &data);
#endif
      ::execl(program.c_str(), program.c_str(), "--from", file.c_str(), nullptr);
      ::_exit(127);
    }
    Ended ended;
    int status = 0;
    rusage used{};
    EXPECT_EQ(::wait4(child, &status, 0, &used), child);
    if (WIFEXITED(status)) ended.exit_code = WEXITSTATUS(status);
    ended.cpu_s = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
    ended.memory = static_cast<std::size_t>(used.ru_maxrss) * 1024;
    std::ifstream in(complaints);
    ended.complaint.assign(std::istreambuf_iterator<char>(in), {});
    return ended;
  }

  // Refused with one line that begins with the file and holds `words`.
  void expect_refused(const std::string& file, const std::string& words) {
    SCOPED_TRACE(file);
    const Ended ended = probe(file);
    EXPECT_EQ(ended.exit_code, 2) << ended.complaint;
    EXPECT_EQ(std::count(ended.complaint.begin(), ended.complaint.end(), '\n'), 1) << ended.complaint;
    EXPECT_THAT(ended.complaint, testing::StartsWith("topo-probe: "));
    EXPECT_THAT(ended.complaint, HasSubstr(file));
    EXPECT_THAT(ended.complaint, HasSubstr(words));
    EXPECT_LT(ended.complaint.size(), 600u);
    expect_bounded(ended);
  }
  static void expect_bounded(const Ended& ended) {
    if constexpr (WEFT_ADDRESS_SANITIZER || WEFT_THREAD_SANITIZER) return;  // slow and large by design
    EXPECT_LT(ended.cpu_s, 1);
    EXPECT_LT(ended.memory, 64 * kMiB);
  }
  std::string written(const std::string& name, std::string_view bytes) {
    scratch_.write("/" + name, bytes);
    return scratch_.root() + "/" + name;
  }
  void expect_text_refused(const std::string& name, std::string_view bytes, const std::string& words) {
    expect_refused(written(name, bytes), words);
  }

  test::RecordedTree scratch_;
};

std::string repeated(std::string_view text, std::size_t bytes) {
  std::string all;
  all.reserve(bytes + text.size());
  while (all.size() < bytes) all += text;
  return all;
}

TEST_F(BadInput, empty_files_folders_and_what_is_no_topology) {
  expect_text_refused("empty", "", "is not a topology file");
  expect_text_refused("prose.txt", "hello\n", "is not a topology file");
  expect_refused(scratch_.root(), "holds no recorded tree");
  expect_refused(scratch_.root() + "/absent", "cannot read");
}

TEST_F(BadInput, cut_files) {
  for (const char* name : {"nccl-two-cpus.xml", "hwloc3-nvswitch.xml", "hwloc1-two-sockets.xml"}) {
    std::ifstream in(std::string("tests/topology/data/") + name);
    const std::string whole((std::istreambuf_iterator<char>(in)), {});
    ASSERT_FALSE(whole.empty()) << name;
    expect_text_refused("half.xml", whole.substr(0, whole.size() / 2), "or cut");
    expect_text_refused("tail.xml", whole.substr(0, whole.size() - 12), "or cut");
  }
  expect_text_refused("cut.json", "{\"schema\": 1, \"name\": \"x\", \"nodes\": [", "not JSON at line 1");
}

TEST_F(BadInput, huge_files) {
  expect_text_refused("huge.txt", repeated("\tGPU0\tGPU1\n", 9 * kMiB), "is longer than");
  expect_text_refused("huge.xml", "<topology>" + repeated("<object/>", 9 * kMiB), "is longer than");
  expect_text_refused("huge.json", "{\"x\": [" + repeated("0,", 9 * kMiB), "is longer than");
  expect_text_refused("large.xml", "<topology>" + repeated("<a/>", 8 * kMiB - 100) + "</topology>", "tags");
  expect_text_refused("attributes.xml", "<topology " + repeated("a='' ", 8 * kMiB - 100) + "/>", "attributes");
  expect_text_refused("lines.txt", "\tGPU0\tGPU1\n" + repeated("GPU0\tX\tSYS\n", 8 * kMiB - 100), "lines");
  expect_text_refused("text.xml", "<topology>" + repeated("x", 8 * kMiB - 100) + "</topology>", "no object");
  expect_text_refused(
      "mask.xml",
      "<topology><object type='Machine' cpuset='" + repeated("0xaaaaaaaa,", 8 * kMiB - 100) + "0x1'/></topology>",
      "is no set");
}

// A graph of `devices` GPUs below one machine; the last link, if any, leads nowhere.
std::string graph_json(int devices, int links, std::string_view more = "") {
  std::string text = R"({"schema":1,"name":"x","nodes":[{"id":0,"kind":"machine","name":"m","parent":-1,"host":0})";
  for (int i = 1; i <= devices; ++i)
    text += fmt::format(R"(,{{"id":{0},"kind":"gpu","name":"{0:x}","parent":0,"host":0{1}}})", i, more);
  text += R"(],"links":[)";
  for (int i = 1; i <= links; ++i)
    text += fmt::format(R"({}{{"a":0,"b":{},"kind":"pci","bandwidth_gbs":1,"latency_us":1,"source":""}})",
                        i == 1 ? "" : ",", i == links ? 0 : i);
  return text + "]}";
}

TEST_F(BadInput, json_of_8_mib_with_a_schema) {
  const std::size_t most = 8 * kMiB - 200;
  const std::string schema = R"({"schema":1,)";
  expect_text_refused("zeros.json", schema + "\"x\":[" + repeated("0,", most) + "0]}", "lacks \"name\"");
  expect_text_refused("zeros.json", schema + "\"graph\":{\"x\":[" + repeated("0,", most) + "0]}}",
                      "more than 131072 values");
  expect_text_refused("objects.json", schema + "\"graph\":[" + repeated("{\"a\":{}},", most) + "0]}",
                      "more than 131072 values");
  expect_text_refused("facts.json", schema + "\"facts\":[" + repeated("{},", most) + "{}]}",
                      "facts has more than 16384 elements");
  const std::string devices = "{\"devices\":[" + repeated(R"({"bus_id":"","node":""},)", 190'000) + "{}]},";
  expect_text_refused("devices.json", schema + "\"facts\":[" + repeated(devices, most) + "{}]}", "lacks \"bus_id\"");
  const std::string ports = "{\"number\":1},";
  expect_text_refused(
      "ports.json",
      schema + R"("facts":[{"devices":[{"bus_id":"","node":"","ports":[)" + repeated(ports, most) + "0]}]}]}",
      "more than 131072 values");
  expect_text_refused("text.json", schema + "\"name\":\"" + repeated("x", most) + "\"}", "longer than 1048576 bytes");
  expect_text_refused("number.json", schema + "\"name\":" + repeated("1", most) + "}", "longer than 1048576 bytes");
  expect_text_refused("blank.json", schema + repeated("\n", most) + "x", "longer than 1048576 bytes");
  std::string members = schema;
  for (int i = 0; i < 600'000; ++i) members += fmt::format("\"{:x}\":0,", i);
  expect_text_refused("members.json", members + "\"name\":\"\"}", "more than 131072 values");
}

TEST_F(BadInput, json_of_8_mib_that_is_almost_a_graph) {
  expect_text_refused("nodes.json", graph_json(130'000, 0), "130001 nodes have 0 links");
  expect_text_refused("names.json", graph_json(9'000, 9'000, ",\"names\":[" + repeated("\"\",", 600) + "\"\"]"),
                      "further names, too many");
  expect_text_refused("link.json", graph_json(58'000, 58'000), "link 57999 joins 0 and 0");
  const std::string stated = R"({"a":0,"b":1,"class":"PIX"})";
  std::string whole = graph_json(0, 0);
  whole.replace(whole.size() - 1, 1, ",\"stated\":[" + repeated(stated + ",", 8 * kMiB - 300) + stated + "]}");
  expect_text_refused("stated.json", whole, "not two nodes in order");
  // Each element is right, the whole is not: a name, seen last, stands twice.
  std::string twice = graph_json(58'000, 58'000);
  twice.replace(twice.rfind("\"b\":0"), 5, "\"b\":58000");
  twice.replace(twice.rfind("\"name\":\"e290\""), 13, "\"name\":\"1\"");
  expect_text_refused("twice.json", twice, "the name \"1\" occurs twice on host 0");
}

TEST_F(BadInput, a_report_of_1024_hosts_is_read) {
  const std::string report = scratch_.root() + "/report.json";
  const char* folder = std::getenv("WEFT_TEST_BIN");
  ASSERT_EQ(
      std::system(fmt::format("{}/topo-probe --model 'hosts:1024 gpu:8 nvswitch:450 nic:8 ndr packages:2 cores:56' "
                              "--json --output {}",
                              folder != nullptr ? folder : ".", report)
                      .c_str()),
      0);
  EXPECT_GT(std::filesystem::file_size(report), 8 * kMiB);
  const Ended ended = probe(report);
  EXPECT_EQ(ended.exit_code, 0) << ended.complaint;
  std::filesystem::resize_file(report, std::filesystem::file_size(report) - 10);
  expect_refused(report, "not JSON at line");
}

TEST_F(BadInput, more_objects_than_are_read) {
  std::string many = "<topology><object type='Machine' cpuset='0xf'>";
  for (int i = 0; i < 33'000; ++i) many += "<object type='Core' cpuset='0x1'/>";
  expect_text_refused("cores.xml", many + "</object></topology>", "has more than 32768 objects");
  std::string places = "<topology><object type='Machine' cpuset='0xf'>";
  for (int i = 0; i < 1025; ++i) places += "<object type='Package' cpuset='0x1'/>";
  expect_text_refused("packages.xml", places + "</object></topology>", "has more than 1024 packages");
  std::string gpus = "<system version='1'><cpu>";
  for (int i = 0; i < 1025; ++i) gpus += "<pci class='0x030200'><gpu/></pci>";
  expect_text_refused("gpus.xml", gpus + "</cpu></system>", "has more than 1024 GPUs");
}

TEST_F(BadInput, as_much_as_is_read_takes_no_longer) {
  std::string objects = "<topology><object type='Machine' cpuset='0xffffffff'>";
  for (int i = 0; i < 1000; ++i)
    objects += fmt::format("<object type='NUMANode' cpuset='{0:#x}'/><object type='L3Cache' cpuset='{0:#x}'/>", i + 1);
  for (int i = 0; i < 20'000; ++i) objects += "<object type='Core' cpuset='0x1'/>";
  std::string devices = "<topology><object type='Machine' cpuset='0x1'>";
  for (int i = 0; i < 1000; ++i)
    devices += fmt::format(
        "<object type='PCIDev' pci_busid='0000:{:02x}:00.0' pci_type='0302 [10de:2330]'>"
        "<object type='OSDev' osdev_type='1' name='same'/></object>",
        i % 256);
  std::string cpus = "<system version='1'>";
  for (int i = 0; i < 60'000; ++i) cpus += "<cpu numaid='0'/>";
  std::string gpus = "<system version='1'><cpu numaid='0'>";
  for (int i = 0; i < 1000; ++i) gpus += "<pci busid='0000:01:00.0' class='0x030200'><gpu dev='0'/></pci>";
  std::string matrix = "\tGPU0";
  for (int i = 1; i < 500; ++i) matrix += fmt::format("\tGPU{}", i);
  for (int i = 0; i < 500; ++i) matrix += fmt::format("\nGPU{}\tSYS\tPIX\tX\tNV18", i);
  std::string unknown = "<system version='1'>\n";
  for (int i = 0; i < 60'000; ++i) unknown += "<cpu numaid='0'><pci busid='0000:01:00.0'/></cpu>\n";
  std::string places = "\tGPU0";
  for (int i = 1; i < 400; ++i) places += fmt::format("\tGPU{}", i);
  places += "\tCPU Affinity\tNUMA Affinity";
  for (int i = 0; i < 400; ++i) {
    places += fmt::format("\nGPU{}", i);
    for (int other = 0; other < 400; ++other) places += other == i ? "\tX" : "\tSYS";
    places += fmt::format("\t{}", i % 2);
    for (int cpu = 2 + i % 2; cpu < 1000; cpu += 2) places += fmt::format(",{}", cpu);
    places += fmt::format("\t{}", i % 2);
  }
  for (const std::string& file :
       {written("unknown.xml", unknown + "</system>"), written("places.txt", places),
        written("objects.xml", objects + "</object></topology>"),
        written("devices.xml", devices + "</object></topology>"), written("cpus.xml", cpus + "</system>"),
        written("gpus.xml", gpus + "</cpu></system>"), written("matrix.txt", matrix)}) {
    SCOPED_TRACE(file);
    const Ended ended = probe(file);
    EXPECT_EQ(ended.exit_code, 0) << ended.complaint;
    expect_bounded(ended);
    std::printf("%s: %.2f s, %zu MiB\n", file.c_str(), ended.cpu_s, ended.memory / kMiB);
  }
}

TEST_F(BadInput, deep_and_cyclic_files) {
  expect_text_refused("deep.xml", "<topology>" + repeated("<object type='Group'>", kMiB), "");
  expect_text_refused("deep.json", "{\"schema\": 1, \"nodes\": " + std::string(100'000, '['),
                      "nested more than 16 deep");
  expect_text_refused("circle.json",
                      R"({"schema": 1, "name": "x", "nodes": [
                          {"id": 0, "kind": "package", "name": "a", "parent": 1, "host": 0},
                          {"id": 1, "kind": "package", "name": "b", "parent": 0, "host": 0}], "links": []})",
                      "");
}

TEST_F(BadInput, bytes_that_are_no_text) {
  expect_text_refused("latin.xml", "<topology><object name='\xe9'/></topology>", "latin.xml:1: is not UTF-8");
  expect_text_refused("zero.txt", std::string("\tGPU0\tGPU1\nGPU0\tX\0", 18), "zero.txt:2: holds a zero byte");
  expect_text_refused("wide.txt",
                      std::string("\xff\xfe\t\0G\0P\0U\0"
                                  "0\0\n\0",
                                  14),
                      "wide.txt: is UTF-16");
  expect_text_refused("latin.json", "{\"schema\": 1, \"name\": \"\xe9\"}", "not JSON at line 1");
}

TEST_F(BadInput, entities) {
  std::string laughs = "<!DOCTYPE topology [<!ENTITY a0 'ha'>";
  for (int i = 1; i < 30; ++i) laughs += fmt::format("<!ENTITY a{0} '&a{1};&a{1};'>", i, i - 1);
  expect_text_refused("laughs.xml", laughs + "]><topology>&a29;</topology>", "a document type with declarations");
  std::replace(laughs.begin(), laughs.end(), '\0', ' ');
  expect_text_refused("nccl.xml", "<!DOCTYPE system [<!ENTITY a 'b'>]><system>&a;</system>",
                      "a document type with declarations");
}

TEST_F(BadInput, two_dialects_in_one_file) {
  expect_text_refused("two.xml", "<topology><object type='Machine' cpuset='0x1'/></topology>\n<system version='1'/>",
                      "two.xml:2: <system> beside <topology>");
  expect_text_refused("other.xml", "<system version='1'><cpu/></system>\n<topology/>",
                      "other.xml:2: <topology> beside <system>");
}

TEST_F(BadInput, archives) {
  expect_text_refused("cut.tar", TarText().claim("sys/x", 4096).text(), "is no archive, or cut");
  expect_text_refused("large.tar", TarText().claim("sys/x", 100 * kMiB).text(), "more than 48 MiB unpacked");
  expect_text_refused("head.tar.bz2", "BZh91AY&SY", "is no archive, or cut");
  expect_text_refused("head.tar.gz", std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10), "is no archive, or cut");
  expect_text_refused("head.tar.xz",
                      std::string("\xfd"
                                  "7zXZ\0\0\x04",
                                  8),
                      "is no archive, or cut");
  expect_text_refused("none.tar", TarText().file("readme", "x").text(), "holds no recorded tree");
  // Each file is small, all together are not.
  std::filesystem::create_directories(scratch_.root() + "/bomb/sys");
  for (int i = 0; i < 13; ++i) std::filesystem::resize_file(written(fmt::format("bomb/sys/f{}", i), "x"), 4 * kMiB);
  const std::string archive = scratch_.root() + "/bomb.tar.gz";
  ASSERT_EQ(std::system(fmt::format("tar -czf {} -C {}/bomb sys", archive, scratch_.root()).c_str()), 0);
  expect_refused(archive, "more than 48 MiB unpacked");
}

}  // namespace
}  // namespace weft::topology
