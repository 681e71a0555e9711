// Words for codes, and copies of errors.
#include "weft/status.hpp"

namespace weft {

std::string_view to_string(Code code) {
  switch (code) {
    case Code::Ok:
      return "ok";
    case Code::InvalidArgument:
      return "invalid argument";
    case Code::NotFound:
      return "not found";
    case Code::Unsupported:
      return "unsupported";
    case Code::Mismatch:
      return "mismatched calls";
    case Code::PeerLost:
      return "peer lost";
    case Code::Timeout:
      return "timeout";
    case Code::Aborted:
      return "aborted";
    case Code::ResourceExhausted:
      return "resource exhausted";
    case Code::Corrupt:
      return "corrupt data";
    case Code::SystemError:
      return "system error";
    case Code::Internal:
      return "internal error";
  }
  return "unknown code";
}

Status::Status(Code code, std::string message, int peer) {
  if (code != Code::Ok) error_ = std::make_unique<Error>(Error{code, peer, std::move(message)});
}

Status::Status(const Status& other) : error_(other.error_ ? std::make_unique<Error>(*other.error_) : nullptr) {}

Status& Status::operator=(const Status& other) {
  if (this != &other) error_ = other.error_ ? std::make_unique<Error>(*other.error_) : nullptr;
  return *this;
}

std::string Status::to_string() const {
  if (ok()) return "ok";
  return std::string(weft::to_string(error_->code)) + ": " + error_->message;
}

Status Status::with_context(std::string_view context) && {
  if (error_) error_->message = std::string(context) + ": " + error_->message;
  return std::move(*this);
}

}  // namespace weft
