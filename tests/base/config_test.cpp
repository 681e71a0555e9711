// The table of WEFT_* variables: what each sets, what it refuses, and that the page in docs is the table.
#include "base/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

namespace weft::base {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Variables = Environment::Variables;

Options configured(Variables variables) {
  Options options;
  const Status status = apply_configuration(Environment(std::move(variables)), options);
  EXPECT_TRUE(status.ok()) << status.to_string();
  return options;
}

std::string refusal(const std::string& name, const std::string& value) {
  Options options;
  const Status status = apply_configuration(Environment(Variables{{name, value}}), options);
  EXPECT_EQ(status.code(), Code::InvalidArgument) << name << "=" << value;
  return std::string(status.message());
}

TEST(Config, nothing_set_changes_nothing) {
  const Options options = configured({{"PATH", "/bin"}, {"WEFT_TIMEOUT", ""}});
  EXPECT_EQ(options.timeout_ms, kDefaultTimeoutMs);
  EXPECT_EQ(options.log_level, "warn");
  EXPECT_FALSE(options.progress_thread);
}

TEST(Config, each_variable_sets_its_field) {
  const Options options = configured({{"WEFT_TIMEOUT", "1.5"},
                                      {"WEFT_TRANSPORTS", "shm,ucx"},
                                      {"WEFT_ALGORITHMS", "all_reduce:ring"},
                                      {"WEFT_CHANNELS", "4"},
                                      {"WEFT_PROGRESS_THREAD", "1"},
                                      {"WEFT_TOPOLOGY", "/tmp/a.json"},
                                      {"WEFT_HOST_ID", "blue"},
                                      {"WEFT_INTERFACE", "eth1"},
                                      {"WEFT_SINGLE_COPY", "off"},
                                      {"WEFT_LOG", "debug"}});
  EXPECT_EQ(options.timeout_ms, 1500);
  EXPECT_THAT(options.transports, ElementsAre("shm", "ucx"));
  EXPECT_EQ(options.algorithms, "all_reduce:ring");
  EXPECT_EQ(options.channels, 4);
  EXPECT_TRUE(options.progress_thread);
  EXPECT_EQ(options.topology_file, "/tmp/a.json");
  EXPECT_EQ(options.host_id, "blue");
  EXPECT_EQ(options.interface, "eth1");
  EXPECT_FALSE(options.single_copy);
  EXPECT_EQ(options.log_level, "debug");
}

TEST(Config, a_switch_is_understood_in_all_its_spellings) {
  for (const char* value : {"1", "on", "yes", "true"})
    EXPECT_TRUE(configured({{"WEFT_PROGRESS_THREAD", value}}).progress_thread) << value;
  for (const char* value : {"0", "off", "no", "false"})
    EXPECT_FALSE(configured({{"WEFT_PROGRESS_THREAD", value}}).progress_thread) << value;
}

TEST(Config, a_bad_value_is_refused_with_variable_value_and_remedy) {
  EXPECT_THAT(refusal("WEFT_TIMEOUT", "soon"), AllOf(HasSubstr("WEFT_TIMEOUT=soon"), HasSubstr("seconds")));
  for (const char* value : {"0", "-1", "1e9", "nan", "inf", "5 s", " 5", "0x10"}) refusal("WEFT_TIMEOUT", value);
  for (const char* value : {"shm,", ",", "shm;ucx", "SHM", "shm ucx"}) refusal("WEFT_TRANSPORTS", value);
  for (const char* value : {"-1", "65", "two", "1.0", "99999999999999999999"}) refusal("WEFT_CHANNELS", value);
  for (const char* value : {"2", "maybe", "TRUE"}) refusal("WEFT_PROGRESS_THREAD", value);
  EXPECT_THAT(refusal("WEFT_PROGRESS_THREAD", "maybe"), HasSubstr("1, on, yes or true, or 0, off, no or false"));
  EXPECT_THAT(refusal("WEFT_LOG", "loud"), HasSubstr("debug, info, warn, error, off"));
}

TEST(Config, the_smallest_timeout_is_not_rounded_to_none) {
  EXPECT_EQ(configured({{"WEFT_TIMEOUT", "0.0001"}}).timeout_ms, 1);
}

TEST(Config, an_unknown_variable_is_warned_of_with_the_nearest_name) {
  const Environment environment(
      {{"WEFT_TIMOUT", "5"}, {"WEFT_TRANSPORT", "shm"}, {"WEFT_LOG", "info"}, {"WEFTY", "x"}});
  EXPECT_THAT(unknown_variables(environment),
              ElementsAre(AllOf(HasSubstr("WEFT_TIMOUT"), HasSubstr("WEFT_TIMEOUT")),
                          AllOf(HasSubstr("WEFT_TRANSPORT "), HasSubstr("WEFT_TRANSPORTS"))));
}

TEST(Config, the_tests_own_variables_are_no_mistake) {
  EXPECT_THAT(unknown_variables(Environment(Variables{{"WEFT_TEST_BIN", "/x"}, {"WEFT_TEST_SEED", "1"}})), IsEmpty());
}

TEST(Config, every_variable_is_described_once_with_field_and_help) {
  std::set<std::string_view> names;
  for (const Variable& variable : variables()) {
    EXPECT_TRUE(variable.name.starts_with("WEFT_")) << variable.name;
    EXPECT_TRUE(names.insert(variable.name).second) << variable.name << " is there twice";
    EXPECT_FALSE(variable.help.empty() || variable.field.empty() || variable.type.empty()) << variable.name;
    EXPECT_EQ(variable.help.find_first_of("|\n"), std::string_view::npos)
        << variable.name << ": one line, and a cell of a table";
  }
}

TEST(Config, the_defaults_that_the_table_states_are_those_of_options) {
  for (const Variable& variable : variables()) {
    if (variable.apply == nullptr || variable.default_value.empty() || variable.default_value == "all") continue;
    Options options;
    ASSERT_TRUE(variable.apply(variable.default_value, options).ok()) << variable.name;
    const Options defaults;
    EXPECT_EQ(options.timeout_ms, defaults.timeout_ms) << variable.name;
    EXPECT_EQ(options.channels, defaults.channels) << variable.name;
    EXPECT_EQ(options.progress_thread, defaults.progress_thread) << variable.name;
    EXPECT_EQ(options.log_level, defaults.log_level) << variable.name;
  }
}

TEST(Config, the_description_shows_settings_and_defaults) {
  const std::string text = describe_configuration(Environment(Variables{{"WEFT_LOG", "info"}}));
  EXPECT_THAT(text, HasSubstr("WEFT_LOG=info\n"));
  EXPECT_THAT(text, HasSubstr("WEFT_TIMEOUT [600]\n"));
  for (const Variable& variable : variables()) EXPECT_THAT(text, HasSubstr(std::string(variable.help)));
}

// WEFT_TEST_UPDATE=1 writes the page anew.
TEST(Config, the_page_in_docs_is_printed_from_the_table) {
  constexpr const char* kPage = "docs/configuration.md";
  if (std::getenv("WEFT_TEST_UPDATE") != nullptr) std::ofstream(kPage) << configuration_page();
  std::ifstream file(kPage);
  ASSERT_TRUE(file) << kPage << ": run from the repository's root";
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), configuration_page()) << "run this test with WEFT_TEST_UPDATE=1";
}

}  // namespace
}  // namespace weft::base
