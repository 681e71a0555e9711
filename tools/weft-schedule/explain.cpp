// weft-schedule explain: which algorithm would run, what it would cost, and why not another.
#include <fmt/format.h>

#include "algorithms/export.hpp"
#include "algorithms/selector.hpp"
#include "base/message_sizes.hpp"
#include "tools/weft-schedule/commands.hpp"

namespace weft::schedule_tool {
namespace {

Result<Request> make_request(const ExplainArguments& arguments) {
  Request request;
  WEFT_TRY_ASSIGN(request.collective, collective_named(arguments.collective));
  const std::optional<DataType> dtype = parse_data_type(arguments.dtype);
  if (!dtype)
    return Status(Code::NotFound,
                  fmt::format("there is no type \"{}\"; write float32, bfloat16, int8 or the like", arguments.dtype));
  const std::optional<ReduceOp> op = parse_reduce_op(arguments.op);
  if (!op)
    return Status(Code::NotFound,
                  fmt::format("there is no operator \"{}\"; write sum, prod, min, max, avg or the like", arguments.op));
  if (reduces(request.collective) && !valid(*dtype, *op))
    return Status(Code::InvalidArgument, fmt::format("{} cannot be reduced by {}", to_string(*dtype), to_string(*op)));
  if (arguments.root < 0 || arguments.root >= arguments.machine.ranks)
    return Status(Code::InvalidArgument,
                  fmt::format("root {} is not one of the {} ranks", arguments.root, arguments.machine.ranks));
  WEFT_TRY_ASSIGN(const std::uint64_t bytes, base::parse_bytes(arguments.bytes));
  request.dtype = *dtype;
  request.op = *op;
  request.root = arguments.root;
  request.count = algorithms::count_of_bytes(request.collective, arguments.machine.ranks, bytes, *dtype);
  return request;
}

}  // namespace

Result<int> explain(const ExplainArguments& arguments) {
  WEFT_TRY(check_channels(arguments.channels));
  WEFT_TRY_ASSIGN(Machine machine, make_machine(arguments.machine));
  WEFT_TRY_ASSIGN(const Request request, make_request(arguments));
  WEFT_TRY_ASSIGN(const auto texts, algorithms::read_schedule_files(arguments.schedules));
  WEFT_TRY_ASSIGN(const auto loaded, algorithms::LoadedSchedules::load(texts));
  WEFT_TRY_ASSIGN(algorithms::Overrides overrides, algorithms::Overrides::parse(arguments.overrides, &loaded));
  overrides.channels = arguments.channels;
  algorithms::MeasuredTable table;
  if (arguments.table) {
    WEFT_TRY_ASSIGN(const std::string text, read_file(*arguments.table));
    WEFT_TRY_ASSIGN(table, algorithms::MeasuredTable::from_json(text));
  }
  WEFT_TRY_ASSIGN(algorithms::CostModel model,
                  algorithms::CostModel::create(machine.group, std::move(machine.graph), std::move(machine.placement),
                                                arguments.table ? &table : nullptr));
  WEFT_TRY_ASSIGN(const Choice choice, algorithms::choose(request, overrides, arguments.table ? &table : nullptr, model,
                                                          algorithms::Detail::Everything, &loaded));
  WEFT_TRY(write_output(arguments.json ? algorithms::to_json(choice) : choice.to_string()));
  return kFine;
}

}  // namespace weft::schedule_tool
