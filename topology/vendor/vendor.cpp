// Who is asked, and what becomes of the answers.
#include "topology/vendor/vendor.hpp"

#include <fmt/format.h>

#include <span>
#include <string_view>
#include <utility>

#include "topology/vendor/answers.hpp"
#include "topology/vendor/merge.hpp"

namespace weft::topology {
namespace {

bool holds_names(const Tree& tree, const std::string& folder) {
  const std::optional<std::vector<std::string>> names = tree.list(folder);
  return names && !names->empty();
}

// Where the loader would find the first of these that is there; empty if nowhere.
std::string find_library(const FactsSource& source, std::span<const std::string_view> names) {
  std::vector<std::string> folders = library_folders(source);
  folders.emplace_back("opt/rocm/lib");
  for (const std::string_view name : names)
    for (const std::string& folder : folders)
      if (const std::string file = fmt::format("{}/{}", folder, name); source.tree.exists(file)) return "/" + file;
  return {};
}

// The variable's value if it is set. Else the library's file, if this is the live machine and it has such devices.
std::string library_for(const FactsSource& source, std::string_view variable, std::span<const std::string_view> names,
                        const std::string& devices) {
  const base::Environment environment = base::Environment::of_process();
  if (const auto given = environment.get(variable)) return std::string(*given);
  if (!source.tree.live() || !holds_names(source.tree, devices)) return {};
  return find_library(source, names);
}

Remark gave_up(const std::string& name, const Status& why, int timeout_ms) {
  if (why.code() == Code::Timeout)
    return {RemarkKind::GaveUp, name,
            fmt::format("no answer within {} ms; what only it knows is left out", timeout_ms)};
  return {RemarkKind::GaveUp, name, std::string(why.message())};
}

template <typename Answer>
void add(const std::string& name, const Result<Answer>& answer, void (*merge)(const Answer&, Survey&), Survey& survey) {
  if (!answer) {
    survey.remarks.push_back({RemarkKind::GaveUp, name, std::string(answer.error().message())});
    return;
  }
  if (answer->error) survey.remarks.push_back({RemarkKind::Unreadable, name, *answer->error});
  merge(*answer, survey);
}

}  // namespace

VendorLibraries find_vendor_libraries(const FactsSource& source) {
  constexpr std::string_view kNvml[] = {"libnvidia-ml.so.1"};
  constexpr std::string_view kVerbs[] = {"libibverbs.so.1"};
  constexpr std::string_view kCuda[] = {"libcuda.so.1"};
  constexpr std::string_view kHip[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"};
  constexpr const char* kNvidiaGpus = "proc/driver/nvidia/gpus";
  return {library_for(source, "WEFT_TEST_NVML_LIBRARY", kNvml, kNvidiaGpus),
          library_for(source, "WEFT_TEST_VERBS_LIBRARY", kVerbs, "sys/class/infiniband"),
          library_for(source, "WEFT_TEST_CUDA_LIBRARY", kCuda, kNvidiaGpus),
          library_for(source, "WEFT_TEST_HIP_LIBRARY", kHip, "sys/class/kfd")};
}

VendorQuery::VendorQuery(const VendorLibraries& libraries, const std::string& program, int timeout_ms)
    : timeout_ms_(timeout_ms), deadline_(base::Deadline::after_ms(timeout_ms)) {
  ask("nvml", "NVML", libraries.nvml, program);
  ask("verbs", "libibverbs", libraries.verbs, program);
}

void VendorQuery::ask(const std::string& library, const std::string& name, const std::string& path,
                      const std::string& program) {
  if (path.empty()) return;
  if (program.empty())
    asked_.push_back({library, name,
                      Status(Code::NotFound,
                             "cannot be asked: there is no libexec/weft/weft-vendor beside libweft; "
                             "install Weft as a whole")});
  else
    asked_.push_back({library, name, Helper::start(program, {library, path})});
}

void VendorQuery::finish(Survey& survey) {
  for (Asked& asked : asked_) {
    Result<std::string> text = asked.helper ? asked.helper->answer(deadline_) : asked.helper.error();
    if (!text) {
      survey.remarks.push_back(gave_up(asked.name, text.error(), timeout_ms_));
      continue;
    }
    if (asked.library == "nvml")
      add(asked.name, read_nvml_answer(*text), merge_nvml, survey);
    else
      add(asked.name, read_verbs_answer(*text), merge_verbs, survey);
  }
  asked_.clear();
}

}  // namespace weft::topology
