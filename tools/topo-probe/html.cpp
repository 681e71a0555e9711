// The report as one HTML page that needs nothing else: pictures of the hosts, findings beside the parts they are about
// and in a list, matrices, facts. Works without scripts; rings and trees are shown by buttons of style sheets.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "base/plural.hpp"
#include "html_page.hpp"
#include "html_style.hpp"
#include "topology/export/bandwidth_bands.hpp"
#include "topology/export/markup.hpp"
#include "weft/version.hpp"

namespace weft::topo_probe {
namespace {

using topology::escaped;
using topology::Node;
using topology::NodeKind;

// Pictures of more kinds of hosts than this would hide the odd one rather than show it.
constexpr std::size_t kMaxPictures = 8;
constexpr std::size_t kMaxFindingsShown = 500;

class Page {
 public:
  explicit Page(Report& report)
      : report_(report),
        parts_(parts_of_findings(report)),
        findings_(topology::audit::share_findings(report.findings, report.locality.hosts())),
        orders_(orders_of(report)),
        groups_(groups()) {}

  std::string html() {
    std::string body = header() + order_buttons() + "<main>\n" + pictures() + network_html(report_) + findings() +
                       orders() + matrices_html(report_) + facts_html(report_, groups_) + unknown_html(report_) +
                       "</main>\n" + footer();
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta name=\"viewport\" "
        "content=\"width=device-width, initial-scale=1\">\n<meta http-equiv=\"Content-Security-Policy\" "
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<title>{} - topology</title>\n<style>{}{}</style>"
        "</head>\n<body>\n{}</body></html>\n",
        escaped(report_.graph.name), html_style(), order_style(), body);
  }

 private:
  // Like hosts together, but for those with other findings.
  std::vector<HostGroup> groups() const {
    std::map<int, std::string> found;  // host -> what
    for (std::size_t i = 0; i < parts_.size(); ++i)
      if (parts_[i] >= 0)
        found[report_.locality.node(parts_[i]).host] +=
            fmt::format("{} {}\n", report_.findings[i].id, report_.locality.node(parts_[i]).name);
    std::vector<HostGroup> split;
    for (const HostGroup& group : group_hosts(report_)) {
      std::map<std::string, std::size_t> with;
      for (int machine : group.machines) {
        const auto of_host = found.find(report_.locality.node(machine).host);
        const std::string& what = of_host == found.end() ? std::string() : of_host->second;
        const auto [at, fresh] = with.try_emplace(what, split.size());
        if (fresh) split.push_back({{}, group.tree});
        split[at->second].machines.push_back(machine);
      }
    }
    return split;
  }

  std::string header() const {
    const topology::Totals totals = topology::totals_of(report_.graph);
    std::string html = fmt::format("<header><h1>{}</h1>\n<p class=\"soft\">{}from {} &#183; fingerprint {}</p>\n",
                                   escaped(report_.graph.name), product(), escaped(report_.survey.source),
                                   escaped(fingerprint(report_.graph)));
    html += "<div class=\"tiles\">";
    const auto tile = [&](const std::string& number, std::string_view what, std::string_view look) {
      html += fmt::format("<div class=\"tile {}\"><b>{}</b>{}</div>", look, number, what);
    };
    const auto count = [&](NodeKind kind, std::string_view one, std::string_view many) {
      const std::size_t n = report_.graph.ids(kind).size();
      if (n > 0) tile(std::to_string(n), n == 1 ? one : many, "");
    };
    if (report_.locality.hosts() > 1) count(NodeKind::Machine, "host", "hosts");
    count(NodeKind::Package, "package", "packages");
    count(NodeKind::Numa, "NUMA node", "NUMA nodes");
    if (totals.cores) tile(std::to_string(*totals.cores), *totals.cores == 1 ? "core" : "cores", "");
    count(NodeKind::Gpu, "GPU", "GPUs");
    count(NodeKind::Nic, "NIC", "NICs");
    count(NodeKind::Storage, "storage device", "storage devices");
    for (auto severity :
         {topology::audit::Severity::Error, topology::audit::Severity::Warning, topology::audit::Severity::Info}) {
      const auto n = std::count_if(findings_.begin(), findings_.end(),
                                   [&](const auto& shared) { return shared.finding.severity == severity; });
      const std::string_view word = to_string(severity);
      if (n > 0) tile(std::to_string(n), n == 1 || word == "info" ? std::string(word) : std::string(word) + "s", word);
    }
    if (report_.findings.empty()) tile("0", "findings", "");
    return html + "</div></header>\n";
  }

