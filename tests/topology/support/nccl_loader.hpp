// Reads NCCL topology XML as strictly as NCCL does: character by character, without declaration, entities and tabs,
// with one blank before each attribute and with tables of fixed size.
#pragma once

#include <string>
#include <string_view>

namespace weft::topology::test {

// What NCCL would complain about; empty if it reads the text.
std::string nccl_complaint(std::string_view text);

}  // namespace weft::topology::test
