// The bytes of each kind of message.
#include "comm/control_message.hpp"

#include <cstring>

namespace weft::comm {
namespace {

constexpr std::uint8_t kVersion = 3;
constexpr std::size_t kMaxText = 4096;

class Writer {
 public:
  template <typename T>
  void number(T value) {
    for (std::size_t byte = 0; byte < sizeof(T); ++byte) {
      bytes_.push_back(static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * byte) & 0xff));
    }
  }
  void text(std::string_view text) {
    text = text.substr(0, kMaxText);
    number(static_cast<std::uint32_t>(text.size()));
    bytes_.append(text);
  }
  std::string take() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads past the end give zeros and clear ok().
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  T number() {
    if (bytes_.size() < sizeof(T)) {
      ok_ = false;
      bytes_ = {};
      return T{};
    }
    std::uint64_t value = 0;
    for (std::size_t byte = 0; byte < sizeof(T); ++byte) {
      value |= std::uint64_t{static_cast<unsigned char>(bytes_[byte])} << (8 * byte);
    }
    bytes_.remove_prefix(sizeof(T));
    return static_cast<T>(value);
  }
  std::string text() {
    const auto size = number<std::uint32_t>();
    if (size > kMaxText || size > bytes_.size()) {
      ok_ = false;
      return {};
    }
    std::string text(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
    return text;
  }
  bool ok() const { return ok_; }
  bool at_end() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
  bool ok_ = true;
};

void write(Writer& out, const CallRecord& record) {
  out.number(record.sequence);
  out.number(record.call);
  out.number(record.root);
  out.number(record.count);
  out.number(record.hash);
}

CallRecord read_record(Reader& in) {
  CallRecord record;
  record.sequence = in.number<std::uint32_t>();
  record.call = in.number<std::uint32_t>();
  record.root = in.number<std::int32_t>();
  record.count = in.number<std::uint64_t>();
  record.hash = in.number<std::uint64_t>();
  return record;
}

void write(Writer& out, const std::vector<ControlMessage::MadeOperator>& operators) {
  out.number(static_cast<std::uint32_t>(operators.size()));
  for (const auto& made : operators) {
    out.number(made.sequence);
    out.text(made.text);
  }
}

bool read(Reader& in, std::vector<ControlMessage::MadeOperator>* operators) {
  const auto count = in.number<std::uint32_t>();
  if (count > kMaxAskedCalls) return false;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto sequence = in.number<std::uint32_t>();
    operators->push_back({sequence, in.text()});
  }
  return true;
}

}  // namespace

std::string encode(const ControlMessage& message) {
  Writer out;
  out.number(kVersion);
  out.number(static_cast<std::uint8_t>(message.kind));
  out.number(message.communicator.id);
  out.number(message.communicator.leader);
  out.number(static_cast<std::uint32_t>(message.calls.size()));
  for (const CallRecord& record : message.calls) write(out, record);
  out.number(static_cast<std::uint8_t>(message.code));
  out.number(message.peer);
  out.text(message.text);
  if (message.kind == ControlKind::Ask) write(out, message.operators);
  if (message.kind == ControlKind::Join) {
    out.number(message.members);
    out.number(message.id);
  }
  return std::move(out).take();
}

Result<ControlMessage> decode(std::string_view bytes) {
  Reader in(bytes);
  if (in.number<std::uint8_t>() != kVersion) return Status(Code::Corrupt, "control message of an unknown version");
  ControlMessage message;
  const auto kind = in.number<std::uint8_t>();
  message.kind = static_cast<ControlKind>(kind);
  message.communicator.id = in.number<std::uint32_t>();
  message.communicator.leader = in.number<std::int32_t>();
  const auto calls = in.number<std::uint32_t>();
  if (calls > kMaxAskedCalls) return Status(Code::Corrupt, "control message with too many calls");
  for (std::uint32_t call = 0; call < calls; ++call) message.calls.push_back(read_record(in));
  const auto code = in.number<std::uint8_t>();
  message.code = static_cast<Code>(code);
  message.peer = in.number<std::int32_t>();
  message.text = in.text();
  if (message.kind == ControlKind::Ask && !read(in, &message.operators))
    return Status(Code::Corrupt, "control message with too many operators");
  if (message.kind == ControlKind::Join) {
    message.members = in.number<std::uint64_t>();
    message.id = in.number<std::uint32_t>();
  }
  const bool known = kind >= 1 && kind <= 5 && code <= static_cast<std::uint8_t>(Code::Internal);
  if (!in.ok() || !in.at_end() || !known)
    return Status(Code::Corrupt, "control message that is cut short or malformed");
  return message;
}

}  // namespace weft::comm
