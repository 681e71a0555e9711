// Whether the application has an MPI library, with which Weft must share the launcher.
#pragma once

namespace weft::base {

// True if one is loaded into this process, initialised or not, however it was loaded.
bool mpi_is_loaded();

}  // namespace weft::base
