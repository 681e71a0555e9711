// TarText: a tar archive made entry by entry, also such as no tool would write.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weft::topology::test {

class TarText {
 public:
  TarText& file(std::string_view name, std::string_view content) { return add(name, '0', content, ""); }
  TarText& folder(std::string_view name) { return add(name, '5', "", ""); }
  TarText& link(std::string_view name, std::string_view target) { return add(name, '2', "", target); }
  TarText& device(std::string_view name) { return add(name, '3', "", ""); }
  // A file that says to be that large, and is not.
  TarText& claim(std::string_view name, std::size_t bytes);

  std::string text() const;

 private:
  TarText& add(std::string_view name, char type, std::string_view content, std::string_view target);
  void add_header(std::string_view name, char type, std::size_t bytes, std::string_view target);
  std::string bytes_;
};

}  // namespace weft::topology::test
