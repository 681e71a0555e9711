// Finds the tree in a folder or an archive.
#include "topology/record/tree.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <utility>
#include <vector>

#include "base/plural.hpp"
#include "base/shortage.hpp"
#include "topology/read_file.hpp"
#include "topology/record/unpack.hpp"

namespace weft::topology {
namespace {

bool is_folder(const std::string& path) {
  struct stat about;
  return ::lstat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode);
}

std::vector<std::string> trees_below(const std::string& folder) {
  std::vector<std::string> found;
  for (const std::string& below : list_folder(folder))
    if (is_folder(folder + "/" + below) && is_folder(folder + "/" + below + "/sys")) found.push_back(below);
  return found;
}

// The folder that holds sys/: this one, or the only one in it that does.
Result<std::string> find_root(const std::string& folder, const std::string& name) {
  WEFT_TRY(base::check_spare());
  if (is_folder(folder + "/sys")) return folder;
  const std::vector<std::string> found = trees_below(folder);
  if (found.size() == 1) return folder + "/" + found.front();
  return Status(Code::NotFound,
                fmt::format("{}: holds {}; give a tree with sys/ and proc/ in it", name,
                            found.empty() ? "no recorded tree" : base::plural(found.size(), "recorded tree")));
}

// What was unpacked is known by the archive's name: the folder's own changes each time, and is gone when it is read.
std::string by_archive(std::string text, const std::string& folder, const std::string& path) {
  for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder, at + path.size()))
    text.replace(at, folder.size(), path);
  return text;
}

// "FILE: reason", also where the message begins with the name of the file, or of one in it.
std::string behind_name(const std::string& message, const std::string& path) {
  const bool names_file_inside = message.starts_with(path + "/") || message.starts_with(path + ":");
  if (names_file_inside) return message;
  return fmt::format("{}: {}", path, message.starts_with(path + " ") ? message.substr(path.size() + 1) : message);
}

}  // namespace

bool holds_tree(const std::string& folder) { return is_folder(folder + "/sys") || !trees_below(folder).empty(); }

Result<Survey> survey_tree(const std::string& folder) {
  WEFT_TRY_ASSIGN(const std::string root, find_root(folder, folder));
  return survey(ProbeOptions{root});
}

Result<Survey> survey_archive(const std::string& path, std::optional<std::string_view> bytes) {
  WEFT_TRY_ASSIGN(const UnpackedArchive unpacked, UnpackedArchive::unpack(path, bytes));
  WEFT_TRY_ASSIGN(const std::string root, find_root(unpacked.folder(), path));
  Result<Survey> survey = topology::survey(ProbeOptions{root});
  if (!survey)
    return Status(survey.error().code(),
                  behind_name(by_archive(std::string(survey.error().message()), unpacked.folder(), path), path));
  for (Remark& remark : survey->remarks) {
    remark.subject = by_archive(std::move(remark.subject), unpacked.folder(), path);
    remark.evidence = by_archive(std::move(remark.evidence), unpacked.folder(), path);
  }
  if (unpacked.left_out() > 0)
    survey->remarks.push_back(
        {RemarkKind::Unreadable, path,
         fmt::format("not followed: {} out of the tree", base::plural(unpacked.left_out(), "link"))});
  return survey;
}

}  // namespace weft::topology
