// Nothing is thrown to C: memory that runs out is a status, wherever it does; so is what a callback throws.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

#include "weft/weft.h"

namespace {

// Of this thread: how many allocations still succeed before one throws; negative: none does.
thread_local int allocations_left = -1;

void* limited(std::size_t bytes) {
  if (allocations_left >= 0 && allocations_left-- == 0) throw std::bad_alloc();
  void* memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// The whole program's, the library's among them.
void* operator new(std::size_t bytes) { return limited(bytes); }
void* operator new[](std::size_t bytes) { return limited(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return std::malloc(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return std::malloc(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

void expect_out_of_memory(weft_status_t status) {
  EXPECT_EQ(status, WEFT_ERROR_RESOURCE_EXHAUSTED) << weft_last_error(nullptr);
  EXPECT_NE(std::strstr(weft_last_error(nullptr), "out of memory"), nullptr) << weft_last_error(nullptr);
}

weft_comm_t alone() {
  weft_unique_id_t id;
  weft_comm_t comm = nullptr;
  EXPECT_EQ(weft_get_unique_id(&id), WEFT_SUCCESS) << weft_last_error(nullptr);
  EXPECT_EQ(weft_comm_init_rank(&comm, 1, id, 0, nullptr), WEFT_SUCCESS) << weft_last_error(nullptr);
  return comm;
}

TEST(Exceptions, an_id_fails_by_a_status_whichever_allocation_does) {
  weft_unique_id_t id;
  int failing = 0;
  for (bool failed = true; failed && !HasFailure(); ++failing) {
    allocations_left = failing;
    const weft_status_t status = weft_get_unique_id(&id);
    failed = allocations_left < 0;
    allocations_left = -1;
    if (failed) expect_out_of_memory(status);
  }
  EXPECT_GT(failing, 10);
}

// The first, the second, the fourth ... allocation of its first call.
TEST(Exceptions, a_collective_fails_by_a_status_and_aborts_its_communicator) {
  const float in[4] = {1, 2, 3, 4};
  float out[4] = {};
  int failing = 0;
  for (bool failed = true; failed && !HasFailure(); failing = 2 * failing + 1) {
    weft_comm_t comm = alone();
    allocations_left = failing;
    const weft_status_t status = weft_all_reduce(in, out, 4, WEFT_FLOAT32, WEFT_SUM, comm, nullptr);
    failed = allocations_left < 0;
    allocations_left = -1;
    if (failed) {
      expect_out_of_memory(status);
      EXPECT_STREQ(weft_last_error(comm), weft_last_error(nullptr));
      EXPECT_EQ(weft_barrier(comm, nullptr), WEFT_ERROR_ABORTED);
    } else {
      EXPECT_EQ(status, WEFT_SUCCESS) << weft_last_error(comm);
    }
    EXPECT_EQ(weft_comm_destroy(comm), WEFT_SUCCESS);
  }
  EXPECT_GT(failing, 10);
}

TEST(Exceptions, a_repeated_call_needs_no_memory_also_with_a_request) {
  weft_comm_t comm = alone();
  const float in[4] = {1, 2, 3, 4};
  float out[4] = {};
  for (int round = 0; round < 3; ++round) {
    allocations_left = round == 0 ? -1 : 0;
    EXPECT_EQ(weft_all_reduce(in, out, 4, WEFT_FLOAT32, WEFT_SUM, comm, nullptr), WEFT_SUCCESS);
    weft_request_t request = nullptr;
    EXPECT_EQ(weft_all_reduce(in, out, 4, WEFT_FLOAT32, WEFT_SUM, comm, &request), WEFT_SUCCESS);
    EXPECT_EQ(weft_wait(&request, WEFT_UNTIL_DEADLINE), WEFT_SUCCESS);
    allocations_left = -1;
  }
  EXPECT_EQ(weft_comm_destroy(comm), WEFT_SUCCESS);
}

// Two receives that nothing comes for: the first outcome needs memory to be told, and so does the second.
TEST(Exceptions, a_group_ends_by_a_status_whichever_allocation_fails) {
  int failing = 0;
  for (bool failed = true; failed && !HasFailure(); ++failing) {
    weft_comm_t comm = alone();
    weft_message_options_t options = WEFT_MESSAGE_OPTIONS_INITIALIZER;
    options.timeout_ms = 0;
    int got = 0;
    EXPECT_EQ(weft_group_start(), WEFT_SUCCESS);
    for (const int tag : {1, 2})
      EXPECT_EQ(weft_recv_with(&got, 1, WEFT_INT32, 0, tag, nullptr, &options, comm, nullptr), WEFT_SUCCESS);
    allocations_left = failing;
    const weft_status_t status = weft_group_end();
    failed = allocations_left < 0;
    allocations_left = -1;
    EXPECT_TRUE(status == WEFT_ERROR_TIMEOUT || (failed && status == WEFT_ERROR_RESOURCE_EXHAUSTED))
        << failing << ": " << weft_last_error(nullptr);
    EXPECT_EQ(weft_comm_destroy(comm), WEFT_SUCCESS);
  }
  EXPECT_GT(failing, 2);
}

TEST(Exceptions, what_a_callback_throws_is_a_status) {
  weft_comm_t comm = nullptr;
  const weft_all_gather_callback_t throws = [](void*, const void*, void*, size_t) -> int {
    throw std::runtime_error("no network today");
  };
  EXPECT_EQ(weft_comm_init_callback(&comm, 1, 0, throws, nullptr, nullptr), WEFT_ERROR_INTERNAL);
  EXPECT_NE(std::strstr(weft_last_error(nullptr), "unexpected exception: no network today"), nullptr)
      << weft_last_error(nullptr);
  const weft_all_gather_callback_t throws_a_number = [](void*, const void*, void*, size_t) -> int { throw 42; };
  EXPECT_EQ(weft_comm_init_callback(&comm, 1, 0, throws_a_number, nullptr, nullptr), WEFT_ERROR_INTERNAL);
  EXPECT_EQ(comm, nullptr);
}

TEST(Exceptions, numbers_that_are_no_constants_are_refused_from_cpp_too) {
  weft_comm_t comm = alone();
  int value = 1;
  EXPECT_EQ(weft_all_reduce(&value, &value, 1, static_cast<weft_data_type_t>(-2'000'000'000), WEFT_SUM, comm, nullptr),
            WEFT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_comm_destroy(comm), WEFT_SUCCESS);
}

}  // namespace
