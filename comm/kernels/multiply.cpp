// What pre_mul_sum does to an input before it is summed. Integers wrap, and of NaNs there is one, as in the other
// kernels. One for all processors: memory is slower.
#include "comm/kernels/element.hpp"
#include "comm/operators.hpp"

namespace weft::comm {
namespace {

template <typename Format, typename Factor>
void run(void* out, const void* in, std::uint64_t count, Factor factor) {
  using Stored = typename Format::Stored;
  auto* to = static_cast<unsigned char*>(out);
  const auto* from = static_cast<const unsigned char*>(in);
  for (std::uint64_t i = 0; i < count; ++i) {
    Stored value;
    std::memcpy(&value, from + i * sizeof(Stored), sizeof(Stored));
    auto product = static_cast<typename Format::Computed>(Format::decode(value) * factor);
    if constexpr (std::is_floating_point_v<decltype(product)>) product = canonical(product);
    value = Format::encode(product);
    std::memcpy(to + i * sizeof(Stored), &value, sizeof(Stored));
  }
}

template <typename Format>
void floats(void* out, const void* in, std::uint64_t count, double factor) {
  run<Format>(out, in, count, static_cast<typename Format::Computed>(factor));
}

// The low bits of a product of unsigned numbers are those of the signed ones.
template <typename T>
void integers(void* out, const void* in, std::uint64_t count, double factor) {
  run<Plain<T>>(out, in, count, static_cast<T>(static_cast<std::int64_t>(factor)));
}

}  // namespace

void multiply(void* out, const void* in, std::uint64_t count, DataType dtype, double factor) {
  switch (dtype) {
    case DataType::Int8:
    case DataType::UInt8:
      return integers<std::uint8_t>(out, in, count, factor);
    case DataType::Int32:
    case DataType::UInt32:
      return integers<std::uint32_t>(out, in, count, factor);
    case DataType::Int64:
    case DataType::UInt64:
      return integers<std::uint64_t>(out, in, count, factor);
    case DataType::Float8E4M3:
      return floats<Float8E4M3Format>(out, in, count, factor);
    case DataType::Float8E5M2:
      return floats<Float8E5M2Format>(out, in, count, factor);
    case DataType::Float16:
      return floats<Float16Format>(out, in, count, factor);
    case DataType::BFloat16:
      return floats<BFloat16Format>(out, in, count, factor);
    case DataType::Float32:
      return floats<Plain<float>>(out, in, count, factor);
    case DataType::Float64:
      return floats<Plain<double>>(out, in, count, factor);
    case DataType::Bool:
      break;
  }
}

}  // namespace weft::comm
