// Status and Result<T>: how Weft reports what the world did wrong.
//
// Weft throws nothing. A function that can fail returns a Status, or a Result<T> when it also has a value to give. Both
// are [[nodiscard]]. A Status that is OK is one null pointer, so the success path costs a register.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace weft {

enum class Code : std::uint8_t {
  Ok = 0,
  InvalidArgument,    // the caller's argument is wrong; the message names it and the remedy
  NotFound,           // a name (algorithm, model, file, rank) that does not exist
  Unsupported,        // correct in principle, but this build or machine cannot do it; says why
  Mismatch,           // ranks made different calls; the message names both
  PeerLost,           // a rank died or its connection broke; Status::peer() names it
  Timeout,            // a wait passed its deadline; the message says who waited for whom
  Aborted,            // the communicator was aborted here or by a peer
  ResourceExhausted,  // memory, descriptors, shared-memory limits
  Corrupt,            // bytes that another program wrote do not parse
  SystemError,        // the operating system refused; carries its error text
  Internal,           // our own mistake, found at run time
};

// "invalid argument", "peer lost", ... for messages and logs.
std::string_view to_string(Code code);

class [[nodiscard]] Status {
 public:
  Status() = default;  // OK
  Status(Code code, std::string message, int peer = -1);

  Status(const Status& other);
  Status& operator=(const Status& other);
  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;
  ~Status() = default;

  bool ok() const { return error_ == nullptr; }
  Code code() const { return error_ ? error_->code : Code::Ok; }
  // What happened, to whom, and what to do. Empty when OK.
  std::string_view message() const { return error_ ? std::string_view(error_->message) : std::string_view(); }
  // The rank that caused the error, in the communicator that reported it; -1 when there is none.
  int peer() const { return error_ ? error_->peer : -1; }
  // "peer lost: all_reduce #42: rank 3 died", or "ok".
  std::string to_string() const;

  // The same error with "context: " before its message; an OK status stays OK.
  Status with_context(std::string_view context) &&;

 private:
  struct Error {
    Code code;
    int peer;
    std::string message;
  };
  std::unique_ptr<Error> error_;
};

// A value or the Status that says why there is none. Reads like std::expected.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::in_place_index<0>, std::move(value)) {}       // NOLINT: implicit by design
  Result(Status error) : value_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit by design

  bool has_value() const { return value_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  // Only when has_value().
  T& value() & { return *std::get_if<0>(&value_); }
  const T& value() const& { return *std::get_if<0>(&value_); }
  T&& value() && { return std::move(*std::get_if<0>(&value_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // Only when !has_value().
  const Status& error() const& { return *std::get_if<1>(&value_); }
  Status&& error() && { return std::move(*std::get_if<1>(&value_)); }

  // OK when there is a value, else the error: lets a Result be checked where a Status is expected.
  Status status() const { return has_value() ? Status() : error(); }

 private:
  std::variant<T, Status> value_;
};

}  // namespace weft

// Returns the error of a Status expression from the enclosing function; continues when it is OK.
#define WEFT_TRY(expression)                                                                          \
  do {                                                                                                \
    if (::weft::Status weft_try_status = (expression); !weft_try_status.ok()) return weft_try_status; \
  } while (false)

// WEFT_TRY_ASSIGN(auto graph, read_graph(path)): declares or assigns the value, or returns the error.
#define WEFT_TRY_CONCAT_(a, b) a##b
#define WEFT_TRY_CONCAT(a, b) WEFT_TRY_CONCAT_(a, b)
#define WEFT_TRY_ASSIGN(target, expression) \
  WEFT_TRY_ASSIGN_(WEFT_TRY_CONCAT(weft_try_result_, __LINE__), target, expression)
#define WEFT_TRY_ASSIGN_(result, target, expression)         \
  auto result = (expression);                                \
  if (!result.has_value()) return std::move(result).error(); \
  target = std::move(result).value()
