// Elements of a NCCL document that its reader passes over.
#pragma once

#include <pugixml.hpp>
#include <string_view>

#include "topology/import/remarks.hpp"

namespace weft::topology::nccl {

// Remarks on devices beside the <cpu> elements, which are the only place that NCCL looks at, and on elements whose
// names are not in lower case. `system`: of a document that is known not to be deep.
void tell_of_left_out(std::string_view text, const pugi::xml_node& system, Remarks& remarks);

}  // namespace weft::topology::nccl
