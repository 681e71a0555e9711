// ctest: serial
// More than 2^31 elements, and messages longer than the longest instruction.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "comm/bound_plan.hpp"
#include "tests/comm/support/thread_ranks.hpp"
#include "weft/schedule_builder.hpp"

namespace weft::comm {
namespace {

class OneLane final : public LaneDirectory {
 public:
  std::uint16_t lane(int, int) override { return 0; }
  std::uint32_t slices(std::uint16_t, std::uint64_t bytes) const override {
    return static_cast<std::uint32_t>(bytes >> 16);
  }
};

TEST(LargeCounts, a_step_longer_than_the_longest_instruction_becomes_several) {
  const Algorithm* binomial = find_algorithm(Collective::Broadcast, "binomial");
  ASSERT_NE(binomial, nullptr);
  OneLane lanes;
  const std::uint64_t count = 3 * (kMaxPiece / 8) + 5;
  const Operation operation = broadcast(nullptr, nullptr, count, DataType::Float64, 0);
  const BoundPlan plan = bind(build_schedule(*binomial, flat_group(2), {}), 1, operation, lanes);
  std::uint64_t received = 0;
  std::uint64_t instructions = 0;
  for (const Instruction& instruction : plan.channels.at(0).instructions) {
    if (instruction.code != InstructionCode::Recv) continue;
    EXPECT_EQ(instruction.dst, received);
    received += instruction.bytes;
    ++instructions;
  }
  EXPECT_EQ(received, count * 8);
  EXPECT_EQ(instructions, 4u);
}

// Memory that costs nothing until it is touched.
class Pages final {
 public:
  explicit Pages(std::size_t bytes)
      : bytes_(bytes),
        memory_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { ::munmap(memory_, bytes_); }
  std::uint8_t* data() const { return static_cast<std::uint8_t*>(memory_); }
  bool ok() const { return memory_ != MAP_FAILED; }

 private:
  std::size_t bytes_;
  void* memory_;
};

TEST(LargeCounts, more_than_two_to_the_31_elements_arrive) {
  constexpr std::uint64_t kCount = (std::uint64_t{1} << 31) + 12'345;
  testing::JobOptions job;
  job.options.timeout_ms = 120'000;
  testing::run_job(2, job, [&](CommunicatorState& communicator) {
    const Pages pages(kCount);
    ASSERT_TRUE(pages.ok());
    std::uint8_t* data = pages.data();
    const std::uint64_t marks[] = {0, kMaxPiece - 1, kMaxPiece, std::uint64_t{1} << 31, kCount - 1};
    if (communicator.rank() == 0) {
      for (const std::uint64_t mark : marks) data[mark] = static_cast<std::uint8_t>(mark % 251 + 1);
    }
    const Status status = communicator.run(broadcast(data, data, kCount, DataType::UInt8, 0));
    ASSERT_TRUE(status.ok()) << status.to_string();
    for (const std::uint64_t mark : marks) EXPECT_EQ(data[mark], mark % 251 + 1) << mark;
    EXPECT_EQ(data[1], 0);
    EXPECT_EQ(data[kCount - 2], 0);
  });
}

}  // namespace
}  // namespace weft::comm
