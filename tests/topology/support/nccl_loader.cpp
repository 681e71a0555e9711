// A reader as strict as NCCL's.
#include "tests/topology/support/nccl_loader.hpp"

#include <cctype>
#include <cstddef>
#include <vector>

namespace weft::topology::test {
namespace {

struct Open {
  std::string name;
  std::size_t children = 0;
};

class Loader {
 public:
  explicit Loader(std::string_view text) : text_(text) {}

  std::string read() {
    while (complaint_.empty()) {
      while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
      if (at_ == text_.size()) break;
      if (text_[at_] != '<') return "expecting '<', got '" + std::string(1, text_[at_]) + "'";
      ++at_;
      if (text_.substr(at_).starts_with("!--"))
        skip_comment();
      else
        read_tag();
    }
    if (!complaint_.empty()) return complaint_;
    if (!open_.empty()) return "<" + open_.back().name + "> is not closed";
    return systems_ == 1 ? "" : "there is not one <system>";
  }

 private:
  char next() { return at_ < text_.size() ? text_[at_++] : '\0'; }

  void skip_comment() {
    const std::size_t end = text_.find("-->", at_);
    if (end == std::string_view::npos) complaint_ = "a comment without end";
    at_ = end + 3;
  }

  std::string word() {
    std::string word;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      word += text_[at_++];
    return word;
  }

  void read_tag() {
    if (text_[at_] == '/') return close();
    const std::string name = word();
    if (name.empty()) complaint_ = "a tag without name";
    if (++elements_ > 256) complaint_ = "more than 256 elements";
    if (open_.empty()) systems_ += name == "system" ? 1 : 2;
    if (!open_.empty() && ++open_.back().children > 640) complaint_ = "more than 640 children";
    int attributes = 0;
    char c = next();
    for (; c == ' ' && complaint_.empty(); c = next()) {
      read_attribute(name, attributes == 0);
      if (++attributes > 16) complaint_ = "more than 16 attributes";
    }
    if (c == '/') {
      if (next() != '>') complaint_ = "'/' without '>' in <" + name + ">";
    } else if (c == '>') {
      open_.push_back({name});
    } else if (complaint_.empty()) {
      complaint_ = "unexpected character in <" + name + ">";
    }
  }

  void read_attribute(const std::string& element, bool first) {
    const std::string key = word();
    if (key.empty() || next() != '=' || next() != '"') {
      complaint_ = "no attribute behind the blank in <" + element + ">";
      return;
    }
    const std::size_t end = text_.find('"', at_);
    const std::string_view value = text_.substr(at_, end - at_);
    if (end == std::string_view::npos || value.size() > 255) complaint_ = "a value without end, or too long";
    for (char c : value)
      if (static_cast<unsigned char>(c) < ' ' || c == '&') complaint_ = "a value that is not plain";
    if (element == "system" && first && (key != "version" || (value != "1" && value != "2"))) complaint_ = "no version";
    at_ = end + 1;
  }

  void close() {
    ++at_;
    const std::string name = word();
    if (next() != '>') complaint_ = "no end of </" + name;
    if (open_.empty() || open_.back().name != name)
      complaint_ = "</" + name + "> closes another element";
    else
      open_.pop_back();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Open> open_;
  std::size_t elements_ = 0;
  int systems_ = 0;
  std::string complaint_;
};

}  // namespace

std::string nccl_complaint(std::string_view text) { return Loader(text).read(); }

}  // namespace weft::topology::test
