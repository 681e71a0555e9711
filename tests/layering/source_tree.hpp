// The project's own files as text: what layering_test and tidy_test read. Tests run in the project's root folder.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace weft::layering {

struct SourceFile {
  std::string path;  // from the root, with slashes
  std::string text;
};

inline bool is_source(const std::filesystem::path& path) {
  constexpr std::string_view kExtensions[] = {".hpp", ".cpp", ".h", ".c", ".hh", ".cc", ".cu", ".cuh", ".inc"};
  return std::ranges::find(kExtensions, path.extension().string()) != std::end(kExtensions);
}

inline bool is_hidden(const std::filesystem::path& path) { return path.filename().string().starts_with("."); }

inline bool is_text(const std::filesystem::path& path) {
  constexpr std::string_view kExtensions[] = {".cmake", ".txt", ".md", ".py",   ".json", ".in",
                                              ".toml",  ".yml", ".sh", ".bash", ""};
  return is_source(path) || std::ranges::find(kExtensions, path.extension().string()) != std::end(kExtensions);
}

// Build trees, caches and whatever is hidden are not part of the project.
inline bool is_foreign(const std::filesystem::path& folder) {
  const std::string name = folder.filename().string();
  return is_hidden(folder) || name.starts_with("build") || name == "__pycache__" ||
         std::filesystem::exists(folder / "CMakeCache.txt");
}

// All files below `root` that `wanted` accepts, sorted by path. Symbolic links are not followed.
inline std::vector<SourceFile> read_tree(const std::filesystem::path& root,
                                         bool (*wanted)(const std::filesystem::path&)) {
  std::vector<SourceFile> files;
  for (auto entry = std::filesystem::recursive_directory_iterator(root); entry != std::filesystem::end(entry);
       ++entry) {
    if (entry->is_symlink()) continue;
    if (entry->is_directory() && is_foreign(entry->path())) entry.disable_recursion_pending();
    if (!entry->is_regular_file() || is_hidden(entry->path()) || !wanted(entry->path())) continue;
    std::ostringstream text;
    text << std::ifstream(entry->path(), std::ios::binary).rdbuf();
    files.push_back({std::filesystem::relative(entry->path(), root).generic_string(), text.str()});
  }
  std::ranges::sort(files, {}, &SourceFile::path);
  return files;
}

inline std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

inline std::string_view without_leading_blanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text;
}

struct Include {
  std::string_view name;
  bool angled = false;  // <name>, not "name"
  int line = 0;
};

inline std::vector<Include> includes_of(const SourceFile& file) {
  std::vector<Include> includes;
  int number = 0;
  for (std::string_view line : lines_of(file.text)) {
    ++number;
    line = without_leading_blanks(line);
    if (!line.starts_with('#')) continue;
    line = without_leading_blanks(line.substr(1));
    if (!line.starts_with("include")) continue;
    line = without_leading_blanks(line.substr(7));
    if (line.empty() || (line[0] != '<' && line[0] != '"')) continue;
    const std::size_t end = line.find(line[0] == '<' ? '>' : '"', 1);
    if (end != std::string_view::npos) includes.push_back({line.substr(1, end - 1), line[0] == '<', number});
  }
  return includes;
}

}  // namespace weft::layering
