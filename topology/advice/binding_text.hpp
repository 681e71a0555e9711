// Bindings in the forms that people and launchers read.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.hpp"
#include "topology/advice/bindings.hpp"

namespace weft::topology::advice {

enum class BindingForm { Text, Json, Numactl, Mpirun, Torchrun };
std::optional<BindingForm> parse_binding_form(std::string_view word);

// Hosts that bind alike are told once, but in a rankfile, which names every rank. Shell forms are whole scripts.
Result<std::string> binding_text(BindingForm form, const Survey& survey, Locality& locality);

// The list of hosts, each with its ranks.
void write_bindings(base::JsonWriter& json, const std::vector<HostBindings>& hosts, const Locality& locality);

}  // namespace weft::topology::advice
