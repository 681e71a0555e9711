// What can be told of the file of --table before anything is measured.
#include "bench/weft-bench/table_file.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "tests/support/temporary_folder.hpp"

namespace weft::bench {
namespace {

using algorithms::MeasuredCell;
using algorithms::MeasuredTable;
using ::testing::AllOf;
using ::testing::HasSubstr;

class TableFile : public ::testing::Test {
 protected:
  std::string checked() const { return std::string(check_table(file_, "here").message()); }
  void holds(const MeasuredTable& table) const { std::ofstream(file_) << table.to_json(); }

  test::TemporaryFolder folder_;
  std::string file_ = folder_.path() + "/table.json";
  std::vector<MeasuredCell> cells_ = {{Collective::AllReduce, 4, 1024, "direct", 1, 5}};
};

TEST_F(TableFile, may_be_new_or_of_this_topology_and_is_not_made_by_looking) {
  EXPECT_TRUE(check_table(file_, "here").ok());
  EXPECT_FALSE(std::ifstream(file_).good());
  holds({"here", cells_});
  EXPECT_TRUE(check_table(file_, "here").ok());
}

TEST_F(TableFile, of_another_topology_is_refused_unless_it_is_empty) {
  holds({"there", cells_});
  EXPECT_THAT(checked(), AllOf(HasSubstr("--table " + file_), HasSubstr("another topology (there, this one is here)")));
  holds({"there", {}});
  EXPECT_TRUE(check_table(file_, "here").ok());
}

TEST_F(TableFile, that_is_no_table_or_cannot_be_one_is_refused) {
  std::ofstream(file_) << "{}";
  EXPECT_THAT(checked(), AllOf(HasSubstr("--table " + file_), HasSubstr("lacks \"schema\"")));
  file_ = folder_.path();
  EXPECT_THAT(checked(), AllOf(HasSubstr("--table " + file_), HasSubstr("it is a folder")));
  file_ = folder_.path() + "/none/table.json";
  EXPECT_THAT(checked(), AllOf(HasSubstr("--table " + file_), HasSubstr("No such file or directory")));
}

}  // namespace
}  // namespace weft::bench
