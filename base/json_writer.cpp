// JsonWriter: commas, lines, escapes, and UTF-8 that is mended where it is broken.
#include "base/json_writer.hpp"

#include <charconv>
#include <cmath>

#include "base/assert.hpp"

namespace weft::base {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

unsigned char byte_at(std::string_view text, std::size_t at) { return static_cast<unsigned char>(text[at]); }

// Bytes of the character that starts here, from 1 to 4; 0 where no character of UTF-8 does (Unicode, table 3-7).
std::size_t character_bytes(std::string_view text) {
  const unsigned char first = byte_at(text, 0);
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const std::size_t bytes = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (text.size() < bytes) return 0;
  const unsigned char second = byte_at(text, 1);
  const unsigned least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;  // not the long form of a shorter one
  const unsigned most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;   // no surrogate, none above U+10FFFF
  if (second < least || second > most) return 0;
  for (std::size_t i = 2; i < bytes; ++i)
    if ((byte_at(text, i) & 0xc0) != 0x80) return 0;
  return bytes;
}

// Empty: it stands for itself.
std::string_view short_escape(char c) {
  switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    case '\b':
      return "\\b";
    case '\f':
      return "\\f";
    default:
      return {};
  }
}

template <typename Number>
void append(std::string& out, Number number) {
  char digits[32];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

}  // namespace

void JsonWriter::key(std::string_view name) {
  WEFT_ASSERT(!open_.empty() && !after_key_);
  separate();
  quote(name);
  out_ += ": ";
  after_key_ = true;
}

void JsonWriter::value(std::string_view text) {
  separate();
  quote(text);
}

void JsonWriter::value(double number) {
  if (!std::isfinite(number)) return raw("null");
  separate();
  const std::size_t start = out_.size();
  append(out_, number);
  if (out_.find_first_of(".e", start) == std::string::npos) out_ += ".0";  // stays a fraction for who reads it
}

void JsonWriter::raw(std::string_view json) {
  while (json.ends_with('\n')) json.remove_suffix(1);
  separate();
  out_ += json;
}

std::string JsonWriter::text() && {
  WEFT_ASSERT(open_.empty());
  out_ += '\n';
  return std::move(out_);
}

void JsonWriter::begin(char bracket, Layout layout) {
  separate();
  out_ += bracket;
  if (!open_.empty() && open_.back().layout == Layout::OneLine) layout = Layout::OneLine;
  open_.push_back({layout, true});
}

void JsonWriter::end(char bracket) {
  WEFT_ASSERT(!open_.empty() && !after_key_);
  const Open closed = open_.back();
  open_.pop_back();
  if (closed.layout == Layout::Lines && !closed.empty) new_line();
  out_ += bracket;
}

void JsonWriter::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (open_.empty()) return;
  Open& in = open_.back();
  if (!in.empty) out_ += in.layout == Layout::Lines ? "," : ", ";
  in.empty = false;
  if (in.layout == Layout::Lines) new_line();
}

void JsonWriter::new_line() {
  out_ += '\n';
  out_.append(open_.size(), ' ');
}

void JsonWriter::write_signed(std::int64_t number) {
  separate();
  append(out_, number);
}

void JsonWriter::write_unsigned(std::uint64_t number) {
  separate();
  append(out_, number);
}

void JsonWriter::quote(std::string_view text) {
  out_ += '"';
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    const std::string_view escape = short_escape(text[0]);
    if (bytes == 0)
      out_ += kReplacement;
    else if (!escape.empty())
      out_ += escape;
    else if (byte_at(text, 0) < 0x20)
      out_.append("\\u00").append(1, byte_at(text, 0) < 0x10 ? '0' : '1').append(1, "0123456789abcdef"[text[0] & 0xf]);
    else
      out_ += text.substr(0, bytes);
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  out_ += '"';
}

}  // namespace weft::base
