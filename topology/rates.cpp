// Nominal rates: the tables that need a search.
#include "topology/rates.hpp"

#include <cmath>
#include <utility>

namespace weft::topology::rates {
namespace {

constexpr double kLaneGbs[kPciGenerations] = {
    2.5 * 8 / 10 / 8,     5.0 * 8 / 10 / 8,     8.0 * 128 / 130 / 8,
    16.0 * 128 / 130 / 8, 32.0 * 128 / 130 / 8, 64.0 * 242 / 256 / 8,
};

struct SocketRate {
  std::string_view part;  // of the CPU's own name
  double gbs;
};

// First match wins. Xeon numbers: x4xx Sapphire Rapids, x5xx Emerald Rapids, x1xx..x3xx Skylake to Ice Lake, "v3"/"v4"
// Haswell and Broadwell.
constexpr SocketRate kSockets[] = {
    {"EPYC", 16},        {"AMD", 16},     {"Platinum 84", 22}, {"Gold 64", 22},   {"Gold 54", 22}, {"Silver 44", 22},
    {"Platinum 85", 40}, {"Gold 65", 40}, {"Gold 55", 40},     {"Silver 45", 40}, {"v3", 6},       {"v4", 6},
    {"Intel", 10},       {"POWER", 32},   {"Neoverse", 6},     {"Zhaoxin", 6},
};

constexpr std::pair<std::string_view, Rate> kNetwork[] = {
    {"edr", {12.5, kFabricLatencyUs}}, {"hdr", {25, kFabricLatencyUs}},       {"ndr", {50, kFabricLatencyUs}},
    {"xdr", {100, kFabricLatencyUs}},  {"efa100", {12.5, kEfaLatencyUs}},     {"efa200", {25, kEfaLatencyUs}},
    {"efa400", {50, kEfaLatencyUs}},   {"slingshot", {25, kFabricLatencyUs}},
};

}  // namespace

std::optional<double> pci_lane_gbs(double gts) {
  std::optional<double> found;
  for (int i = 0; i < kPciGenerations; ++i)
    if (gts >= kPciGts[i] - 0.01) found = kLaneGbs[i];
  return found;
}

std::optional<double> pci_gbs(double gts, int width) {
  const std::optional<double> lane = pci_lane_gbs(gts);
  if (!lane || width <= 0) return std::nullopt;
  return *lane * width;
}

std::optional<double> pci_gts_of(double gbs, int width) {
  for (int i = 0; i < kPciGenerations; ++i)
    if (width > 0 && std::abs(kLaneGbs[i] * width - gbs) < 0.02 * gbs) return kPciGts[i];
  return std::nullopt;
}

double socket_gbs(std::string_view cpu_model) {
  for (const SocketRate& socket : kSockets)
    if (cpu_model.find(socket.part) != std::string_view::npos) return socket.gbs;
  return kSocketUnknownGbs;
}

double socket_gbs(std::string_view vendor, int model) {
  constexpr int kEmeraldRapids = 207;
  constexpr int kSapphireRapids = 143;
  constexpr int kSkylakeServer = 85;
  if (vendor != "GenuineIntel") return socket_gbs(vendor);
  if (model >= kEmeraldRapids) return socket_gbs("Platinum 85");
  if (model >= kSapphireRapids) return socket_gbs("Platinum 84");
  return socket_gbs(model >= kSkylakeServer ? "Intel" : "v4");
}

double nvlink_gbs(std::optional<int> sm) {
  if (!sm) return 25;
  if (*sm < 70) return 20;
  if (*sm == 86) return 14.0625;
  return *sm < 100 ? 25 : 50;
}

std::optional<double> xgmi_gbs(std::string_view gcn) {
  constexpr std::pair<std::string_view, double> kByName[] = {
      {"910", 50}, {"gfx90a", 50}, {"gfx942", 64}, {"gfx950", 76.8}};
  for (const auto& [name, gbs] : kByName)
    if (gcn == name) return gbs;
  return std::nullopt;
}

int nvlink_count(double gbs) {
  constexpr int kMostLinks = 18;
  for (double one : {25.0, 20.0, 50.0}) {
    const double links = gbs / one;
    if (links >= 1 && links <= kMostLinks && std::abs(links - std::round(links)) < 0.01)
      return static_cast<int>(std::lround(links));
  }
  return 1;
}

std::optional<Rate> network_rate(std::string_view word) {
  for (const auto& [name, rate] : kNetwork)
    if (name == word) return rate;
  return std::nullopt;
}

}  // namespace weft::topology::rates