  std::string product() const {
    const auto& platform = report_.survey.facts(0).platform;
    if (report_.locality.hosts() > 1 || !platform.product) return {};
    return fmt::format("{}{} &#183; ", platform.vendor ? escaped(*platform.vendor) + " " : "",
                       escaped(*platform.product));
  }

  // Inputs first, so that style sheets can tell what is chosen from all that comes behind.
  std::string order_buttons() const {
    if (orders_.empty()) return {};
    std::string inputs = "<input class=\"order\" type=\"radio\" name=\"order\" id=\"order-none\" checked>\n";
    std::string labels = "<label for=\"order-none\">links</label>";
    for (const Order& order : orders_) {
      inputs += fmt::format("<input class=\"order\" type=\"radio\" name=\"order\" id=\"order-{}\">\n",
                            order.overlay.css_class);
      labels += fmt::format("<label for=\"order-{}\">{}</label>", order.overlay.css_class, order.name);
    }
    return inputs + "<nav aria-label=\"what the picture shows\">" + labels + "</nav>\n";
  }

  std::string order_style() const {
    std::string css;
    const auto chosen = [&](std::string_view name) {
      css +=
          fmt::format("#order-{0}:checked~nav label[for=order-{0}]{{background:var(--ring);color:var(--page)}}", name);
    };
    if (!orders_.empty()) chosen("none");
    for (const Order& order : orders_) {
      const std::string& name = order.overlay.css_class;
      chosen(name);
      css += fmt::format(
          "#order-{0}:checked~main .{0}{{display:inline}}#order-{0}:checked~main figure .link{{opacity:.18}}", name);
    }
    return css;
  }

  std::string pictures() {
    topology::PictureMarks marks;
    for (std::size_t i = 0; i < findings_.size(); ++i)
      for (std::size_t member : findings_[i].members)
        if (const int part = parts_[member]; part >= 0)
          marks[part].push_back({static_cast<int>(i) + 1, to_string(findings_[i].finding.severity)});
    std::vector<topology::PictureOverlay> overlays;
    for (const Order& order : orders_) overlays.push_back(order.overlay);
    std::string html = "<section>" + legend();
    if (!overlays.empty()) html += topology::svg_arrow();
    std::size_t drawn = 0;
    std::set<int> targets;  // numbers that lead somewhere already
    for (const HostGroup& group : groups_) {
      if (drawn++ == kMaxPictures) {
        html += fmt::format(
            "<p class=\"soft\">{} of hosts more are not drawn; topo-probe without --format lists them.</p>\n",
            base::plural(groups_.size() - kMaxPictures, "kind"));
        break;
      }
      const Node& machine = report_.locality.node(group.machines.front());
      topology::Picture picture = topology::draw_host(report_.locality, machine.id, marks);
      for (topology::PictureBox& box : picture.boxes)
        for (topology::PictureMark& mark : box.marks) mark.target = targets.insert(mark.number).second;
      html += fmt::format("<figure>{}{}</figure>\n", caption(group), svg_of(picture, machine.name, overlays));
    }
    return html + "</section>\n";
  }

  std::string caption(const HostGroup& group) const {
    if (report_.locality.hosts() == 1) return {};
    constexpr std::size_t kMaxNames = 12;
    std::string names;
    for (std::size_t i = 0; i < group.machines.size() && i < kMaxNames; ++i)
      names += (i > 0 ? ", " : "") + escaped(report_.locality.node(group.machines[i]).name);
    if (group.machines.size() > kMaxNames) names += fmt::format(" and {} more", group.machines.size() - kMaxNames);
    return fmt::format("<figcaption><b>{}{}</b> {}</figcaption>", base::plural(group.machines.size(), "host"),
                       group.machines.size() > 1 ? " like this:" : ":", names);
  }

