// Which fields a Step of each kind has, once. The others have their neutral values: -1, false and no span. check_form()
// refuses a step that has more, so whoever reads a proved schedule may look at any field without asking for the kind.
#pragma once

#include <string_view>

#include "weft/schedule.hpp"

namespace weft::algorithms {

// A step needs what it may have, but for `wait` and `final_reduction` of steps that receive or reduce, and for the
// landing of one that receives without a `wait` and reduces nothing.
struct StepFields {
  bool peer = false;
  bool to = false;
  bool wait = false;
  bool dst = false;
  bool src = false;
  bool src2 = false;
  bool landing = false;
  bool final_reduction = false;
};

constexpr StepFields fields_of(StepKind kind) {
  switch (kind) {
    case StepKind::Send:
      return {.peer = true, .src = true};
    case StepKind::Recv:
      return {.peer = true, .wait = true, .dst = true, .landing = true};
    case StepKind::RecvReduce:
      return {.peer = true, .wait = true, .dst = true, .src = true, .landing = true, .final_reduction = true};
    case StepKind::Copy:
      return {.dst = true, .src = true};
    case StepKind::Reduce:
      return {.dst = true, .src = true, .src2 = true, .final_reduction = true};
    case StepKind::Wait:
      return {.wait = true};
    case StepKind::RecvSend:
      return {.peer = true, .to = true, .wait = true, .dst = true, .landing = true};
    case StepKind::RecvReduceSend:
      return {
          .peer = true, .to = true, .wait = true, .dst = true, .src = true, .landing = true, .final_reduction = true};
  }
  return {};
}

// The first field that the step has and its kind has not, as a file names it; "" if there is none.
constexpr std::string_view surplus_field(const Step& step) {
  const StepFields has = fields_of(step.kind);
  if (!has.peer && step.peer != -1) return "peer";
  if (!has.to && step.to != -1) return "to";
  if (!has.wait && step.wait != -1) return "wait";
  if (!has.dst && step.dst != Span()) return "dst";
  if (!has.src && step.src != Span()) return "src";
  if (!has.src2 && step.src2 != Span()) return "src2";
  if (!has.landing && step.landing != Span()) return "landing";
  return !has.final_reduction && step.final_reduction ? "final" : "";
}

}  // namespace weft::algorithms
