// Cases of the audit: machines on which a rule speaks, and machines on which it must not. Each rule has both; a test
// sees to that.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/audit/audit.hpp"

namespace weft::topology::audit {

// A model with facts to be filled in.
class Machine {
 public:
  explicit Machine(std::string_view line, int hosts = 1);

  Node& node(std::string_view name);
  HostFacts& host(int index = 0) { return survey_.hosts[static_cast<std::size_t>(index)]; }
  DeviceFacts& device(std::string_view name, int host = 0);  // the facts of a node, made if there are none
  PortFacts& port(std::string_view nic, int host = 0);       // the port of a NIC, active and Ethernet when it is made
  InterfaceFacts& interface(std::string_view name, std::string_view kind, std::string_view address, int host = 0);
  // Without any call the environment is not known; with an empty name it is known to be empty.
  void set(std::string_view name, std::string_view value = "", int host = 0);
  void modules(std::vector<std::string> names, int host = 0) { this->host(host).kernel.modules = std::move(names); }
  void virtual_machine(bool yes, int host = 0) { this->host(host).platform.virtual_machine = yes; }
  // Moves a device below another bridge.
  void move(std::string_view device, std::string_view to);
  // A port between a device and what is above it.
  Node& add_port(std::string_view device, PciLink pci, std::string_view id = "1000:c030", std::string_view bus_id = "");

  // The device id of gpu0, gpu1 and so on, or of NICs.
  void name_all(std::string_view kind, int count, std::string_view device);

  Survey& survey() { return survey_; }
  operator Survey() const { return survey_; }  // NOLINT: a machine is a survey that is easy to write

 private:
  Survey survey_;
};

struct Case {
  std::string_view rule;
  std::string_view name;
  bool fires = false;
  Survey survey;
  std::string evidence;  // part of subject, evidence or fix where it fires
  std::optional<Severity> severity;
  Site site = {};
  std::optional<Survey> reference = {};
  std::optional<Survey> before = {};
  double seconds = 0;
};

Case fires(std::string_view rule, std::string_view name, Survey survey, std::string evidence,
           std::optional<Severity> severity = std::nullopt);
Case silent(std::string_view rule, std::string_view name, Survey survey);

std::vector<Finding> findings_of(const Case& one);

// What a rule says of a machine: "error pcie.acs_redirect SUBJECT: EVIDENCE | FIX"; empty if it says nothing. For the
// tests audit_reports_*: public reports of people whose node was set up wrongly, rebuilt as far as their evidence can
// be stated. The numbers are those of the project's collection of such reports.
std::string told_of(const Survey& survey, std::string_view rule);

void add_pcie_cases(std::vector<Case>& cases);
void add_host_cases(std::vector<Case>& cases);
void add_affinity_cases(std::vector<Case>& cases);
void add_network_cases(std::vector<Case>& cases);
void add_roce_cases(std::vector<Case>& cases);
void add_gpu_cases(std::vector<Case>& cases);
void add_place_cases(std::vector<Case>& cases);
void add_source_cases(std::vector<Case>& cases);
std::vector<Case> all_cases();

}  // namespace weft::topology::audit
