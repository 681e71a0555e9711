// Fabrics from files: a cluster's hosts joined as the file says.
//
//   weft-fabric 1                                       # a fabric file: one item a line, '#' starts a comment
//   name llama3
//   hosts 2048 of dgx-h100                              # a model, or: hosts 64 from node.xml (beside this file)
//   levels 3
//   leaf hosts 2
//   pod hosts 384 oversubscription 7
//
// Or the listing of `ibnetdiscover`, as it is printed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/fabric/fabric_spec.hpp"
#include "topology/survey.hpp"

namespace weft::topology {

struct FabricFile {
  struct Hosts {
    int count = 0;
    std::string model;  // a line for model(), or empty
    std::string file;   // a file for load_survey(), or empty
  };
  std::string name;
  std::vector<Hosts> hosts;
  FabricSpec spec;  // defaults are not filled in yet
};

// One line for what is wrong: FILE:LINE: reason.
bool is_fabric_file(std::string_view text);
Result<FabricFile> parse_fabric_file(const std::string& path, std::string_view text);

// A listing alone: its adapters as NICs of hosts by their descriptions, and its switches.
bool is_ibnetdiscover(std::string_view text);
Result<Survey> read_ibnetdiscover(const std::string& path, std::string_view text);
// The hosts' NICs joined as the listing says: found by GUID, else by host name and device name. What is found on one
// side only is a remark.
Result<Survey> join_by_ibnetdiscover(const std::string& path, std::string_view text, Survey hosts);

// Reads either kind. With `hosts`, these are joined (their own network is left out); a fabric file's hosts then must
// be as many, or none. Without, the file's own hosts are built.
Result<Survey> load_fabric(const std::string& path, std::optional<Survey> hosts = std::nullopt);
// For text that was read already.
Result<Survey> read_fabric(const std::string& path, std::string_view text, std::optional<Survey> hosts = std::nullopt);

}  // namespace weft::topology
