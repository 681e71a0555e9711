// Cases of the rules about GPUDirect RDMA, NVLink and NVSwitch.
#include "audit_cases.hpp"

namespace weft::topology::audit {
namespace {

void name_gpus(Machine& machine, int count, std::string_view device) {
  for (int i = 0; i < count; ++i) machine.node("gpu" + std::to_string(i)).device = std::string(device);
}

Machine cards_without() {
  Machine machine("packages:2 gpu:2");
  name_gpus(machine, 2, "10de:20b2");
  return machine;
}

// Links of a GPU, of which `active` are up and the rest down.
std::vector<NvLinkFacts> links(int active, int all) {
  std::vector<NvLinkFacts> list;
  for (int i = 0; i < all; ++i) list.push_back({i, i < active, {}, {}, {}, {}});
  return list;
}

void set_count(Machine& machine, std::string_view gpu, int count) {
  for (Link& link : machine.survey().graph.links)
    if (link.kind == LinkKind::NvLink && (link.a == machine.node(gpu).id || link.b == machine.node(gpu).id))
      link.count = count;
}

Machine infiniband(std::vector<std::string> modules) {
  Machine machine("dgx-a100");
  machine.modules(std::move(modules));
  machine.host().kernel.version = "5.15.0-91-generic";
  machine.host().kernel.nvidia_open = false;
  return machine;
}

void add_gpu_direct(std::vector<Case>& cases) {
  Machine missing = infiniband({"nvidia", "mlx5_core"});
  cases.push_back(fires("gdr.peermem_missing", "the closed driver", missing, "is not loaded", Severity::Error));
  Machine perhaps = missing;
  perhaps.host().kernel.nvidia_open.reset();
  cases.push_back(fires("gdr.peermem_missing", "DMA-BUF is not known", perhaps, "not known", Severity::Warning));
  Machine open = missing;
  open.host().kernel.nvidia_open = true;
  cases.push_back(silent("gdr.peermem_missing", "the open driver has DMA-BUF", open));
  open.host().kernel.version = "5.4.0-42-generic";
  cases.push_back(fires("gdr.peermem_missing", "the open driver on an old kernel", open, "5.4.0"));
  cases.push_back(silent("gdr.peermem_missing", "loaded", infiniband({"nvidia", "nvidia_peermem"})));
  cases.push_back(silent("gdr.peermem_missing", "no driver", infiniband({"mlx5_core"})));
  Machine efa("packages:2 gpu:8 gpus_per_switch:2 nic:4 efa100");
  efa.modules({"nvidia", "efa"});
  cases.push_back(silent("gdr.peermem_missing", "EFA has its own way", efa));

  Machine loaded = infiniband({"nvidia", "nvidia_peermem"});
  cases.push_back(silent("gdr.peermem_unregistered", "clients are not told", loaded));
  loaded.host().kernel.peer_memory_clients.emplace();
  cases.push_back(fires("gdr.peermem_unregistered", "no client", loaded, "no client"));
  loaded.host().kernel.peer_memory_clients = std::vector<std::string>{"nv_mem"};
  cases.push_back(silent("gdr.peermem_unregistered", "registered", loaded));

  Machine asked = missing;
  cases.push_back(silent("gdr.needed", "nobody asks", asked));
  asked.set("NVSHMEM_IB_ENABLE_IBGDA", "1");
  cases.push_back(fires("gdr.needed", "IBGDA", asked, "NVSHMEM_IB_ENABLE_IBGDA"));
  asked.modules({"nvidia", "nvidia_peermem"});
  cases.push_back(silent("gdr.needed", "possible", asked));
}

void add_counts(std::vector<Case>& cases) {
  Machine pair("packages:1 gpu:2 gpus_per_switch:1 nvlink:56");
  name_gpus(pair, 2, "10de:2204");
  set_count(pair, "gpu0", 3);
  cases.push_back(
      fires("nvlink.links_missing", "RTX 3090 with 3 of 4", pair, "3 of 4 NVLinks are active", Severity::Error));
  name_gpus(pair, 2, "");
  cases.push_back(
      fires("nvlink.links_missing", "3 links, ids not told", pair, "3 NVLinks between them", Severity::Info));
  name_gpus(pair, 2, "10de:2204");
  set_count(pair, "gpu0", 4);
  cases.push_back(silent("nvlink.links_missing", "a seated bridge", pair));
  Machine nvl("packages:2 gpu:2 gpus_per_switch:1 nvlink:300");
  name_gpus(nvl, 2, "10de:2321");
  set_count(nvl, "gpu0", 12);
  cases.push_back(silent("nvlink.links_missing", "H100 NVL has 12", nvl));
  Machine a800("packages:2 gpu:8 nvswitch:200");
  name_gpus(a800, 8, "10de:20f3");
  cases.push_back(silent("nvlink.links_missing", "A800 has 8", a800));
  Machine cards("packages:2 gpu:4");
  name_gpus(cards, 4, "10de:20b5");
  cases.push_back(silent("nvlink.links_missing", "PCIe cards have none", cards));
  cases.push_back(silent("nvlink.absent", "PCIe cards have none", cards));
  Machine board("dgx-h100");
  set_count(board, "gpu5", 17);
  cases.push_back(fires("nvlink.links_missing", "H100 with 17 of 18", board, "17 of 18 NVLinks are active"));
  name_gpus(board, 8, "");
  cases.push_back(fires("nvlink.links_missing", "fewer than GPUs like it", board, "as 7 GPUs like it"));
  Case known = silent("nvlink.links_missing", "the site knows better", Machine("dgx-h100"));
  known.site.expected.nvlinks = {{"10de:2330", 18}};
  cases.push_back(known);
}

void add_links(std::vector<Case>& cases) {
  Machine machine("packages:2 gpu:2 gpus_per_switch:1");
  name_gpus(machine, 2, "10de:2331");
  machine.device("gpu0").nvlinks = links(10, 12);
  cases.push_back(silent("nvlink.link_inactive", "links that lead nowhere", machine));
  machine.device("gpu0").nvlinks[11].remote_bus_id = "0000:41:00.0";
  cases.push_back(fires("nvlink.link_inactive", "a wired link", machine, "link 11 to 0000:41:00.0"));

  Machine board("packages:2 gpu:8 gpus_per_switch:1");
  name_gpus(board, 8, "10de:2330");
  cases.push_back(silent("nvlink.absent", "links are not told", board));
  board.device("gpu3").nvlinks = links(0, 18);
  cases.push_back(fires("nvlink.absent", "all links of a board's GPU are down", board, "0 of 18"));
  board.virtual_machine(true);
  cases.push_back(silent("nvlink.absent", "a guest with a part of a board", board));
  Case site =
      fires("nvlink.absent", "the site expects some", cards_without(), "0 of 12 NVLinks are active (as the site");
  site.site.expected.nvlinks = {{"10de:20b2", 12}};
  cases.push_back(site);
  site = silent("nvlink.absent", "the site expects some, but the source tells none", cards_without());
  site.survey.source = "hwloc XML 2";
  site.site.expected.nvlinks = {{"10de:20b2", 12}};
  cases.push_back(site);
  Machine one("packages:1 gpu:1");
  name_gpus(one, 1, "10de:2330");
  one.device("gpu0").nvlinks = links(0, 18);
  cases.push_back(silent("nvlink.absent", "a single GPU", one));
}

void add_fabric(std::vector<Case>& cases) {
  Machine machine("dgx-h100");
  for (int i = 0; i < 8; ++i) machine.device("gpu" + std::to_string(i)).fabric_state = "completed";
  cases.push_back(silent("nvlink.fabric_state", "completed", machine));
  machine.host().fabric_manager = false;
  cases.push_back(silent("nvswitch.fabricmanager", "completed without a service that is seen", machine));
  for (int i = 0; i < 8; ++i) machine.device("gpu" + std::to_string(i)).fabric_state = "not started";
  machine.host().kernel.nvidia_driver = "550.54.15";
  cases.push_back(fires("nvswitch.fabricmanager", "not active", machine, "nvidia-fabricmanager 550.54.15"));
  cases.push_back(silent("nvlink.fabric_state", "the manager does not run", machine));
  machine.host().fabric_manager = true;
  cases.push_back(fires("nvlink.fabric_state", "not started", machine, "\"not started\""));
  cases.push_back(silent("nvswitch.fabricmanager", "it runs", machine));
  Machine container("dgx-h100");
  container.host().fabric_manager = false;
  container.host().container.kind = "docker";
  cases.push_back(silent("nvswitch.fabricmanager", "a container sees no processes of the host", container));

  Machine restarted("dgx-h100");
  restarted.host().fabric_manager_start_s = 5000;
  restarted.device("gpu0").fabric_registered_s = 90;
  cases.push_back(fires("nvswitch.fm_restarted", "started again", restarted, "started 5000 s after boot"));
  restarted.host().fabric_manager_start_s = 60;
  cases.push_back(silent("nvswitch.fm_restarted", "started before", restarted));
}

}  // namespace

void add_gpu_cases(std::vector<Case>& cases) {
  add_gpu_direct(cases);
  add_counts(cases);
  add_links(cases);
  add_fabric(cases);
}

}  // namespace weft::topology::audit
