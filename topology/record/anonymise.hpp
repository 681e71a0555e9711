// Anonymiser: replaces what names a machine, its network or its owner, equal things by equal ones.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "topology/record/collector.hpp"

namespace weft::topology {

class Anonymiser {
 public:
  // `host`: the name to look for; empty: none. Of a name with a domain the short one counts, too.
  explicit Anonymiser(const std::string& host);

  // Hardware addresses (also in the names of interfaces), GUIDs, GIDs, UUIDs, IPv4 and IPv6 addresses and the host's
  // name, wherever they stand in a text.
  std::string text(std::string_view text);
  // A whole record: also files whose content is one secret (serial numbers) or has a form of its own (network tables),
  // and the names of folders and links.
  void entries(RecordEntries& entries);

 private:
  std::string word(std::string_view word);
  std::optional<std::string> identifier(std::string_view word);
  std::string gid(std::string_view word);
  std::string without_mac(std::string_view word);
  std::string without_host(std::string_view word) const;
  std::string path(std::string_view path);
  void paths(RecordEntries& entries);
  std::string serial(std::string_view text);
  std::string route_table(std::string_view text);
  std::string ipv6_table(std::string_view text);
  std::string environment(std::string_view text);
  std::string parts_between_colons(std::string_view text);
  // Of the same form and length, made of a number that stands for the original: in place of the characters that count.
  std::string numbered(std::string_view original, std::string_view kind, bool (*counts)(char));
  std::string digits(std::string_view original, std::string_view kind);  // hexadecimal ones count
  std::uint32_t ipv4(std::uint32_t address) const;

  std::string host_;                               // without its domain, lower case
  std::uint32_t key_;                              // of this record, kept nowhere
  std::map<std::string, int, std::less<>> known_;  // kind and original, without its punctuation -> number
  std::set<std::string, std::less<>> interfaces_;  // and RDMA devices, as they are called
};

}  // namespace weft::topology
