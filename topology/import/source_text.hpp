// The text of an imported file: what is checked before any reader sees it, and how a place in it is told.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/node_names.hpp"
#include "topology/text.hpp"
#include "weft/status.hpp"

namespace weft::topology {

// Corrupt with "FILE:LINE: reason"; without the line where it is 0.
Status import_error(const std::string& path, std::size_t line, std::string_view reason);

// The line, counted from 1, that holds this place of the text.
std::size_t line_at(std::string_view text, std::size_t offset);

// Refuses what is too long, is not UTF-8 or holds a zero byte.
Status check_source_text(const std::string& path, std::string_view text);

// Refuses what no terminal printed for a machine: too many lines, one that is too long, or what several ranks printed,
// each with its label, if that differs.
Status check_report_lines(const std::string& path, std::string_view text);

// One line of a report that a terminal printed: without escape sequences and with every kind of blank as ' ' or '\t'.
std::string plain_line(std::string_view line);
// The number of the first line that XML begins on; nothing if none does.
std::optional<std::size_t> line_of_xml(const std::vector<std::string>& lines);
// The lines of such a report, the whole ones within `most` bytes of it, without a prefix that all share
// (line_prefix.hpp). Of several ranks the first one's; those of others are empty.
std::vector<std::string> plain_lines(std::string_view text, std::size_t most = std::string_view::npos);

}  // namespace weft::topology
