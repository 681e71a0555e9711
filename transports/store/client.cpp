// Questions wait here for their answers, until their deadline, the end of the link or that of a rank they need.
#include "transports/store/client.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "base/assert.hpp"
#include "transports/store/printable.hpp"

namespace weft::transports {
namespace {

constexpr int kLeaveTimeoutMs = 2000;
constexpr int kCancelTimeoutMs = 1000;  // a get() may outlast its deadline by this much, to learn who is absent

Status check_lengths(std::string_view key, std::string_view value) {
  if (key.empty() || key.size() > kMaxKeyBytes) {
    return Status(Code::InvalidArgument, fmt::format("a key has 1 to {} bytes, this one {}", kMaxKeyBytes, key.size()));
  }
  if (value.size() > kMaxValueBytes) {
    return Status(Code::InvalidArgument, fmt::format("the value of key '{}' has {} bytes, the store takes {}: split it",
                                                     printable(key), value.size(), kMaxValueBytes));
  }
  return {};
}

std::string seconds(int ms) { return fmt::format("{:g} s", ms / 1000.0); }

}  // namespace

StoreClient::StoreClient(int rank, int size, int timeout_ms, Inbox& inbox)
    : rank_(rank),
      size_(size),
      timeout_ms_(timeout_ms),
      process_(::getpid()),
      exceptions_(std::uncaught_exceptions()),
      inbox_(inbox) {}

StoreClient::~StoreClient() {
  if (::getpid() != process_) {
    // The threads behind these are the parent's; ending them here could only wait for ever.
    static_cast<void>(link_.release());
    static_cast<void>(answered_.release());
    return;
  }
  // An owner that is being unwound by an exception goes down: the others must hear of a death, not of a farewell.
  if (std::uncaught_exceptions() == exceptions_) leave();
  inbox_.listen({});
  link_.reset();
}

Status StoreClient::set(std::string_view key, std::string_view value) {
  WEFT_TRY(check_lengths(key, value));
  return ask(Frame{.type = FrameType::Set, .key = std::string(key), .value = std::string(value)}, timeout_ms_).status();
}

Result<std::string> StoreClient::get(std::string_view key, int timeout_ms) {
  WEFT_TRY(check_lengths(key, {}));
  return ask(Frame{.type = FrameType::Get, .key = std::string(key)}, timeout_ms);
}

Status StoreClient::remove(std::string_view key) {
  WEFT_TRY(check_lengths(key, {}));
  return ask(Frame{.type = FrameType::Remove, .key = std::string(key)}, timeout_ms_).status();
}

Status StoreClient::send(int to, std::string_view message) {
  if (to < -1 || to >= size_) {
    return Status(Code::InvalidArgument, fmt::format("rank {} is not among the {} ranks of this job", to, size_));
  }
  if (message.size() > kMaxValueBytes) {
    return Status(Code::InvalidArgument,
                  fmt::format("a message has {} bytes, the store takes {}: split it", message.size(), kMaxValueBytes));
  }
  WEFT_TRY(usable());
  link_->submit(Frame{.type = FrameType::Send, .rank = to, .value = std::string(message)});
  return {};
}

void StoreClient::listen(Listener listener) {
  if (::getpid() == process_) inbox_.listen(std::move(listener));
}

void StoreClient::leave() {
  if (!usable().ok()) return;
  // Failing to say goodbye is no error: whoever should hear it is gone.
  static_cast<void>(ask(Frame{.type = FrameType::Leave}, kLeaveTimeoutMs));
  const std::lock_guard lock(mutex_);
  left_ = true;
}

void StoreClient::receive(Frame frame) {
  if (frame.type == FrameType::Message || frame.type == FrameType::Died) {
    const bool death = frame.type == FrameType::Died;
    if (!inbox_.push({.rank = frame.rank, .death = death, .message = std::move(frame.value)})) {
      fail(Status(Code::ResourceExhausted,
                  fmt::format("rank {} has too many messages waiting that nobody listens to: call listen()", rank_)));
    }
    return;
  }
  const std::lock_guard lock(mutex_);
  const auto found = questions_.find(frame.request);
  if (found == questions_.end()) return;  // its asker has given up
  answer(found->second, std::move(frame));
  answered_->notify_all();
}

void StoreClient::fail(Status why) {
  WEFT_ASSERT(!why.ok());
  const std::lock_guard lock(mutex_);
  if (!failure_.ok()) return;
  failure_ = std::move(why);
  for (auto& [request, question] : questions_) {
    if (question.answered) continue;
    question.answered = true;
    question.status = failure_;
  }
  answered_->notify_all();
}

Result<std::string> StoreClient::ask(Frame frame, int timeout_ms) {
  WEFT_TRY(usable());
  std::unique_lock lock(mutex_);
  if (!failure_.ok()) return failure_;
  const std::uint32_t request = next_request_++;
  frame.request = request;
  Question& question = questions_[request];
  const auto wait = [&](int ms) {
    return answered_->wait_until(lock, base::Deadline::after_ms(ms).time(), [&] { return question.answered; });
  };
  const auto submit = [&](Frame&& what) {
    lock.unlock();
    link_->submit(std::move(what));
    lock.lock();
  };
  const Frame subject{.type = frame.type, .key = frame.type == FrameType::Get ? frame.key : std::string()};
  submit(std::move(frame));
  const bool in_time = wait(timeout_ms);
  if (!in_time && subject.type == FrameType::Get) {
    submit(Frame{.type = FrameType::Cancel, .request = request});
    wait(kCancelTimeoutMs);
  }
  const Question outcome = std::move(questions_.extract(request).mapped());
  lock.unlock();
  if (!outcome.answered) return timed_out(subject, timeout_ms, {});
  if (outcome.status.code() == Code::Timeout) return timed_out(subject, timeout_ms, outcome.status.message());
  if (!outcome.status.ok()) return outcome.status;
  return outcome.value;
}

void StoreClient::answer(Question& question, Frame&& frame) {
  if (question.answered) return;
  question.answered = true;
  if (frame.type == FrameType::Failed) {
    question.status = Status(static_cast<Code>(frame.code), std::move(frame.value), frame.rank);
  } else {
    question.value = std::move(frame.value);
  }
}

Status StoreClient::usable() const {
  if (::getpid() != process_) {
    return Status(Code::InvalidArgument,
                  fmt::format("this store belongs to process {}; a forked child must make its own", process_));
  }
  const std::lock_guard lock(mutex_);
  if (left_) return Status(Code::InvalidArgument, fmt::format("rank {} has left the store", rank_));
  return failure_;
}

Status StoreClient::timed_out(const Frame& frame, int timeout_ms, std::string_view absent) const {
  if (frame.type != FrameType::Get) {
    return Status(Code::Timeout,
                  fmt::format("rank {} had no answer from the store at rank 0 in {}", rank_, seconds(timeout_ms)));
  }
  std::string message = fmt::format("rank {} waited {} for key '{}'", rank_, seconds(timeout_ms), printable(frame.key));
  const std::size_t end = std::min(absent.find('\n'), absent.size());
  const std::string_view ranks = absent.substr(0, end);
  if (!ranks.empty()) {
    const bool several = ranks.find(',') != std::string_view::npos;
    message += fmt::format("; {} {} {} not connected after {}: check that all ranks were started",
                           several ? "ranks" : "rank", ranks, several ? "have" : "has", seconds(timeout_ms));
  }
  if (end < absent.size()) message += fmt::format("; one that asked was refused: {}", absent.substr(end + 1));
  return Status(Code::Timeout, message + ". Set WEFT_TIMEOUT to wait longer.");
}

}  // namespace weft::transports
