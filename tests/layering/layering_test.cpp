// Reads the #includes of the whole tree and fails on an arrow that points the wrong way:
//
//   include/weft  <-  base  <-  topology  <-  algorithms
//                     base  <-  transports                       comm may include all of these
//
// tools and bench may include internals; parallel, adapters, python and examples see <weft/...> only, like any user;
// tests may include anything. A folder that holds sources and has no rule here is an error too.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/layering/source_tree.hpp"

namespace weft::layering {
namespace {

using Folders = std::set<std::string, std::less<>>;

// Each folder and those that it may include besides itself and include/.
const std::map<std::string, Folders, std::less<>>& rules() {
  static const Folders kInternals = {"base", "topology", "algorithms", "transports", "comm"};
  static const std::map<std::string, Folders, std::less<>> kRules = {
      {"include", {}},          {"base", {}},
      {"topology", {"base"}},   {"algorithms", {"base", "topology"}},
      {"transports", {"base"}}, {"comm", {"base", "topology", "algorithms", "transports"}},
      {"tools", kInternals},    {"bench", kInternals},
      {"parallel", {}},         {"adapters", {}},
      {"python", {}},           {"examples", {}},
  };
  return kRules;
}

std::string top_folder(std::string_view path) { return std::string(path.substr(0, path.find('/'))); }
std::string folder_of(std::string_view path) {
  return std::string(path.substr(0, path.rfind('/') == std::string_view::npos ? 0 : path.rfind('/')));
}

// The file of the tree that an include names, as the compiler finds it; empty if it is not of the tree.
std::string resolve(const SourceFile& from, const Include& include, const std::set<std::string>& paths) {
  const std::string name(include.name);
  if (!include.angled && paths.contains(folder_of(from.path) + "/" + name)) return folder_of(from.path) + "/" + name;
  if (paths.contains("include/" + name)) return "include/" + name;
  return paths.contains(name) ? name : "";
}

// C++'s own headers have neither a dot nor a slash; of C's, a public header may need two.
bool is_standard(std::string_view name) {
  return name.find_first_of("./") == std::string_view::npos || name == "stddef.h" || name == "stdint.h";
}

std::string judge(const SourceFile& from, const Include& include, const std::set<std::string>& paths) {
  const std::string folder = top_folder(from.path);
  const std::string target = resolve(from, include, paths);
  if (target.empty()) {
    if (!include.angled) return "is nowhere in the tree";
    if (include.name.starts_with("weft/")) return "is not a public header";
    if (folder == "include" && !is_standard(include.name))
      return "is neither public nor of the standard library, and users would need it";
    return "";
  }
  const std::string target_folder = top_folder(target);
  if (target_folder == folder || target_folder == "include") return "";
  if (rules().at(folder).contains(target_folder)) return "";
  return folder + " may not include " + target_folder;
}

// One line for each wrong arrow and each folder without a rule.
std::vector<std::string> violations(const std::vector<SourceFile>& files) {
  std::set<std::string> paths;
  for (const SourceFile& file : files) paths.insert(file.path);
  std::set<std::string> unruled;
  std::vector<std::string> found;
  for (const SourceFile& file : files) {
    const std::string folder = top_folder(file.path);
    if (folder == "tests") continue;
    if (!rules().contains(folder)) {
      if (unruled.insert(folder).second) found.push_back(folder + " has no rule in tests/layering/layering_test.cpp");
      continue;
    }
    for (const Include& include : includes_of(file))
      if (const std::string verdict = judge(file, include, paths); !verdict.empty())
        found.push_back(file.path + ":" + std::to_string(include.line) + ": " + std::string(include.name) + ": " +
                        verdict);
  }
  return found;
}

TEST(Layering, every_arrow_of_the_tree_points_the_right_way) {
  const std::vector<SourceFile> files = read_tree(".", is_source);
  std::size_t includes = 0;
  for (const SourceFile& file : files) includes += includes_of(file).size();
  EXPECT_GT(includes, 100u) << "run this in the project's root folder";
  for (const std::string& violation : violations(files)) ADD_FAILURE() << violation;
}

TEST(Layering, every_folder_of_the_architecture_is_ruled_and_rules_name_folders) {
  for (const auto& [folder, allowed] : rules())
    for (const std::string& target : allowed) EXPECT_TRUE(rules().contains(target)) << folder << " -> " << target;
}

// The test of the test: a tree that is right, and one wrong line at a time.
std::vector<SourceFile> small_tree() {
  return {
      {"include/weft/types.hpp", "// x\n#pragma once\n#include <cstdint>\n"},
      {"include/weft/weft.hpp", "#include \"weft/types.hpp\"\n#include <weft/types.hpp>\n#include <stdint.h>\n"},
      {"base/log.hpp", "#include <spdlog/spdlog.h>\n#include \"weft/types.hpp\"\n"},
      {"topology/paths.cpp", "#include \"base/log.hpp\"\n#include \"topology/paths.hpp\"\n"},
      {"topology/paths.hpp", ""},
      {"algorithms/cost.hpp", "#include \"topology/paths.hpp\"\n"},
      {"transports/shm.hpp", "  #  include \"base/log.hpp\"\n"},
      {"comm/engine.cpp", "#include \"transports/shm.hpp\"\n#include \"algorithms/cost.hpp\"\n"},
      {"comm/kernels/near.cpp", "#include \"far.hpp\"\n"},
      {"comm/kernels/far.hpp", ""},
      {"tools/probe/main.cpp", "#include \"topology/paths.hpp\"\n#include \"output.hpp\"\n"},
      {"tools/probe/output.hpp", ""},
      {"parallel/mesh.cpp", "#include <weft/weft.hpp>\n"},
      {"tests/comm/engine_test.cpp", "#include \"comm/anything.hpp\"\n"},
  };
}

std::vector<std::string> violations_with(const std::string& path, const std::string& text) {
  std::vector<SourceFile> files = small_tree();
  files.push_back({path, text});
  return violations(files);
}

TEST(LayeringRules, accept_a_tree_that_is_right) { EXPECT_EQ(violations(small_tree()), std::vector<std::string>()); }

TEST(LayeringRules, refuse_each_wrong_arrow) {
  const std::pair<const char*, const char*> wrong[] = {
      {"algorithms/ring.cpp", "#include \"transports/shm.hpp\"\n"},
      {"transports/ucx.cpp", "#include \"algorithms/cost.hpp\"\n"},
      {"transports/ucx.cpp", "#include \"topology/paths.hpp\"\n"},
      {"base/log.cpp", "#include \"topology/paths.hpp\"\n"},
      {"topology/search.cpp", "#include \"algorithms/cost.hpp\"\n"},
      {"algorithms/ring.cpp", "#include <comm/kernels/far.hpp>\n"},
      {"algorithms/ring.cpp", "#include \"../transports/shm.hpp\"\n"},
      {"parallel/data.cpp", "#include \"base/log.hpp\"\n"},
      {"examples/hello.cpp", "#include \"comm/kernels/far.hpp\"\n"},
      {"tools/bench/main.cpp", "#include \"parallel/mesh.hpp\"\n"},
      {"include/weft/graph.hpp", "#include \"base/log.hpp\"\n"},
      {"include/weft/graph.hpp", "#include <fmt/format.h>\n"},
      {"comm/engine.hpp", "#include <weft/no_such.hpp>\n"},
      {"comm/engine.hpp", "#include \"transports/no_such.hpp\"\n"},
  };
  for (const auto& [path, text] : wrong) EXPECT_EQ(violations_with(path, text).size(), 1u) << path << ": " << text;
}

TEST(LayeringRules, name_the_file_the_line_and_the_arrow) {
  EXPECT_EQ(
      violations_with("algorithms/ring.cpp", "// Ring.\n\n#include \"transports/shm.hpp\"\n"),
      std::vector<std::string>{"algorithms/ring.cpp:3: transports/shm.hpp: algorithms may not include transports"});
}

TEST(LayeringRules, refuse_a_folder_without_a_rule_once) {
  EXPECT_EQ(violations_with("helpers/misc.cpp", "#include <vector>\n"),
            std::vector<std::string>{"helpers has no rule in tests/layering/layering_test.cpp"});
}

TEST(LayeringRules, ignore_what_only_looks_like_an_include) {
  EXPECT_TRUE(
      violations_with("base/a.cpp", "// #include \"comm/engine.cpp\"\nconst char* x = \"#include\";\n").empty());
}

}  // namespace
}  // namespace weft::layering
