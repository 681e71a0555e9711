// ctest: programs
// What libweft.so exports: of C the functions that symbols.txt lists, each in weft.h; of C++ namespace weft; nothing
// else.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "tests/support/process.hpp"

namespace weft::test {
namespace {

using Names = std::set<std::string>;

std::string library() { return std::filesystem::path(program("")).parent_path().parent_path() / "lib" / "libweft.so"; }

// Names that other programs may link against, as nm prints them.
Names exported() {
  const Outcome outcome = run({"nm", "--dynamic", "--defined-only", "--format=just-symbols", library()});
  EXPECT_TRUE(outcome.succeeded()) << outcome.output;
  std::istringstream lines(outcome.output);
  Names names;
  for (std::string line; std::getline(lines, line);) names.insert(line);
  return names;
}

bool is_of_c(const std::string& name) { return !name.starts_with("_Z"); }

// A name in namespace weft, or what the compiler makes of one: see cmake/exports.map.
bool is_of_weft(const std::string& mangled) {
  static const std::regex kPattern("_Z(GV|T[ISVTC]|T[hvc][0-9n_]+(h[0-9n_]+|v[0-9n_]+)*)?Z?N[KVRO]*4weft.*");
  return std::regex_match(mangled, kPattern);
}

Names listed() {
  std::ifstream file("tests/c_api/symbols.txt");
  Names names;
  for (std::string line; std::getline(file, line);) names.insert(line);
  return names;
}

// Names that are called in weft.h: its functions.
Names declared() {
  std::ostringstream text;
  text << std::ifstream("include/weft/weft.h").rdbuf();
  // Without comments, which speak of functions, too.
  const std::string code = std::regex_replace(text.str(), std::regex("/\\*[^*]*\\*+([^/*][^*]*\\*+)*/"), "");
  const std::regex pattern("\\b(weft_[a-z0-9_]+)\\(");
  Names names;
  for (auto found = std::sregex_iterator(code.begin(), code.end(), pattern); found != std::sregex_iterator(); ++found)
    names.insert((*found)[1]);
  return names;
}

Names difference(const Names& from, const Names& without) {
  Names result;
  std::ranges::set_difference(from, without, std::inserter(result, result.end()));
  return result;
}

TEST(Symbols, of_c_are_those_of_the_list) {
  Names of_c;
  std::ranges::copy_if(exported(), std::inserter(of_c, of_c.end()), is_of_c);
  EXPECT_THAT(difference(of_c, listed()), ::testing::IsEmpty()) << "new: add it to tests/c_api/symbols.txt";
  EXPECT_THAT(difference(listed(), of_c), ::testing::IsEmpty()) << "gone: programs need it";
}

TEST(Symbols, of_the_list_are_those_of_the_header) {
  EXPECT_GT(listed().size(), 30u) << "run this in the project's root folder";
  EXPECT_THAT(difference(declared(), listed()), ::testing::IsEmpty());
  EXPECT_THAT(difference(listed(), declared()), ::testing::IsEmpty());
}

TEST(Symbols, of_cpp_lie_in_namespace_weft) {
  Names strangers;
  const Names all = exported();
  for (const std::string& name : all)
    if (!is_of_c(name) && !is_of_weft(name)) strangers.insert(name);
  EXPECT_THAT(strangers, ::testing::IsEmpty());
  EXPECT_TRUE(all.contains("_ZN4weft7versionEv"));
}

TEST(Symbols, of_others_are_told_from_those_of_weft) {
  for (const char* name :
       {"_ZN4weft12CommunicatorC1EOS0_", "_ZNK4weft6Choice9to_stringB5cxx11Ev", "_ZTIN4weft4comm7ControlE",
        "_ZTVN4weft6StatusE", "_ZThn8_N4weft4comm17CommunicatorState5driveEv", "_ZGVZN4weft1fEvE1x", "_ZZN4weft1fEvE1x",
        "_ZNKR4weft1SE"})
    EXPECT_TRUE(is_of_weft(name)) << name;
  for (const char* name : {"_ZNSt6vectorIN4weft9CandidateESaIS1_EED1Ev", "_ZN3fmt2v96formatEv", "_ZTISt9exception",
                           "_ZSt4swapIN4weft6StatusEEvRT_S3_", "_ZN5weft25thingEv", "_ZN8nlohmann4jsonE"})
    EXPECT_FALSE(is_of_weft(name)) << name;
}

}  // namespace
}  // namespace weft::test
