// A library with the interface of libibverbs: two devices, mlx5_0 with one active port, and mlx5_1, which cannot be
// opened. WEFT_TEST_VENDOR=hangs blocks in ibv_open_device.
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

struct Device {
  const char* name;
};
struct Port {
  int state, max_mtu, active_mtu, gid_table_length;
  std::uint32_t capabilities;
};

Device devices[] = {{"mlx5_0"}, {"mlx5_1"}};
Device* list[] = {&devices[0], &devices[1], nullptr};

}  // namespace

extern "C" {

Device** ibv_get_device_list(int* count) {
  *count = 2;
  return list;
}
const char* ibv_get_device_name(Device* device) { return device->name; }
void* ibv_open_device(Device* device) {
  const char* role = std::getenv("WEFT_TEST_VENDOR");
  while (role != nullptr && std::string_view(role) == "hangs") ::pause();
  errno = EACCES;
  return device == &devices[0] ? device : nullptr;
}
int ibv_close_device(void*) { return 0; }
int ibv_query_port(void*, std::uint8_t number, Port* port) {
  if (number != 1) return EINVAL;
  port->state = 4;
  port->max_mtu = 5;
  port->active_mtu = 3;
  return 0;
}

}  // extern "C"
