// Each type has one definition: two headers of one library that give different types one name are no error to compiler
// and linker, but what is not inlined then destroys the one as if it were the other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/layering/source_tree.hpp"

namespace weft::layering {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// "VerbsDevice" of "struct VerbsDevice {" at the start of a line, "Logger::Sink" of "class Logger::Sink final {"; empty
// if the line defines no type of a namespace.
std::string type_of(std::string_view line) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:";
  for (std::string_view word : {"struct ", "class ", "union ", "enum class "}) {
    if (!line.starts_with(word) || line.find('{') == std::string_view::npos) continue;
    std::string_view rest = line.substr(word.size());
    if (rest.starts_with("alignas(")) rest.remove_prefix(std::min(rest.find(") "), rest.size() - 2) + 2);
    const std::size_t end = std::min(rest.find_first_not_of(kLetters), rest.size());
    if (end < rest.size() && rest[end] == '<') return {};  // a specialisation
    return std::string(rest.substr(0, end));
  }
  return {};
}

// By full name the files that define it. What is in an unnamed namespace is of its file alone.
using Definitions = std::map<std::string, std::set<std::string>>;

void add_definitions(const SourceFile& file, Definitions& definitions) {
  std::vector<std::string> spaces;
  for (std::string_view line : lines_of(file.text)) {
    if (line.starts_with("namespace ") && line.ends_with('{')) {
      std::string name(line.substr(10, line.size() - 11));
      name.erase(name.find_last_not_of(' ') + 1);
      spaces.push_back(name);
    } else if (line.starts_with("}  // namespace") && !spaces.empty()) {
      spaces.pop_back();
    } else if (const std::string type = type_of(line);
               !type.empty() && std::find(spaces.begin(), spaces.end(), "") == spaces.end()) {
      std::string name;
      for (const std::string& space : spaces) name += space + "::";
      definitions[name + type].insert(file.path);
    }
  }
}

std::vector<std::string> defined_twice(const std::vector<SourceFile>& files) {
  Definitions definitions;
  for (const SourceFile& file : files)
    if (!file.path.starts_with("tests/")) add_definitions(file, definitions);
  std::vector<std::string> twice;
  for (const auto& [name, paths] : definitions) {
    if (paths.size() < 2) continue;
    std::string line = name + " is defined in";
    for (const std::string& path : paths) line += " " + path;
    twice.push_back(line);
  }
  return twice;
}

TEST(OneDefinition, each_type_of_the_tree_has_one) {
  const std::vector<SourceFile> files = read_tree(".", is_source);
  Definitions definitions;
  for (const SourceFile& file : files) add_definitions(file, definitions);
  EXPECT_GT(definitions.size(), 100u) << "run this in the project's root folder";
  for (const std::string& line : defined_twice(files)) ADD_FAILURE() << line;
}

TEST(OneDefinition, two_of_one_name_are_found) {
  const std::string one = "namespace weft::topology {\nstruct Device {\n};\n}  // namespace weft::topology\n";
  EXPECT_THAT(defined_twice({{"topology/a.hpp", one}, {"topology/b.hpp", one}}),
              ElementsAre("weft::topology::Device is defined in topology/a.hpp topology/b.hpp"));
  const std::string other = "namespace weft::comm {\nclass Device final {\n};\n}  // namespace weft::comm\n";
  const std::string own = "namespace weft::topology {\nnamespace {\nstruct Device {\n};\n}  // namespace\n";
  const std::string declared = "namespace weft::topology {\nstruct Device;\n";
  EXPECT_THAT(defined_twice({{"a.hpp", one}, {"b.hpp", other}, {"c.cpp", own}, {"d.hpp", declared}}), IsEmpty());
}

}  // namespace
}  // namespace weft::layering
