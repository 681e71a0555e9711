// What a GPU is expected to have by its PCI id.
#pragma once

#include <optional>
#include <string_view>

namespace weft::topology::audit {

enum class NvLinkUse : unsigned char {
  Switched,  // on a board whose links all go to NVSwitches, or to the other GPUs of the board
  Mesh,      // soldered to other GPUs or to the CPU: which, differs by machine
  Bridged,   // a card: none without a bridge, all of them with
};

struct ExpectedNvLinks {
  int links = 0;
  NvLinkUse use = NvLinkUse::Switched;
};

// Nothing for ids that the table does not have.
std::optional<ExpectedNvLinks> expected_nvlinks(std::string_view device);

}  // namespace weft::topology::audit
