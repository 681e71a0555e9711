// A rank that does what the contracts of weft/communicator.hpp and weft/work.hpp are about. One of two:
//   fork       rank 0 forks between collectives; the child tries every call
//   child      both ranks fork; their children make a communicator of their own, at the port given
//   ucx-child  the same over UCX, which the children are refused
//   dropped    rank 0 drops a Work before rank 1 has joined in
//   threads    rank 0 calls from a second thread while the first one waits
//   events     rank 0 waits for operations by poll()
//   end        rank 0 learns by poll() that rank 1 does not come
//   no-events  the same without a helper thread
// Exit 0: all was as it should be; else what was not is on standard error.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "weft/weft.hpp"

namespace {

int failures = 0;

void expect(bool right, const std::string& what) {
  if (right) return;
  ++failures;
  std::fprintf(stderr, "not so: %s\n", what.c_str());
}

void expect_refused(const weft::Status& status, std::string_view words, const std::string& what) {
  expect(!status.ok() && status.message().find(words) != std::string_view::npos, what + ": " + status.to_string());
}

constexpr std::size_t kCount = 200'000;

struct Sum {
  std::vector<float> in = std::vector<float>(kCount, 1);
  std::vector<float> out = std::vector<float>(kCount, 0);

  weft::Operation operation() const {
    return weft::all_reduce(in.data(), const_cast<float*>(out.data()), kCount, weft::DataType::Float32);
  }
  bool done() const { return out.front() == 2 && out.back() == 2; }
};

void use_in_child(weft::Communicator& communicator, weft::Work& work, weft::Plan& plan, weft::SymmetricMemory memory) {
  constexpr std::string_view kWords = "a forked child";
  Sum sum;
  expect_refused(communicator.run(sum.operation()), kWords, "run");
  expect_refused(communicator.barrier(), kWords, "barrier");
  expect_refused(communicator.start(sum.operation()).wait(), kWords, "start");
  expect_refused(communicator.prepare(sum.operation()).status(), kWords, "prepare");
  expect_refused(communicator.split(0).status(), kWords, "split");
  expect_refused(communicator.split_members({0, 1}).status(), kWords, "split_members");
  expect_refused(communicator.set_algorithms("all_reduce:ring"), kWords, "set_algorithms");
  expect_refused(communicator.create_pre_mul_sum(weft::DataType::Float32, 2).status(), kWords, "create_pre_mul_sum");
  expect_refused(communicator.create_operator({}).status(), kWords, "create_operator");
  expect_refused(communicator.run(std::vector<weft::Operation>()), kWords, "run of a list");
  expect_refused(communicator.event_descriptor().status(), kWords, "event_descriptor");
  expect_refused(communicator.close(), kWords, "close");
  expect_refused(communicator.health(), kWords, "health");
  expect_refused(plan.run(sum.in.data(), sum.out.data()), kWords, "Plan::run");
  expect_refused(communicator.send(sum.in.data(), 1, weft::DataType::Float32, 1), kWords, "send");
  expect_refused(communicator.receive(sum.out.data(), 1, weft::DataType::Float32, 1).status(), kWords, "receive");
  expect_refused(communicator.allocate(4096).status(), kWords, "allocate");
  expect_refused(communicator.free(std::move(memory)), kWords, "free");
  communicator.abort("it does nothing here");
  expect(work.test(), "a Work of the parent's counts as done");
  expect(work.wait_for(0), "and is not waited for");
  expect_refused(work.wait(), kWords, "wait");
}

// The child's copies end without touching what the parent uses.
int child(weft::Communicator communicator, weft::Work work, weft::Plan plan, weft::SymmetricMemory memory) {
  use_in_child(communicator, work, plan, std::move(memory));
  return failures;
}

weft::Status fork_between_calls(weft::Communicator& communicator) {
  Sum sum;
  WEFT_TRY(communicator.run(sum.operation()));
  WEFT_TRY_ASSIGN(weft::Plan plan, communicator.prepare(sum.operation()));
  WEFT_TRY_ASSIGN(weft::SymmetricMemory memory, communicator.allocate(4096));
  if (communicator.rank() == 1) {
    WEFT_TRY(communicator.barrier());
    WEFT_TRY(communicator.run(sum.operation()));
    return communicator.barrier();
  }
  sum.out.assign(kCount, 0);
  WEFT_TRY(communicator.barrier());
  weft::Work work = communicator.start(sum.operation());
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(child(std::move(communicator), std::move(work), std::move(plan), std::move(memory)));
  int status = -1;
  expect(pid > 0 && ::waitpid(pid, &status, 0) == pid, "the child is there");
  expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ends well");
  WEFT_TRY(work.wait());
  expect(sum.done(), "the parent's operation is whole");
  return communicator.barrier();
}

weft::Status work_in_child(weft::Options options, const char* port, int timeout_ms) {
  options.rendezvous_port = std::atoi(port);
  options.timeout_ms = timeout_ms;
  WEFT_TRY_ASSIGN(weft::Communicator communicator, weft::Communicator::create(options));
  Sum sum;
  WEFT_TRY(communicator.run(sum.operation()));
  expect(sum.done(), "the children's operation is whole");
  return communicator.close();
}

// `words`: by which the children are refused; empty: they are not.
weft::Status fork_workers(const weft::Options& options, weft::Communicator& communicator, const char* port,
                          std::string_view words) {
  WEFT_TRY(communicator.barrier());
  const pid_t pid = ::fork();
  if (pid == 0) {
    // Whoever is refused may be gone before the other one looks for it.
    const weft::Status status = work_in_child(options, port, words.empty() ? options.timeout_ms : 1'000);
    if (words.empty()) expect(status.ok(), status.to_string());
    if (!words.empty()) expect_refused(status, words, "the child");
    ::_exit(failures);
  }
  Sum sum;
  WEFT_TRY(communicator.run(sum.operation()));
  int status = -1;
  expect(pid > 0 && ::waitpid(pid, &status, 0) == pid, "the child is there");
  expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ends well");
  expect(sum.done(), "the parents' operation is whole");
  return communicator.close();
}

weft::Status drop_a_work(weft::Communicator& communicator) {
  Sum sum;
  WEFT_TRY(communicator.barrier());
  if (communicator.rank() == 0) {
    { const weft::Work dropped = communicator.start(sum.operation()); }
    expect(sum.done(), "a dropped Work was waited for");
    weft::Work replaced = communicator.start(sum.operation());
    replaced = weft::Work();
    WEFT_TRY(communicator.barrier());
  } else {
    WEFT_TRY(communicator.run(sum.operation()));
    WEFT_TRY(communicator.run(sum.operation()));
    WEFT_TRY(communicator.barrier());
  }
  return communicator.close();
}

// A call that is wrong in any case, so that nothing is lost as long as the other thread is not yet in its wait.
weft::Status call_until_refused(weft::Communicator& communicator, std::string_view words) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  weft::Status status;
  do {
    std::this_thread::yield();
    status = communicator.all_reduce(nullptr, nullptr, ~std::uint64_t{0}, weft::DataType::Float32);
  } while (status.message().find(words) == std::string_view::npos && std::chrono::steady_clock::now() < deadline);
  return status;
}

weft::Status call_from_two_threads(weft::Communicator& communicator) {
  Sum sum;
  WEFT_TRY_ASSIGN(weft::Communicator pair, communicator.split(0));
  if (communicator.rank() == 1) {
    WEFT_TRY(pair.barrier());  // the second thread of rank 0 was refused
    WEFT_TRY(communicator.run(sum.operation()));
    return communicator.close();
  }
  weft::Status second;
  weft::Status told;
  weft::Work work = communicator.start(sum.operation());
  std::thread other([&] {
    second = call_until_refused(communicator, "another thread");
    // It waits until the barrier below.
    const Sum other_sum;
    expect_refused(communicator.prepare(other_sum.operation()).status(), "another thread", "prepare");
    expect_refused(communicator.set_algorithms("all_reduce:ring"), "another thread", "set_algorithms");
    expect_refused(communicator.send(other_sum.in.data(), 1, weft::DataType::Float32, 1), "another thread", "send");
    expect_refused(communicator.close(), "another thread", "close");
    told = pair.barrier();
  });
  const weft::Status first = work.wait();
  other.join();
  expect_refused(second, "another thread", "a call while another thread waits");
  expect(sum.done(), "the first thread's operation is whole");
  WEFT_TRY(told);
  WEFT_TRY(first);
  return communicator.close();
}

// Waits as a program's own loop does, among other descriptors.
bool readable(int descriptor, int timeout_ms) {
  pollfd polled{descriptor, POLLIN, 0};
  return ::poll(&polled, 1, timeout_ms) == 1 && (polled.revents & POLLIN) != 0;
}

void take(int descriptor) {
  std::uint64_t ended = 0;
  expect(::read(descriptor, &ended, sizeof ended) == sizeof ended && ended > 0, "operations have ended");
}

weft::Status poll_for_events(weft::Communicator& communicator) {
  Sum sum;
  WEFT_TRY_ASSIGN(const int descriptor, communicator.event_descriptor());
  WEFT_TRY_ASSIGN(const int same, communicator.event_descriptor());
  expect(descriptor == same, "there is one descriptor");
  expect(communicator.cost().descriptors == 1 && communicator.cost().shared.threads >= 1, "cost() tells");
  if (communicator.rank() == 1) {
    WEFT_TRY(communicator.barrier());
    WEFT_TRY(communicator.run(sum.operation()));
    WEFT_TRY(communicator.run(sum.operation()));
    return communicator.barrier();
  }
  weft::Work late = communicator.start(weft::barrier());
  WEFT_TRY(late.wait());
  take(descriptor);
  std::vector<weft::Work> works;
  Sum other;
  works.push_back(communicator.start(sum.operation()));
  works.push_back(communicator.start(other.operation()));
  while (!works.empty()) {
    expect(readable(descriptor, 20'000), "an operation ends");
    if (failures > 0) return {};
    take(descriptor);
    for (std::size_t i = works.size(); i-- > 0;) {
      if (!works[i].test()) continue;
      WEFT_TRY(works[i].wait());
      works.erase(works.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  expect(sum.done() && other.done(), "both are whole");
  return communicator.barrier();
}

// Rank 1 makes no call: nobody waits, and rank 0 is told all the same.
weft::Status poll_for_the_end(weft::Communicator& communicator) {
  WEFT_TRY_ASSIGN(const int descriptor, communicator.event_descriptor());
  if (communicator.rank() == 1) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (communicator.health().ok() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    expect(communicator.health().code() == weft::Code::Timeout, "rank 1 is told: " + communicator.health().to_string());
    return {};
  }
  weft::Work work = communicator.start(weft::barrier());
  expect(readable(descriptor, 20'000), "the deadline ends the operation");
  expect(work.test(), "it is done");
  const weft::Status status = work.wait();
  expect(status.code() == weft::Code::Timeout && status.peer() == 1, "rank 1 is missed: " + status.to_string());
  return {};
}

weft::Status run(std::string_view what, const char* port) {
  WEFT_TRY_ASSIGN(const weft::Options options, weft::Options::from_environment());
  WEFT_TRY_ASSIGN(weft::Communicator communicator, weft::Communicator::create(options));
  if (what == "fork") return fork_between_calls(communicator);
  if (what == "child") return fork_workers(options, communicator, port, "");
  if (what == "ucx-child") return fork_workers(options, communicator, port, "forked from one that was using UCX");
  if (what == "dropped") return drop_a_work(communicator);
  if (what == "threads") return call_from_two_threads(communicator);
  if (what == "events") return poll_for_events(communicator);
  if (what == "end") return poll_for_the_end(communicator);
  if (what == "no-events") {
    const weft::Status status = communicator.event_descriptor().status();
    expect(status.code() == weft::Code::Unsupported, "it is refused: " + status.to_string());
    expect_refused(status, "WEFT_PROGRESS_THREAD=1", "without a helper thread");
    return {};
  }
  return {weft::Code::InvalidArgument, "no such contract"};
}

}  // namespace

int main(int argc, char** argv) {
  const weft::Status status = run(argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "");
  if (!status.ok()) return std::fprintf(stderr, "%s\n", status.to_string().c_str()), 1;
  return failures == 0 ? 0 : 3;
}
