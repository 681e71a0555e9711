// JsonWriter: JSON text, written as it is spelled. Cheap to compile and to run; used wherever Weft writes JSON.
//
//   JsonWriter json;
//   json.begin_object(JsonWriter::Layout::Lines);
//   json.member("schema", 1);
//   json.end_object();
//   file << std::move(json).text();
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::base {

class JsonWriter {
 public:
  // What stands on one line makes all that is in it stand there too; of Lines, each element gets a line of its own.
  enum class Layout : std::uint8_t { OneLine, Lines };

  void begin_object(Layout layout = Layout::OneLine) { begin('{', layout); }
  void end_object() { end('}'); }
  void begin_list(Layout layout = Layout::OneLine) { begin('[', layout); }
  void end_list() { end(']'); }
  void begin_object(std::string_view name, Layout layout = Layout::OneLine) { key(name), begin_object(layout); }
  void begin_list(std::string_view name, Layout layout = Layout::OneLine) { key(name), begin_list(layout); }

  // In an object: the name of the value that is written next.
  void key(std::string_view name);

  // A value. Text that is not UTF-8 is mended with U+FFFD; a number that is not finite becomes null, as does what is
  // unknown.
  void value(std::string_view text);
  void value(const std::string& text) { value(std::string_view(text)); }
  void value(const char* text) { value(std::string_view(text)); }
  void value(double number);
  void value(bool yes) { raw(yes ? "true" : "false"); }
  void value(std::nullptr_t) { raw("null"); }
  void value(std::signed_integral auto number) { write_signed(number); }
  void value(std::unsigned_integral auto number) { write_unsigned(number); }
  template <typename T>
  void value(const std::optional<T>& known) {
    if (known)
      value(*known);
    else
      value(nullptr);
  }
  template <typename T>
  void value(const std::vector<T>& list) {
    begin_list();
    for (const auto& element : list) value(element);
    end_list();
  }
  // JSON that somebody else wrote, as it is.
  void raw(std::string_view json);

  template <typename T>
  void member(std::string_view name, const T& of_it) {
    key(name);
    value(of_it);
  }

  // All of it, with an end of line.
  std::string text() &&;

 private:
  struct Open {
    Layout layout;
    bool empty;
  };
  void begin(char bracket, Layout layout);
  void end(char bracket);
  void separate();  // from what came before
  void new_line();
  void write_signed(std::int64_t number);
  void write_unsigned(std::uint64_t number);
  void quote(std::string_view text);

  std::string out_;
  std::vector<Open> open_;
  bool after_key_ = false;
};

}  // namespace weft::base
