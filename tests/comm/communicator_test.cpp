// The contract of a communicator, its Works and what is split from it, with threads as ranks.
#include "weft/communicator.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <future>
#include <numeric>
#include <semaphore>
#include <thread>

#include "tests/comm/support/thread_ranks.hpp"
#include "transports/local.hpp"
#include "weft/graph.hpp"

namespace weft::comm {
namespace {

testing::JobOptions local_job() {
  testing::JobOptions job;
  job.options.timeout_ms = 20'000;
  return job;
}

TEST(Communicator, without_a_launcher_there_is_one_rank) {
  Options options;
  options.rank = 0;
  options.size = 1;
  auto communicator = Communicator::create(options);
  ASSERT_TRUE(communicator.has_value()) << communicator.status().to_string();
  const double in = 3;
  double out = 0;
  ASSERT_TRUE(communicator->all_reduce(&in, &out, 1, DataType::Float64).ok());
  EXPECT_EQ(out, 3);
  EXPECT_TRUE(communicator->barrier().ok());
  EXPECT_EQ(communicator->transport(0), "self");
}

TEST(Communicator, bad_arguments_are_named_and_nothing_is_lost) {
  Options options;
  options.rank = 0;
  options.size = 1;
  auto communicator = Communicator::create(options);
  ASSERT_TRUE(communicator.has_value());
  float value = 1;
  const Status null = communicator->all_reduce(nullptr, &value, 1, DataType::Float32);
  EXPECT_EQ(null.code(), Code::InvalidArgument);
  EXPECT_NE(null.message().find("in is null"), std::string_view::npos) << null.message();
  EXPECT_EQ(communicator->all_reduce(&value, &value, 1, DataType::Float32, ReduceOp::BitAnd).code(),
            Code::InvalidArgument);
  EXPECT_EQ(communicator->broadcast(&value, &value, 1, DataType::Float32, 1).code(), Code::InvalidArgument);
  EXPECT_EQ(communicator->all_reduce(&value, &value, ~std::uint64_t{0}, DataType::Float32).code(),
            Code::InvalidArgument);
  float two[2] = {1, 2};
  EXPECT_EQ(communicator->all_reduce(two, two + 1, 2, DataType::Float32).code(), Code::InvalidArgument);
  EXPECT_TRUE(communicator->all_reduce(&value, &value, 1, DataType::Float32).ok());
  EXPECT_EQ(value, 1);
}

TEST(Communicator, a_wait_for_a_while_leaves_the_operation_in_flight) {
  std::promise<void> waited;
  auto has_waited = waited.get_future().share();
  testing::run_job(2, local_job(), [&](CommunicatorState& communicator) {
    std::uint32_t ticket = 0;
    if (communicator.rank() == 1) {
      ASSERT_EQ(has_waited.wait_for(std::chrono::seconds(20)), std::future_status::ready);
    }
    ASSERT_TRUE(communicator.start(barrier(), &ticket).ok());
    if (communicator.rank() == 0) {
      EXPECT_FALSE(communicator.wait_for(ticket, 0));
      EXPECT_FALSE(communicator.wait_for(ticket, 5));
      waited.set_value();
    }
    EXPECT_TRUE(communicator.wait_for(ticket, 20'000));
    EXPECT_TRUE(communicator.wait(ticket).ok());
  });
}

TEST(Communicator, options_that_make_no_sense_are_refused) {
  Options options;
  EXPECT_EQ(Communicator::create(options).status().code(), Code::InvalidArgument);
  options.size = 2'000'000'000;
  options.rank = 0;
  EXPECT_EQ(Communicator::create(options).status().code(), Code::InvalidArgument);
  options.size = 2;
  options.rank = 2;
  EXPECT_EQ(Communicator::create(options).status().code(), Code::InvalidArgument);
  options.rank = 0;
  EXPECT_EQ(Communicator::create(options).status().code(), Code::InvalidArgument);  // nowhere to meet
}

TEST(Communicator, names_that_do_not_exist_are_refused_also_where_one_rank_needs_neither) {
  Options options;
  options.rank = 0;
  options.size = 1;
  options.transports = {"carrier_pigeon"};
  const Status transports = Communicator::create(options).status();
  EXPECT_EQ(transports.code(), Code::InvalidArgument);
  EXPECT_NE(transports.message().find("known are shm, ucx"), std::string_view::npos) << transports.to_string();
  options.transports = {"shm"};
  options.interface = "nowhere0";
  const Status interface = Communicator::create(options).status();
  EXPECT_EQ(interface.code(), Code::InvalidArgument);
  EXPECT_NE(interface.message().find("WEFT_INTERFACE=nowhere0"), std::string_view::npos) << interface.to_string();
  EXPECT_NE(interface.message().find("there are lo"), std::string_view::npos) << interface.to_string();
  options.interface = "lo";
  EXPECT_TRUE(Communicator::create(options).has_value());
}

TEST(Communicator, operations_in_flight_end_in_any_order_of_waiting) {
  testing::run_job(3, local_job(), [](CommunicatorState& communicator) {
    constexpr int kWorks = 200;
    std::vector<std::int32_t> in(kWorks), out(kWorks);
    std::iota(in.begin(), in.end(), 1);
    std::vector<std::uint32_t> tickets(kWorks);
    for (int i = 0; i < kWorks; ++i) {
      ASSERT_TRUE(communicator.start(all_reduce(&in[i], &out[i], 1, DataType::Int32), &tickets[i]).ok());
    }
    for (int i = kWorks; i-- > 0;) ASSERT_TRUE(communicator.wait(tickets[i]).ok());
    for (int i = 0; i < kWorks; ++i) EXPECT_EQ(out[i], 3 * (i + 1));
  });
}

TEST(Communicator, any_wait_advances_all_that_its_thread_has_in_flight) {
  // Rank 0 starts on A, then blocks on B; rank 1 blocks on A first.
  testing::run_job(2, local_job(), [](CommunicatorState& a) {
    auto b = a.split(0, 0);
    ASSERT_TRUE(b.has_value()) << b.status().to_string();
    std::vector<float> in(300'000, 1), out(300'000), in_b(10, 2), out_b(10);
    if (a.rank() == 0) {
      std::uint32_t ticket = 0;
      ASSERT_TRUE(a.start(all_reduce(in.data(), out.data(), in.size(), DataType::Float32), &ticket).ok());
      ASSERT_TRUE((*b)->run(all_reduce(in_b.data(), out_b.data(), in_b.size(), DataType::Float32)).ok());
      ASSERT_TRUE(a.wait(ticket).ok());
    } else {
      ASSERT_TRUE(a.run(all_reduce(in.data(), out.data(), in.size(), DataType::Float32)).ok());
      ASSERT_TRUE((*b)->run(all_reduce(in_b.data(), out_b.data(), in_b.size(), DataType::Float32)).ok());
    }
    EXPECT_EQ(out.back(), 2);
    EXPECT_EQ(out_b.back(), 4);
  });
}

TEST(Communicator, at_debug_level_it_tells_what_was_agreed_and_planned) {
  auto job = local_job();
  job.options.log_level = "debug";
  ::testing::internal::CaptureStderr();
  testing::run_job(2, job, [](CommunicatorState& communicator) {
    const float in = 1;
    float out = 0;
    ASSERT_TRUE(communicator.run(all_reduce(&in, &out, 1, DataType::Float32)).ok());
  });
  const std::string told = ::testing::internal::GetCapturedStderr();
  for (const char* line :
       {"weft[0]: info: one of 2 ranks on", "they agreed on local", "weft[1]: debug: reaches rank 0 over local",
        "weft[1]: debug: plans all_reduce of 1 float32: direct"})
    EXPECT_NE(told.find(line), std::string::npos) << line << " is not in:\n" << told;
}

TEST(Communicator, an_operation_is_waited_for_on_the_thread_that_started_it) {
  std::promise<void> checked;  // rank 1 joins in afterwards
  testing::run_job(2, local_job(), [&](CommunicatorState& communicator) {
    std::vector<float> in(1000, 1), out(1000);
    const Operation sum = all_reduce(in.data(), out.data(), in.size(), DataType::Float32);
    if (communicator.rank() == 1) {
      EXPECT_EQ(checked.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
      ASSERT_TRUE(communicator.run(sum).ok());
      return;
    }
    std::uint32_t ticket = 0;
    ASSERT_TRUE(communicator.start(sum, &ticket).ok());
    std::thread([&] {
      EXPECT_TRUE(communicator.test(ticket)) << "wait() returns at once";
      const Status elsewhere = communicator.wait(ticket);
      EXPECT_EQ(elsewhere.code(), Code::InvalidArgument) << elsewhere.to_string();
      EXPECT_NE(elsewhere.message().find("all_reduce #1"), std::string_view::npos) << elsewhere.to_string();
    }).join();
    EXPECT_FALSE(communicator.test(ticket));
    checked.set_value();
    EXPECT_TRUE(communicator.wait(ticket).ok());
    EXPECT_EQ(out.back(), 2);
  });
}

TEST(Communicator, a_communicator_destroyed_elsewhere_is_forgotten_by_the_thread_that_used_it) {
  testing::run_job(2, local_job(), [](CommunicatorState& root) {
    auto part = root.split(0, 0);
    ASSERT_TRUE(part.has_value()) << part.status().to_string();
    std::vector<float> in(300'000, 1), out(300'000);
    const Operation sum = all_reduce(in.data(), out.data(), in.size(), DataType::Float32);
    std::uint32_t ticket = 0;
    ASSERT_TRUE((*part)->start(sum, &ticket).ok());
    std::thread([&] { part->reset(); }).join();
    EXPECT_EQ(out.back(), 2);
    ASSERT_TRUE(root.run(sum).ok());
    ASSERT_TRUE(root.start(sum, &ticket).ok());
    ASSERT_TRUE(root.wait(ticket).ok());
  });
}

// What they share (store, connections, helper thread) goes with the last of them.
TEST(Communicator, those_split_off_go_on_without_it) {
  const auto graph = topology::model("cpu-2socket");
  const auto stores = transports::LocalStoreHub::create(2);
  const auto hub = transports::LocalHub::create();
  testing::run_ranks(2, [&](int rank) {
    RuntimeParts parts;
    parts.options.rank = rank;
    parts.options.size = 2;
    parts.options.timeout_ms = 20'000;
    parts.options.progress_thread = true;
    parts.store = stores->store(rank);
    parts.transports.push_back(hub->transport(rank));
    parts.graph = &*graph;
    auto runtime = Runtime::create(std::move(parts));
    ASSERT_TRUE(runtime.has_value()) << runtime.status().to_string();
    auto root = CommunicatorState::root(std::move(*runtime));
    ASSERT_TRUE(root.has_value()) << root.status().to_string();
    auto child = (*root)->split(0, 0);
    ASSERT_TRUE(child.has_value());
    auto grandchild = (*child)->split(0, 0);
    ASSERT_TRUE(grandchild.has_value());
    root->reset();
    const std::vector<float> in(100'000, 1);
    std::vector<float> out(in.size());
    ASSERT_TRUE((*child)->run(all_reduce(in.data(), out.data(), in.size(), DataType::Float32)).ok());
    child->reset();
    ASSERT_TRUE((*grandchild)->run(all_reduce(in.data(), out.data(), in.size(), DataType::Float32)).ok());
    EXPECT_EQ(out.back(), 2);
    auto late = (*grandchild)->split(0, 0);
    ASSERT_TRUE(late.has_value());
    EXPECT_TRUE((*late)->close().ok());
  });
}

TEST(Communicator, split_orders_by_key_and_leaves_out_negative_colours) {
  testing::run_job(5, local_job(), [](CommunicatorState& world) {
    const int color = world.rank() == 4 ? -1 : world.rank() % 2;
    auto child = world.split(color, -world.rank());
    ASSERT_TRUE(child.has_value()) << child.status().to_string();
    if (color < 0) {
      EXPECT_EQ((*child)->size(), 1);
      return;
    }
    EXPECT_EQ((*child)->size(), 2);
    EXPECT_EQ((*child)->rank(), world.rank() < 2 ? 1 : 0);  // larger ranks have smaller keys
    std::int32_t in = world.rank(), out = 0;
    ASSERT_TRUE((*child)->run(all_reduce(&in, &out, 1, DataType::Int32)).ok());
    EXPECT_EQ(out, color == 0 ? 2 : 4);
    auto grandchild = (*child)->split(0, 0);
    ASSERT_TRUE(grandchild.has_value());
    ASSERT_TRUE((*grandchild)->run(barrier()).ok());
  });
}

TEST(Communicator, a_split_is_refused_while_another_thread_splits_what_it_was_split_with) {
  std::atomic<int> refused{-1};  // of rank 0's two threads
  testing::run_job(2, local_job(), [&](CommunicatorState& world) {
    std::array<std::unique_ptr<CommunicatorState>, 2> parents, children;
    for (auto& parent : parents) {
      auto part = world.split(0, 0);
      ASSERT_TRUE(part.has_value()) << part.status().to_string();
      parent = std::move(*part);
    }
    const auto split = [&](int which) {
      // Each way to split once.
      auto child = which == 0 ? parents[0]->split(0, 0) : parents[1]->split_members(std::vector<int>{0, 1});
      if (child.has_value()) children[static_cast<std::size_t>(which)] = std::move(*child);
      return child.status();
    };
    if (world.rank() == 0) {
      // Neither can end before rank 1 has joined it.
      const auto split_at_once = [&](int which) {
        const Status status = split(which);
        if (status.ok()) return;
        EXPECT_EQ(status.code(), Code::InvalidArgument) << status.to_string();
        EXPECT_NE(status.message().find("another thread of this process"), std::string_view::npos)
            << status.to_string();
        refused = which;
      };
      std::thread other(split_at_once, 1);
      split_at_once(0);
      other.join();
    } else {
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (refused < 0 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
      ASSERT_GE(refused, 0);
      EXPECT_TRUE(split(1 - refused).ok());
    }
    EXPECT_TRUE(split(refused).ok());
    for (const auto& child : children) {
      ASSERT_NE(child, nullptr);
      EXPECT_TRUE(child->run(barrier()).ok());
    }
  });
}

TEST(Communicator, abort_ends_what_others_wait_for) {
  std::atomic<int> ended{0};
  testing::run_job(3, local_job(), [&](CommunicatorState& communicator) {
    if (communicator.rank() == 2) {
      communicator.abort("the user asked for it");
    } else {
      std::vector<float> data(1000);
      const Status status = communicator.run(all_reduce(data.data(), data.data(), data.size(), DataType::Float32));
      EXPECT_EQ(status.code(), Code::Aborted) << status.to_string();
      EXPECT_NE(status.message().find("the user asked for it"), std::string_view::npos);
      EXPECT_EQ(communicator.run(barrier()).code(), Code::Aborted);
    }
    ++ended;
  });
  EXPECT_EQ(ended, 3);
}

TEST(Communicator, after_the_first_error_every_call_returns_it_whatever_its_arguments) {
  Options options;
  options.rank = 0;
  options.size = 1;
  auto communicator = Communicator::create(options);
  ASSERT_TRUE(communicator.has_value()) << communicator.status().to_string();
  communicator->abort("enough");
  float value = 1;
  const Operation wrong = broadcast(&value, &value, 1, DataType::Float32, 7);
  const std::vector<Operation> list{wrong};
  const auto expect_aborted = [](const Status& status) {
    EXPECT_EQ(status.code(), Code::Aborted) << status.to_string();
  };
  expect_aborted(communicator->run(wrong));
  expect_aborted(communicator->run(wrong, 0));
  expect_aborted(communicator->start(wrong).wait());
  expect_aborted(communicator->run(list));
  expect_aborted(communicator->run(std::span<const Operation>()));
  expect_aborted(communicator->prepare(wrong).status());
  expect_aborted(communicator->allocate(0).status());
  expect_aborted(communicator->free(SymmetricMemory()));
  expect_aborted(communicator->split_members({7}).status());
  const Message message = send(&value, 1, DataType::Float32, 7, -5);
  const std::vector<Message> messages{message};
  expect_aborted(communicator->run(message).status());
  expect_aborted(communicator->start(message).wait());
  expect_aborted(communicator->run(messages));
  expect_aborted(communicator->run(std::span<const Message>()));
  expect_aborted(communicator->close());
}

TEST(Communicator, a_wait_past_its_deadline_names_who_was_waited_for) {
  testing::JobOptions job = local_job();
  job.options.timeout_ms = 200;
  std::atomic<bool> timed_out{false};
  testing::run_job(2, job, [&](CommunicatorState& communicator) {
    if (communicator.rank() == 0) {
      float value = 1;
      const Status status = communicator.run(all_reduce(&value, &value, 1, DataType::Float32));
      EXPECT_EQ(status.code(), Code::Timeout) << status.to_string();
      EXPECT_EQ(status.peer(), 1);
      // On a busy machine it notices later than after 0.2 s.
      const std::size_t waited = status.message().find("rank 0 waited ");
      ASSERT_NE(waited, std::string_view::npos) << status.message();
      EXPECT_GE(std::atof(status.message().data() + waited + std::strlen("rank 0 waited ")), 0.2) << status.message();
      EXPECT_NE(status.message().find("WEFT_TIMEOUT"), std::string_view::npos) << status.message();
      timed_out = true;
    } else {
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (!timed_out && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
      EXPECT_EQ(communicator.run(barrier()).code(), Code::Timeout);  // it was told
    }
  });
}

TEST(Communicator, a_peer_that_destroyed_its_communicator_is_named) {
  testing::run_job(2, local_job(), [&](CommunicatorState& communicator) {
    auto child = communicator.split(0, 0);
    ASSERT_TRUE(child.has_value());
    if (communicator.rank() == 1) {
      child->reset();
    } else {
      float value = 1;
      const Status status = (*child)->run(all_reduce(&value, &value, 1, DataType::Float32));
      EXPECT_EQ(status.code(), Code::PeerLost) << status.to_string();
      EXPECT_EQ(status.peer(), 1);
    }
    const Status parent = communicator.run(barrier());
    EXPECT_TRUE(parent.ok()) << "the parent goes on: " << parent.to_string();
  });
}

TEST(Communicator, no_rank_leaves_a_barrier_before_the_last_has_come) {
  for (const char* transport : {"local", "sim"}) {
    for (int size = 2; size <= 8; ++size) {
      testing::JobOptions job = local_job();
      job.transport = transport;
      std::atomic<int> entered{0};
      std::atomic<int> left_early{0};
      testing::run_job(size, job, [&](CommunicatorState& communicator) {
        for (int late = 0; late < size; ++late) {
          ASSERT_TRUE(communicator.run(barrier()).ok());
          if (communicator.rank() == late) {
            // The others have all the time they need to get out if nothing holds them.
            const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(10);
            while (left_early == 0 && std::chrono::steady_clock::now() < until) std::this_thread::yield();
          }
          ++entered;
          ASSERT_TRUE(communicator.run(barrier()).ok());
          if (entered < size * (late + 1)) ++left_early;
        }
      });
      EXPECT_EQ(left_early, 0) << size << " ranks over " << transport;
    }
  }
}

// Rank 0 starts its part and stays away from Weft until rank 1, which cannot finish without it, has what it waited for.
TEST(Communicator, a_progress_thread_finishes_operations_that_nobody_waits_for) {
  testing::JobOptions job = local_job();
  job.options.progress_thread = true;
  std::atomic<bool> finished{false};
  testing::run_job(2, job, [&finished](CommunicatorState& communicator) {
    std::vector<float> in(200'000, 1), out(200'000);
    std::uint32_t ticket = 0;
    ASSERT_TRUE(communicator.start(all_reduce(in.data(), out.data(), in.size(), DataType::Float32), &ticket).ok());
    if (communicator.rank() == 0) {
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (!finished && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
      EXPECT_TRUE(finished) << "rank 1 still waits for rank 0's part";
    }
    EXPECT_TRUE(communicator.wait(ticket).ok());
    finished = true;
    EXPECT_EQ(out.back(), 2);
  });
}

TEST(Communicator, close_finds_nothing_when_all_calls_matched) {
  testing::run_job(4, local_job(), [](CommunicatorState& communicator) {
    std::int32_t value = 1;
    ASSERT_TRUE(communicator.run(broadcast(&value, &value, 1, DataType::Int32)).ok());
    const Status status = communicator.close();
    EXPECT_TRUE(status.ok()) << status.to_string();
  });
}

TEST(Communicator, rules_that_are_replaced_choose_later_calls) {
  std::binary_semaphore tried{0};
  testing::run_job(2, local_job(), [&tried](CommunicatorState& communicator) {
    float value = 1;
    float sum = 0;
    const Operation call = all_reduce(&value, &sum, 1, DataType::Float32);
    for (const std::string algorithm : {"ring", "direct", "recursive_doubling"}) {
      ASSERT_TRUE(communicator.set_algorithms("all_reduce:" + algorithm).ok());
      EXPECT_EQ(communicator.explain(call)->winner().algorithm, algorithm);
      ASSERT_TRUE(communicator.run(call).ok());
      EXPECT_EQ(sum, 2);
    }
    const Status wrong = communicator.set_algorithms("all_reduce:nonesuch");
    EXPECT_EQ(wrong.code(), Code::InvalidArgument);
    EXPECT_EQ(communicator.explain(call)->winner().algorithm, "recursive_doubling");
    // Rank 1 comes once rank 0 has tried while its barrier was in flight.
    if (communicator.rank() == 1) {
      ASSERT_TRUE(tried.try_acquire_for(std::chrono::seconds(20)));
    }
    std::uint32_t ticket = 0;
    ASSERT_TRUE(communicator.start(barrier(), &ticket).ok());
    if (communicator.rank() == 0) {
      EXPECT_EQ(communicator.set_algorithms("").code(), Code::InvalidArgument);
      tried.release();
    }
    EXPECT_TRUE(communicator.wait(ticket).ok());
    EXPECT_TRUE(communicator.set_algorithms("").ok());
    EXPECT_NE(communicator.explain(call)->source, ChoiceSource::Override);
  });
}

TEST(Communicator, a_prepared_plan_runs_in_and_out_of_place) {
  Options options;
  options.rank = 0;
  options.size = 1;
  auto communicator = Communicator::create(options);
  ASSERT_TRUE(communicator.has_value());
  auto plan = communicator->prepare(all_reduce(4, DataType::Float32));
  ASSERT_TRUE(plan.has_value()) << plan.status().to_string();
  const float in[4] = {1, 2, 3, 4};
  float out[4] = {};
  ASSERT_TRUE(plan->run(in, out).ok());
  EXPECT_EQ(out[3], 4);
  ASSERT_TRUE(plan->run(out, out).ok());
  Work work = plan->start(in, out);
  EXPECT_TRUE(work.wait().ok());
  EXPECT_TRUE(work.wait().ok()) << "again the same outcome";
  EXPECT_FALSE(plan->choice().candidates.empty());
}

}  // namespace
}  // namespace weft::comm
