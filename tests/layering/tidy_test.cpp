// What a formatter does not see: no tabs or trailing blanks, no file that has grown too long, a comment at the top of
// every file, no notes to self, no path of somebody's machine.
#include <gtest/gtest.h>

#include <cctype>

#include "tests/layering/source_tree.hpp"

namespace weft::layering {
namespace {

constexpr std::size_t kMaxLines = 700;

// Written apart, so that this file passes its own test.
constexpr std::string_view kNotesToSelf[] = {
    "TO"
    "DO",
    "FIX"
    "ME",
    "XX"
    "X"};
constexpr std::string_view kPrivatePaths[] = {
    "/ho"
    "me/",
    "/ro"
    "ot/",
    "/Use"
    "rs/",
    "/wo"
    "rk/"};

bool is_word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// As a word of its own: mkstemp's template is not a note to self.
bool has_word(std::string_view line, std::string_view word) {
  for (std::size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const bool starts = at == 0 || !is_word_character(line[at - 1]);
    const bool ends = at + word.size() == line.size() || !is_word_character(line[at + word.size()]);
    if (starts && ends) return true;
  }
  return false;
}

// At the start of a path: "docs/home/" is none.
bool has_private_path(std::string_view line, std::string_view path) {
  for (std::size_t at = line.find(path); at != std::string_view::npos; at = line.find(path, at + 1))
    if (at == 0 || (!is_word_character(line[at - 1]) && line[at - 1] != '.' && line[at - 1] != '}')) return true;
  return false;
}

// A reader may stop after the first lines of any file, and knows what it is for.
bool says_what_it_is_for(const SourceFile& file) { return file.text.starts_with("//") || file.text.starts_with("/*"); }

void check_line(std::string_view line, bool source, const std::string& where, std::vector<std::string>& found) {
  if (source && line.find('\t') != std::string_view::npos) found.push_back(where + "tab");
  if (source && !line.empty() && (line.back() == ' ' || line.back() == '\r')) found.push_back(where + "trailing blank");
  for (const std::string_view word : kNotesToSelf)
    if (has_word(line, word)) found.push_back(where + std::string(word));
  for (const std::string_view path : kPrivatePaths)
    if (has_private_path(line, path)) found.push_back(where + "a path of one machine");
}

std::vector<std::string> untidiness(const SourceFile& file) {
  std::vector<std::string> found;
  const bool source = is_source(file.path);
  const std::vector<std::string_view> lines = lines_of(file.text);
  for (std::size_t i = 0; i < lines.size(); ++i)
    check_line(lines[i], source, file.path + ":" + std::to_string(i + 1) + ": ", found);
  if (!source) return found;
  if (lines.size() > kMaxLines)
    found.push_back(file.path + ": " + std::to_string(lines.size()) + " lines: cut it in two");
  if (!says_what_it_is_for(file)) found.push_back(file.path + ": no comment at the top that says what it is for");
  if (!file.text.empty() && file.text.back() != '\n') found.push_back(file.path + ": last line does not end");
  return found;
}

TEST(Tidy, every_file_of_the_tree_is_tidy) {
  const std::vector<SourceFile> files = read_tree(".", is_text);
  EXPECT_GT(files.size(), 50u) << "run this in the project's root folder";
  for (const SourceFile& file : files)
    for (const std::string& what : untidiness(file)) ADD_FAILURE() << what;
}

TEST(TidyRules, accept_a_tidy_file) {
  EXPECT_TRUE(untidiness({"base/a.cpp", "// What a is for.\n#include \"base/a.hpp\"\n"}).empty());
  EXPECT_TRUE(untidiness({"docs/a.md", "text with two blanks at its end  \n\tand a tab\n"}).empty());
}

TEST(TidyRules, refuse_each_untidiness) {
  const std::string top = "// What a is for.\n";
  const std::string wrong[] = {
      top + "int\ta;\n",
      top + "int a; \n",
      top + "int a;\r\n",
      top + "int a;",
      top + "// " + std::string(kNotesToSelf[0]) + ": more\n",
      top + "// (" + std::string(kNotesToSelf[2]) + ")\n",
      top + "// see " + std::string(kPrivatePaths[0]) + "someone/notes\n",
      top + std::string(kMaxLines, '\n'),
      "#pragma once\n",
      "\n" + top,
      "#include <vector>\n",
      "#include \"base/a.hpp\"\n",
  };
  for (const std::string& text : wrong) EXPECT_EQ(untidiness({"base/a.cpp", text}).size(), 1u) << text.substr(0, 80);
  EXPECT_EQ(untidiness({"base/a.hpp", "#include \"base/a.hpp\"\n"}).size(), 1u) << "a header must say it itself";
}

TEST(TidyRules, know_words_and_paths_from_parts_of_them) {
  const std::string top = "// What a is for.\n";
  EXPECT_TRUE(untidiness({"base/a.cpp", top + "// /tmp/a-" + std::string(6, 'X') + "\n"}).empty());
  EXPECT_TRUE(untidiness({"base/a.cpp", top + "// docs" + std::string(kPrivatePaths[0]) + "\n"}).empty());
  EXPECT_TRUE(untidiness({"base/a.cpp", top + "// " + std::string(kNotesToSelf[0]) + "S\n"}).empty());
}

}  // namespace
}  // namespace weft::layering
