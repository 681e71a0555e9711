// An XML file of another program, read with bounds: size, elements, depth, no entities of its own.
#pragma once

#include <cstddef>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>

#include "weft/status.hpp"

namespace weft::topology {

// The name of the first element; empty if the text does not start like XML.
std::string_view first_element(std::string_view text);

// Whole, well-formed UTF-8 of at most kMaxImportBytes with one root element `root`. What is wrong is told with the
// line.
Status parse_xml(const std::string& path, std::string_view text, const char* root, pugi::xml_document& document);

// The line of what stands beside the root element and is no XML; nothing if there is none.
std::optional<std::size_t> line_beside_root(std::string_view text, const pugi::xml_document& document);

// The line that an element begins on.
std::size_t line_of(std::string_view text, const pugi::xml_node& element);

}  // namespace weft::topology