  std::string legend() const {
    std::string html = "<div class=\"legend\">";
    int number = 0;
    for (const topology::BandwidthBand& band : topology::bandwidth_bands())
      html +=
          fmt::format("<span><svg width=\"30\" height=\"8\"><path class=\"link band{}\" d=\"M0 4H30\"/></svg>{}</span>",
                      number++, band.legend);
    return html +
           "<span><svg width=\"30\" height=\"8\"><path class=\"link band0 assumed\" d=\"M0 4H30\"/></svg>assumed, "
           "the source does not tell</span><span>numbers are GB/s each way</span></div>\n";
  }

  std::string findings() const {
    std::string html = "<section><h2>Findings</h2>\n";
    if (report_.findings.empty())
      return html + fmt::format("<p>None of {} rules found anything.</p></section>\n", topology::audit::rules().size());
    html += "<ol class=\"findings\">\n";
    for (std::size_t i = 0; i < findings_.size() && i < kMaxFindingsShown; ++i) html += finding_html(i);
    html += "</ol>\n";
    if (findings_.size() > kMaxFindingsShown)
      html += fmt::format("<p class=\"soft\">and {} more: see --json.</p>\n", findings_.size() - kMaxFindingsShown);
    return html + "</section>\n";
  }

  std::string finding_html(std::size_t i) const {
    const auto& [finding, hosts, members] = findings_[i];
    const bool drawn = std::any_of(members.begin(), members.end(), [&](std::size_t one) { return parts_[one] >= 0; });
    const std::string badge = drawn ? fmt::format("<a class=\"badge\" href=\"#part{0}\">{0}</a>", i + 1)
                                    : fmt::format("<span class=\"badge\">{}</span>", i + 1);
    return fmt::format(
        "<li class=\"{0}\" id=\"finding{1}\">{2}<b>{3}</b> {4}{5} <span class=\"soft\">{0}</span><p>{6}</p><p "
        "class=\"fix\">{7}</p></li>\n",
        to_string(finding.severity), i + 1, badge, escaped(finding.subject), escaped(finding.id),
        escaped(hosts_of_finding(report_, findings_[i])), escaped(finding.evidence), escaped(finding.fix));
  }

  std::string orders() {
    if (!report_.rings) return {};
    return "<section><h2>Rings and trees</h2>\n<details><summary>as text</summary><pre>" +
           escaped(rings_text(report_)) + "</pre></details></section>\n";
  }

  static std::string footer() {
    return fmt::format("<footer>Written by topo-probe of Weft {}. Bandwidths are nominal and each way.</footer>\n",
                       escaped(version()));
  }

  Report& report_;
  const std::vector<int> parts_;  // by finding of the report
  const std::vector<topology::audit::SharedFinding> findings_;
  const std::vector<Order> orders_;
  const std::vector<HostGroup> groups_;
};

}  // namespace

// A rule names its subject as reports do: "gpu3 (0000:c1:00.0)", perhaps with more behind.
std::vector<int> parts_of_findings(const Report& report) {
  std::map<std::string, int, std::less<>> by_words;
  for (const Node& node : report.graph.nodes) {
    by_words.emplace(report.locality.describe(node.id), node.id);
    by_words.emplace(report.locality.name(node.id), node.id);
  }
  std::vector<int> parts;
  for (const topology::audit::Finding& finding : report.findings) {
    const std::string_view subject = finding.subject;
    int part = -1;
    for (const std::size_t end :
         {subject.size(), std::min(subject.find(')'), subject.size() - 1) + 1, subject.find(' ')}) {
      const auto found = by_words.find(subject.substr(0, end));
      if (found == by_words.end()) continue;
      part = found->second;
      break;
    }
    // What is about the host as a whole stands beside its name.
    if (part < 0 && report.locality.hosts() == 1) part = report.graph.ids(NodeKind::Machine).front();
    parts.push_back(part);
  }
  return parts;
}

std::string report_html(Report& report) { return Page(report).html(); }

}  // namespace weft::topo_probe
