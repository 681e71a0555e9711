// A picture as SVG.
#include "topology/export/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "topology/export/markup.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kMaxMarks = 3;  // of one part; the rest is counted
constexpr double kMarkRadius = 8.5;

std::string text_of(const PictureText& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{:g}\"{}{}>{}</text>\n", text.x, text.y, text.size,
                     text.strong ? " class=\"strong\"" : "", text.ends ? " text-anchor=\"end\"" : "",
                     escaped(text.text));
}

std::string title_of(const std::string& title) {
  return title.empty() ? "" : fmt::format("<title>{}</title>", escaped(title));
}

std::string line_of(const PictureLine& line) {
  std::string out = fmt::format("<path class=\"link band{}{}\" d=\"{}\">{}</path>\n", line.band,
                                line.assumed ? " assumed" : "", line.path, title_of(line.title));
  if (!line.label.text.empty()) out += text_of(line.label);
  return out;
}

std::string target_of(const PictureMark& mark) {
  return mark.target ? fmt::format(" id=\"part{}\"", mark.number) : std::string();
}

// Circles from the right edge of the box inwards, on its upper border.
std::string marks_of(const PictureBox& box) {
  std::string out;
  const std::size_t shown = std::min(box.marks.size(), kMaxMarks);
  for (std::size_t i = 0; i < shown; ++i) {
    const PictureMark& mark = box.marks[i];
    const bool rest = i + 1 == shown && shown < box.marks.size();
    const double x = box.x + box.width - 14 - static_cast<double>(i) * (2 * kMarkRadius + 3);
    const double y = box.y + 14;
    const std::string words = rest ? fmt::format("+{}", box.marks.size() - shown + 1) : fmt::format("{}", mark.number);
    out += fmt::format(
        "<a{} href=\"#finding{}\"><circle class=\"mark {}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:g}\"/><text "
        "class=\"number\" "
        "x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"9\" text-anchor=\"middle\">{}</text></a>\n",
        target_of(mark), mark.number, mark.severity, x, y, kMarkRadius, x, y + 3.2, words);
  }
  for (std::size_t i = shown; i < box.marks.size(); ++i)
    if (box.marks[i].target) out += fmt::format("<g{}/>\n", target_of(box.marks[i]));
  return out;
}

std::string box_of(const PictureBox& box) {
  std::string out = "<g>";
  if (!box.marks.empty()) out = fmt::format("<g class=\"found {}\">", box.marks.front().severity);
  out += title_of(box.title);
  out += fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{}\"/>\n",
                     box.look, box.x, box.y, box.width, box.height, box.width > 20 ? 5 : 2);
  for (const PictureText& text : box.texts) out += text_of(text);
  return out + marks_of(box) + "</g>\n";
}

// An arrow between the places of two nodes, bent to the side so that there and back can be told apart.
std::string arrow(const PicturePlace& from, const PicturePlace& to, double middle) {
  const double dx = to.x - from.x;
  const double dy = to.y - from.y;
  const double length = std::max(1.0, std::hypot(dx, dy));
  const double bend = std::min(90.0, 18 + length * 0.22);
  // Along a column the bow goes into the middle of the picture whichever way the arrow runs.
  const bool along = std::abs(dx) < 1;
  const double x = (from.x + to.x) / 2 + (along ? (from.x > middle ? -bend : bend) : -dy / length * bend * 0.3);
  const double y = (from.y + to.y) / 2 + (along ? 0 : dx / length * bend * 0.3);
  return fmt::format("<path d=\"M{:.1f} {:.1f}Q{:.1f} {:.1f} {:.1f} {:.1f}\" marker-end=\"url(#arrow)\"/>\n", from.x,
                     from.y, x, y, to.x, to.y);
}

std::string overlay_of(const Picture& picture, const PictureOverlay& overlay) {
  std::string out = fmt::format("<g class=\"overlay {}\">\n", overlay.css_class);
  for (const auto& [a, b] : overlay.edges) {
    const auto from = picture.places.find(a);
    const auto to = picture.places.find(b);
    if (from != picture.places.end() && to != picture.places.end())
      out += arrow(from->second, to->second, picture.width / 2);
  }
  return out + "</g>\n";
}

}  // namespace

std::string svg_arrow() {
  return "<svg class=\"head\" width=\"0\" height=\"0\" aria-hidden=\"true\"><defs><marker id=\"arrow\" viewBox=\"0 0 8 "
         "8\" refX=\"7\" "
         "refY=\"4\" markerWidth=\"5\" markerHeight=\"5\" orient=\"auto\"><path class=\"arrow\" d=\"M0 0L8 4L0 8z\"/>"
         "</marker></defs></svg>\n";
}

std::string svg_of(const Picture& picture, std::string_view title, const std::vector<PictureOverlay>& overlays) {
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" "
      "role=\"img\">\n<title>{}</title>\n",
      std::ceil(picture.width), std::ceil(picture.height), std::ceil(picture.width), std::ceil(picture.height),
      escaped(title));
  // Lines are drawn above what they run through and below what they lead to.
  for (const PictureBox& box : picture.boxes)
    if (box.look == "machine" || box.look == "package" || box.look == "numa") out += box_of(box);
  for (const PictureLine& line : picture.lines) out += line_of(line);
  for (const PictureBox& box : picture.boxes)
    if (box.look != "machine" && box.look != "package" && box.look != "numa") out += box_of(box);
  for (const PictureOverlay& overlay : overlays) out += overlay_of(picture, overlay);
  return out + "</svg>\n";
}

}  // namespace weft::topology
