// The reduce kernels against an independent reference: every type, operator and instruction set, at every small size,
// off alignment and in place; and that they are bitwise commutative.
#include "comm/kernels/kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "comm/kernels/variants.hpp"
#include "tests/comm/kernels_inputs.hpp"
#include "tests/comm/kernels_reference.hpp"

namespace weft::comm {
namespace {

struct Case {
  KernelVariant variant;
  DataType dtype;
  ReduceOp op;
  bool final;
  ReduceKernel kernel() const {
    return (*variant.table)[static_cast<std::size_t>(dtype)][static_cast<std::size_t>(op)][final ? 1 : 0];
  }
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.variant.name << " " << to_string(c.dtype) << " " << to_string(c.op) << (c.final ? " final" : "");
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const KernelVariant& variant : kernel_variants())
    for (int dtype = 0; dtype < kDataTypes; ++dtype)
      for (int op = 0; op < kReduceOps; ++op)
        for (const bool final : {false, true})
          if (valid(static_cast<DataType>(dtype), static_cast<ReduceOp>(op)))
            cases.push_back({variant, static_cast<DataType>(dtype), static_cast<ReduceOp>(op), final});
  return cases;
}

Bytes expected(const Case& c, const Bytes& a, const Bytes& b, int size) {
  const std::size_t bytes = size_of(c.dtype);
  Bytes result(a.size());
  for (std::size_t at = 0; at < a.size(); at += bytes)
    reference::reduce(c.dtype, c.op, c.final, size, &result[at], &a[at], &b[at]);
  return result;
}

std::string hex(const Bytes& bytes, std::size_t at, std::size_t count) {
  std::string text = "0x";
  for (std::size_t i = count; i-- > 0;) {
    constexpr char kDigits[] = "0123456789abcdef";
    text += kDigits[bytes[at + i] >> 4];
    text += kDigits[bytes[at + i] & 15];
  }
  return text;
}

// Names the first element that differs.
testing::AssertionResult same(const Case& c, const Bytes& a, const Bytes& b, const Bytes& want, const Bytes& got) {
  const std::size_t bytes = size_of(c.dtype);
  for (std::size_t at = 0; at < want.size(); at += bytes)
    if (std::memcmp(&want[at], &got[at], bytes) != 0)
      return testing::AssertionFailure() << "element " << at / bytes << " of " << want.size() / bytes << ": "
                                         << hex(a, at, bytes) << " op " << hex(b, at, bytes) << " gave "
                                         << hex(got, at, bytes) << ", not " << hex(want, at, bytes);
  return testing::AssertionSuccess();
}

constexpr std::size_t kMargin = 64;
constexpr unsigned char kGuard = 0xa7;

// The operand inside a larger block, `shift` bytes off alignment, with guards on both sides.
struct Placed {
  Placed(const Bytes& bytes, std::size_t shift) : block(bytes.size() + 2 * kMargin, kGuard), shift(shift) {
    std::copy(bytes.begin(), bytes.end(), block.begin() + static_cast<std::ptrdiff_t>(kMargin + shift));
    bytes_count = bytes.size();
  }
  unsigned char* data() { return block.data() + kMargin + shift; }
  Bytes contents() { return Bytes(data(), data() + bytes_count); }
  bool guards_intact() {
    return std::all_of(block.data(), data(), [](unsigned char byte) { return byte == kGuard; }) &&
           std::all_of(data() + bytes_count, block.data() + block.size(),
                       [](unsigned char byte) { return byte == kGuard; });
  }
  Bytes block;
  std::size_t shift;
  std::size_t bytes_count;
};

class Kernels : public testing::TestWithParam<Case> {};

TEST_P(Kernels, give_the_reference_at_every_size_alignment_and_aliasing) {
  SCOPED_TRACE(replay());
  std::mt19937_64 random(test_seed());
  const Case& c = GetParam();
  const std::size_t bytes = size_of(c.dtype);
  std::vector<std::size_t> counts = {4099};
  for (std::size_t count = 0; count <= 70; ++count) counts.push_back(count);
  for (const std::size_t count : counts) {
    const Bytes a = random_elements(c.dtype, count, random);
    const Bytes b = random_elements(c.dtype, count, random);
    const int size = static_cast<int>(random() % 9) + 1;
    const Bytes want = expected(c, a, b, size);
    for (const std::size_t shift : {std::size_t{0}, bytes, std::size_t{1}}) {
      Placed left(a, shift);
      Placed right(b, 0);
      Placed out(Bytes(a.size()), shift == 0 ? bytes : 0);
      c.kernel()(out.data(), left.data(), right.data(), count, size);
      EXPECT_TRUE(same(c, a, b, want, out.contents())) << "three buffers";
      EXPECT_TRUE(out.guards_intact());
      EXPECT_EQ(left.contents(), a);
      EXPECT_EQ(right.contents(), b);

      c.kernel()(left.data(), left.data(), right.data(), count, size);
      EXPECT_TRUE(same(c, a, b, want, left.contents())) << "dst == a";
      EXPECT_TRUE(left.guards_intact());

      Placed first(a, 0);
      Placed second(b, shift);
      c.kernel()(second.data(), first.data(), second.data(), count, size);
      EXPECT_TRUE(same(c, a, b, want, second.contents())) << "dst == b";
      EXPECT_TRUE(second.guards_intact());
    }
    if (HasFailure()) return;
  }
}

TEST_P(Kernels, give_the_reference_for_all_pairs_of_corners_in_both_orders) {
  const Case& c = GetParam();
  const Pairs pairs = corner_pairs(c.dtype);
  for (const int size : {1, 2, 3, 7, 1000}) {
    const Bytes want = expected(c, pairs.a, pairs.b, size);
    Bytes got(pairs.a.size());
    c.kernel()(got.data(), pairs.a.data(), pairs.b.data(), pairs.count, size);
    EXPECT_TRUE(same(c, pairs.a, pairs.b, want, got)) << "size " << size;
    c.kernel()(got.data(), pairs.b.data(), pairs.a.data(), pairs.count, size);
    EXPECT_TRUE(same(c, pairs.b, pairs.a, want, got)) << "commuted, size " << size;
  }
}

TEST_P(Kernels, are_bitwise_commutative_and_equal_on_all_instruction_sets) {
  SCOPED_TRACE(replay());
  std::mt19937_64 random(test_seed());
  const Case& c = GetParam();
  constexpr std::size_t kCount = 20011;
  const Bytes a = random_elements(c.dtype, kCount, random);
  const Bytes b = random_elements(c.dtype, kCount, random);
  Bytes forward(a.size());
  Bytes backward(a.size());
  c.kernel()(forward.data(), a.data(), b.data(), kCount, 6);
  c.kernel()(backward.data(), b.data(), a.data(), kCount, 6);
  EXPECT_TRUE(same(c, a, b, forward, backward));
  Case portable = c;
  portable.variant = kernel_variants().front();
  portable.kernel()(backward.data(), a.data(), b.data(), kCount, 6);
  EXPECT_TRUE(same(c, a, b, backward, forward)) << "against " << portable.variant.name;
}

INSTANTIATE_TEST_SUITE_P(All, Kernels, testing::ValuesIn(all_cases()), [](const auto& info) {
  return std::string(info.param.variant.name) + "_" + std::string(to_string(info.param.dtype)) + "_" +
         std::string(to_string(info.param.op)) + (info.param.final ? "_final" : "");
});

}  // namespace
}  // namespace weft::comm
