// Each reader has a block of its own, touched first by a thread near the memory.
#include "topology/measure/memory_reads.hpp"

#include <algorithm>
#include <barrier>
#include <memory>
#include <set>

#include "topology/measure/pinned.hpp"

namespace weft::topology {
namespace {

constexpr int kPasses = 5;  // of one round; their median counts

struct Block {
  std::size_t read = 0;  // which of the reads it belongs to
  int reader = 0;
  int owner = 0;
  std::unique_ptr<TouchedMemory> memory;
  std::vector<double> seconds;
};

std::vector<Block> blocks_of(const std::vector<MemoryRead>& reads, std::size_t bytes_of_each) {
  std::vector<Block> blocks;
  for (std::size_t r = 0; r < reads.size(); ++r)
    for (std::size_t i = 0; i < reads[r].readers.size(); ++i)
      blocks.push_back({r,
                        reads[r].readers[i],
                        reads[r].owners[i % reads[r].owners.size()],
                        std::make_unique<TouchedMemory>(bytes_of_each),
                        {}});
  return blocks;
}

// Blocks of one owner are touched one after the other: a CPU must not be pinned to twice.
bool touch(std::vector<Block>& blocks) {
  std::set<int> owners;
  for (const Block& block : blocks) owners.insert(block.owner);
  const std::vector<int> cpus(owners.begin(), owners.end());
  return run_pinned(cpus, [&](std::size_t i) {
    for (const Block& block : blocks)
      if (block.owner == cpus[i]) block.memory->touch(1);
  });
}

bool read_once(std::vector<Block>& blocks) {
  std::vector<int> cpus;
  for (const Block& block : blocks) cpus.push_back(block.reader);
  return run_pinned(cpus, [&](std::size_t i) {
    for (int pass = 0; pass < kPasses; ++pass)
      blocks[i].seconds.push_back(time_read(blocks[i].memory->data(), blocks[i].memory->bytes()));
  });
}

}  // namespace

std::optional<std::vector<double>> time_reads(const std::vector<MemoryRead>& reads, std::size_t bytes_of_each,
                                              int rounds) {
  std::vector<Block> blocks = blocks_of(reads, bytes_of_each);
  std::set<int> readers;
  for (const Block& block : blocks)
    if (block.memory->bytes() == 0 || !readers.insert(block.reader).second) return std::nullopt;
  if (blocks.empty() || !touch(blocks)) return std::nullopt;
  std::vector<double> best(reads.size(), 0);
  for (int round = 0; round < rounds; ++round) {
    for (Block& block : blocks) block.seconds.clear();
    if (!read_once(blocks)) return std::nullopt;
    std::vector<double> sum(reads.size(), 0);
    for (Block& block : blocks)
      sum[block.read] += static_cast<double>(bytes_of_each) / median_of(std::move(block.seconds)) / 1e9;
    for (std::size_t r = 0; r < reads.size(); ++r) best[r] = std::max(best[r], sum[r]);
  }
  return best;
}

}  // namespace weft::topology
