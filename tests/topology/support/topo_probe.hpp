// What tests of the program topo-probe share: runs of it, and a folder for its files.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/topology/support/recorded_tree.hpp"

namespace weft::topology::test {

std::string read_all(const std::string& path);

struct Outcome {
  int exit_code = -1;
  std::string out;
  std::string err;
};

// Exit status 2, nothing on standard output, and one line that holds these words.
void expect_one_line(const Outcome& outcome, const std::string& words);

class TopoProbe : public testing::Test {
 protected:
  // `arguments` as a shell reads them.
  Outcome run(const std::string& arguments);
  std::string path(const std::string& name) const { return scratch_.root() + "/" + name; }

  RecordedTree scratch_;
};

}  // namespace weft::topology::test
