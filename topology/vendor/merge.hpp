// What vendors' libraries say, added to a survey: only where nothing better told it before.
#pragma once

#include "topology/survey.hpp"
#include "topology/vendor/answers.hpp"

namespace weft::topology {

// The survey has one host with facts. GPUs are those of the graph with the same bus id; others are left out. NVLink
// and C2C become links of the graph if it has none of that kind.
void merge_nvml(const NvmlAnswer& answer, Survey& survey);
void merge_verbs(const VerbsAnswer& answer, Survey& survey);

}  // namespace weft::topology
