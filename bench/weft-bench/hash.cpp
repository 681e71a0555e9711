// Each rank hashes its own output; the hashes are gathered, compared, and hashed.
#include "bench/weft-bench/hash.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/fnv1a.hpp"
#include "bench/weft-bench/unruly.hpp"

namespace weft::bench {

Result<OutputHash> hash_of_output(Communicator& communicator, const Operation& call, std::uint64_t elements) {
  const int rank = communicator.rank();
  const int size = communicator.size();
  const std::size_t element = size_of(call.dtype);
  const std::size_t in_bytes = input_count(call, rank, size) * element;
  // The program's own buffer.
  if (in_bytes > 0) write_unruly({static_cast<std::byte*>(const_cast<void*>(call.in)), in_bytes}, call.dtype, rank);
  WEFT_TRY(communicator.run(call));

  const std::size_t out_bytes = std::min(output_count(call, rank, size), elements) * element;
  const std::uint64_t own = base::fnv1a({static_cast<const char*>(call.out), out_bytes});
  std::vector<std::uint64_t> hashes(static_cast<std::size_t>(size));
  WEFT_TRY(communicator.all_gather(&own, hashes.data(), 1, DataType::UInt64));
  const std::string_view all(reinterpret_cast<const char*>(hashes.data()), hashes.size() * sizeof(std::uint64_t));
  const bool equal = std::all_of(hashes.begin(), hashes.end(), [&](std::uint64_t hash) { return hash == hashes[0]; });
  return OutputHash{base::fnv1a(all), equal};
}

}  // namespace weft::bench
