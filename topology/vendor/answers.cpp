// JSON of weft-vendor: every member has a type and a range.
#include "topology/vendor/answers.hpp"

#include "base/json_reader.hpp"
#include "topology/text.hpp"

namespace weft::topology {
namespace {

using base::JsonDocument;
using base::JsonObject;
using base::JsonValue;

constexpr std::size_t kMaxGpus = 64;
constexpr std::size_t kMaxLinks = 64;
constexpr std::size_t kMaxDevices = 256;
constexpr std::size_t kMaxPorts = 16;
constexpr std::size_t kMaxText = 256;
constexpr int kMostNumber = 1 << 30;

Status read_text(const JsonValue& value, std::string& text) {
  WEFT_TRY(value.read(text));
  if (text.size() > kMaxText) return value.wrong("is too long");
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  return {};
}

Status read_bus_id(const JsonValue& value, std::string& bus_id) {
  WEFT_TRY(value.read(bus_id));
  return is_bus_id(bus_id) ? Status() : value.wrong("is no bus id");
}

// Members that may be missing, each with the name of its field.
class Members {
 public:
  explicit Members(JsonObject& object) : object_(object) {}

  void text(std::string_view name, std::optional<std::string>& target) {
    object_.optional_by(name, [&](const JsonValue& value) { return read_text(value, target.emplace()); });
  }
  void bus_id(std::string_view name, std::optional<std::string>& target) {
    object_.optional_by(name, [&](const JsonValue& value) { return read_bus_id(value, target.emplace()); });
  }
  void number(std::string_view name, std::optional<int>& target, int most = kMostNumber) {
    object_.optional_by(name, [&](const JsonValue& value) { return value.read(target.emplace(), 0, most); });
  }
  template <typename T, typename Read>
  void list(std::string_view name, std::vector<T>& target, std::size_t most, Read read) {
    object_.optional_by(name, [&](const JsonValue& value) {
      return value.read_list(most, [&](const JsonValue& one) { return read(one, target.emplace_back()); });
    });
  }

 private:
  JsonObject& object_;
};

Status read_kind(const JsonValue& value, std::string& kind) {
  WEFT_TRY(value.read(kind));
  return kind == "gpu" || kind == "cpu" || kind == "switch" ? Status() : value.wrong("is no kind of remote device");
}

Status read_link(const JsonValue& value, NvmlLink& link) {
  JsonObject object(value);
  Members members(object);
  object.required("index", link.index, 0, static_cast<int>(kMaxLinks) - 1);
  object.required("active", link.active);
  members.number("version", link.version, 64);
  members.number("mbs", link.mbs);
  object.optional_by("remote_kind", [&](const JsonValue& kind) { return read_kind(kind, link.remote_kind.emplace()); });
  members.bus_id("remote_bus_id", link.remote_bus_id);
  return object.finish();
}

Status read_c2c(const JsonValue& value, NvmlC2c& c2c) {
  JsonObject object(value);
  object.required("count", c2c.count, 0, static_cast<int>(kMaxLinks));
  Members(object).number("mbs", c2c.mbs);
  return object.finish();
}

Status read_gpu(const JsonValue& value, NvmlGpu& gpu) {
  constexpr int kMostWidth = 32;
  constexpr int kMostGeneration = 16;
  JsonObject object(value);
  Members members(object);
  object.required("index", gpu.index, 0, static_cast<int>(kMaxGpus) - 1);
  members.text("error", gpu.error);
  members.bus_id("bus_id", gpu.bus_id);
  members.text("uuid", gpu.uuid);
  members.text("name", gpu.name);
  members.text("serial", gpu.serial);
  members.number("sm", gpu.sm, 10'000);
  members.number("pcie_generation", gpu.pcie_generation, kMostGeneration);
  members.number("pcie_width", gpu.pcie_width, kMostWidth);
  members.number("max_pcie_generation", gpu.max_pcie_generation, kMostGeneration);
  members.number("max_pcie_width", gpu.max_pcie_width, kMostWidth);
  members.number("power_state", gpu.power_state, 255);
  members.number("clock_mhz", gpu.clock_mhz);
  members.number("max_clock_mhz", gpu.max_clock_mhz);
  members.number("fabric_state", gpu.fabric_state, 255);
  members.list("nvlinks", gpu.nvlinks, kMaxLinks, read_link);
  object.optional_by("c2c", [&](const JsonValue& c2c) { return read_c2c(c2c, gpu.c2c.emplace()); });
  return object.finish();
}

Status read_port(const JsonValue& value, VerbsPort& port) {
  JsonObject object(value);
  object.required("number", port.number, 1, static_cast<int>(kMaxPorts));
  object.required("state", port.state);
  object.required("active_mtu", port.active_mtu);
  object.required("max_mtu", port.max_mtu);
  return object.finish();
}

Status read_device(const JsonValue& value, VerbsAnswer::Device& device) {
  JsonObject object(value);
  Members members(object);
  object.required_by("name", [&](const JsonValue& name) { return read_text(name, device.name); });
  members.text("error", device.error);
  members.list("ports", device.ports, kMaxPorts, read_port);
  return object.finish();
}

Status read_library(const JsonValue& value, std::string_view wanted) {
  std::string library;
  WEFT_TRY(value.read(library));
  return library == wanted ? Status() : value.wrong("is another library");
}

}  // namespace

Result<NvmlAnswer> read_nvml_answer(std::string_view json) {
  WEFT_TRY_ASSIGN(const JsonDocument document, JsonDocument::parse("answer of NVML", json));
  NvmlAnswer answer;
  JsonObject object(document.root());
  Members members(object);
  object.required_by("library", [](const JsonValue& value) { return read_library(value, "nvml"); });
  members.text("error", answer.error);
  members.text("driver", answer.driver);
  members.list("gpus", answer.gpus, kMaxGpus, read_gpu);
  WEFT_TRY(object.finish());
  return answer;
}

Result<VerbsAnswer> read_verbs_answer(std::string_view json) {
  WEFT_TRY_ASSIGN(const JsonDocument document, JsonDocument::parse("answer of libibverbs", json));
  VerbsAnswer answer;
  JsonObject object(document.root());
  Members members(object);
  object.required_by("library", [](const JsonValue& value) { return read_library(value, "verbs"); });
  members.text("error", answer.error);
  members.list("devices", answer.devices, kMaxDevices, read_device);
  WEFT_TRY(object.finish());
  return answer;
}

}  // namespace weft::topology
