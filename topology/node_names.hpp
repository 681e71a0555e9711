// Names and texts as graphs and surveys hold them, made of what the world wrote.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace weft::topology {

// The bytes of the UTF-8 character at the start of `text`; 0 if there is none. Overlong forms, surrogates and what is
// beyond U+10FFFF are none (Unicode, table 3-7).
std::size_t character_bytes(std::string_view text);

// U+0080 to U+009F: terminals take them for the escape sequences that they abbreviate.
bool is_high_control(std::string_view character);

// "gpu0" as node names are: without '/' and control characters, bounded in length, never empty.
std::string as_node_name(std::string_view text);
// As UTF-8 on one line, bounded in length: what cannot be shown becomes '-'.
std::string as_plain_text(std::string_view text);

// Node names, each given once.
class UniqueNames {
 public:
  // as_node_name(wanted), or with a number behind it if that is taken: "gpu0-2".
  std::string take(std::string_view wanted);

 private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> last_;  // number given, by wanted name
};

}  // namespace weft::topology
