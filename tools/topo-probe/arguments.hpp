// The command line of topo-probe as a value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/command_line.hpp"

namespace weft::topo_probe {

// topo-probe diff BEFORE AFTER
struct DiffArguments {
  std::string before;
  std::string after;
  bool json = false;
};

// topo-probe record OUT.tar.bz2, or with another ending
struct RecordArguments {
  std::string path;
  bool anonymise = false;
};

struct Arguments {
  // Where the machine comes from; without any: this one.
  std::optional<std::string> model;
  std::optional<std::string> from;
  std::optional<std::string> root;
  bool cluster = false;               // all nodes of a launcher, or of the folder `from`
  std::optional<std::string> fabric;  // how hosts are joined; alone: the hosts too

  // What is written, and how.
  std::string format = "text";      // a name of the table of formats
  std::optional<int> nccl_version;  // of --format nccl-xml
  std::optional<std::string> output;
  bool matrix = false;
  bool rings = false;
  bool audit = false;
  std::string bindings;  // their form; empty: not asked for
  bool environment = false;
  bool measure = false;
  std::optional<std::string> write_corrected;
  int ranks = 0;  // 0: one for each GPU or core group
  bool list_models = false;

  // How the audit judges.
  std::optional<std::string> fail_on;  // a severity
  std::optional<std::string> site;     // a file
  std::optional<std::string> expect;   // a model or a file
  std::vector<std::string> ignored;    // rules, or rules with a subject
  double interval_s = 0;               // between two looks at this machine; 0: one look

  // Subcommands, instead of a report.
  std::optional<DiffArguments> diff;
  std::optional<RecordArguments> record;
};

using Parsed = base::ParsedCommandLine<Arguments>;
Parsed parse(int argc, char** argv);

}  // namespace weft::topo_probe
