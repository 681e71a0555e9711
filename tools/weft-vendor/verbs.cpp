// libibverbs: what sysfs does not tell of RDMA devices, above all the MTU that their ports use.
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "answers.hpp"
#include "library.hpp"

namespace weft::vendor {
namespace {

using base::JsonWriter;

constexpr int kMaxDevices = 256;
constexpr int kMaxPorts = 16;

using Device = struct VerbsDevice*;
using Context = struct VerbsContext*;

// ibv_port_attr as the exported function fills it. It may write less than that, never more; the rest is for libraries
// to come.
struct PortAttributes {
  int state;
  int max_mtu;
  int active_mtu;
  unsigned char rest[244];
};

using GetDeviceList = Device*(int* count);
using GetDeviceName = const char*(Device);
using OpenDevice = Context(Device);
using CloseDevice = int(Context);
using QueryPort = int(Context, std::uint8_t port, PortAttributes*);

class Verbs {
 public:
  Verbs(const Library& library, JsonWriter& json)
      : json_(json),
        list_(library.find<GetDeviceList>("ibv_get_device_list")),
        name_(library.find<GetDeviceName>("ibv_get_device_name")),
        open_(library.find<OpenDevice>("ibv_open_device")),
        close_(library.find<CloseDevice>("ibv_close_device")),
        query_(library.find<QueryPort>("ibv_query_port")) {}

  void write() {
    if (list_ == nullptr || name_ == nullptr || open_ == nullptr || close_ == nullptr || query_ == nullptr)
      return json_.member("error", "it is no libibverbs");
    int count = 0;
    Device* const devices = list_(&count);
    if (devices == nullptr) return json_.member("error", std::string("it lists no devices: ") + std::strerror(errno));
    json_.begin_list("devices");
    for (int i = 0; i < count && i < kMaxDevices && devices[i] != nullptr; ++i) write_device(devices[i]);
    json_.end_list();
  }

 private:
  void write_device(Device device) {
    json_.begin_object();
    const char* name = name_(device);
    json_.member("name", name != nullptr ? name : "");
    const Context context = open_(device);
    if (context == nullptr) {
      json_.member("error", std::string("cannot be opened: ") + std::strerror(errno));
    } else {
      write_ports(context);
      close_(context);
    }
    json_.end_object();
  }

  // Ports are numbered from 1 without gaps; the first that is not there ends them.
  void write_ports(Context context) {
    json_.begin_list("ports");
    for (int number = 1; number <= kMaxPorts; ++number) {
      PortAttributes port{};
      if (query_(context, static_cast<std::uint8_t>(number), &port) != 0) break;
      json_.begin_object();
      json_.member("number", number);
      json_.member("state", port.state);
      json_.member("active_mtu", port.active_mtu);
      json_.member("max_mtu", port.max_mtu);
      json_.end_object();
    }
    json_.end_list();
  }

  JsonWriter& json_;
  GetDeviceList* list_;
  GetDeviceName* name_;
  OpenDevice* open_;
  CloseDevice* close_;
  QueryPort* query_;
};

}  // namespace

void ask_verbs(const std::string& path, JsonWriter& json) {
  const Library library(path);
  if (!library) return json.member("error", library.error());
  Verbs(library, json).write();
}

}  // namespace weft::vendor
