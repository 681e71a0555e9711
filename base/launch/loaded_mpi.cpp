// Goes through the names of the libraries that the process has loaded.
#include "base/launch/loaded_mpi.hpp"

#include <link.h>

#include <cstddef>
#include <string_view>

namespace weft::base {

bool mpi_is_loaded() {
  const auto is_mpi = [](dl_phdr_info* info, std::size_t, void*) -> int {
    const std::string_view path = info->dlpi_name;
    return path.substr(path.rfind('/') + 1).starts_with("libmpi") ? 1 : 0;  // libmpi.so.40, libmpich.so.12
  };
  return ::dl_iterate_phdr(is_mpi, nullptr) != 0;
}

}  // namespace weft::base
