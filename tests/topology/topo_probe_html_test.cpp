// topo-probe's HTML page: one file that needs nothing else, is well-formed, shows findings where they belong, and lets
// no foreign name become markup.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <string>
#include <vector>

#include "tests/topology/support/topo_probe.hpp"

namespace weft::topology {
namespace {

using test::Outcome;
using test::TopoProbe;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kMachines[] = {"",
                                     "--model dgx-h100 --rings",
                                     "--model 'dgx-a100 hosts:32' --rings --ranks 16",
                                     "--from tests/topology/data/tioga-8gcd-mi250x-4xslingshot.xml",
                                     "--from tests/topology/data/nvidia-smi-3gpu-2nic.txt --rings",
                                     "--from tests/topology/data/lassen-4xv100-power9-hwloc1.xml"};

std::vector<std::string> svgs_of(const std::string& html) {
  std::vector<std::string> svgs;
  for (std::size_t at = html.find("<svg"); at != std::string::npos; at = html.find("<svg", at + 1))
    svgs.push_back(html.substr(at, html.find("</svg>", at) + 6 - at));
  return svgs;
}

// The page between <body> and </body>, which uses XML's rules but for inputs.
std::string body_as_xml(std::string html) {
  for (std::size_t at = html.find("<input"); at != std::string::npos; at = html.find("<input", at + 1)) {
    const std::size_t end = html.find('>', at);
    html.insert(end, "/");
    const std::size_t checked = html.find(" checked", at);
    if (checked < end) html.replace(checked, 8, "");
  }
  const std::size_t begin = html.find("<body>");
  return html.substr(begin, html.find("</body>") + 7 - begin);
}

TEST_F(TopoProbe, html_is_well_formed_and_needs_nothing_else) {
  for (const char* machine : kMachines) {
    SCOPED_TRACE(machine);
    const Outcome outcome = run(std::string(machine) + " --format html");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, StartsWith("<!DOCTYPE html>"));
    pugi::xml_document body;
    const pugi::xml_parse_result parsed = body.load_string(body_as_xml(outcome.out).c_str());
    EXPECT_TRUE(parsed) << parsed.description() << " at " << parsed.offset;
    EXPECT_FALSE(svgs_of(outcome.out).empty());
    for (const std::string& svg : svgs_of(outcome.out)) EXPECT_TRUE(pugi::xml_document().load_string(svg.c_str()));
    for (const char* outside : {"<script", "src=", "http:", "https:", "@import", "<link", "url(/"}) {
      std::string rest = outcome.out;
      for (std::size_t at; (at = rest.find("http://www.w3.org/2000/svg")) != std::string::npos;) rest.erase(at, 26);
      EXPECT_THAT(rest, Not(HasSubstr(outside)));
    }
  }
}

TEST_F(TopoProbe, html_marks_parts_and_explains_them) {
  const std::string machine = "--model 'packages:2 gpu:4 nic:1 ndr' ";
  const nlohmann::json findings = nlohmann::json::parse(run(machine + "--json").out)["findings"];
  ASSERT_FALSE(findings.empty());
  const std::string page = run(machine + "--format html").out;
  pugi::xml_document body;
  ASSERT_TRUE(body.load_string(body_as_xml(page).c_str()));
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    const pugi::xml_node finding = body.select_node(("//li[@id='finding" + number + "']").c_str()).node();
    ASSERT_FALSE(finding.empty());
    EXPECT_EQ(finding.attribute("class").value(), findings[i]["severity"].get<std::string>());
    EXPECT_EQ(finding.child("b").text().get(), findings[i]["subject"].get<std::string>());
    EXPECT_EQ(finding.child("p").text().get(), findings[i]["evidence"].get<std::string>());
    EXPECT_EQ(finding.select_node("p[@class='fix']").node().text().get(), findings[i]["fix"].get<std::string>());
    EXPECT_EQ(finding.child("a").attribute("href").value(), "#part" + number);
    const pugi::xml_node part = body.select_node(("//g[a/@href='#finding" + number + "']").c_str()).node();
    ASSERT_FALSE(part.empty());
    EXPECT_THAT(part.child("title").text().get(), StartsWith(findings[i]["subject"].get<std::string>()));
  }
}

TEST_F(TopoProbe, html_shows_rings_and_trees_on_demand) {
  const std::string without = run("--model dgx-h100 --format html").out;
  EXPECT_THAT(without, Not(HasSubstr("class=\"overlay")));
  const std::string with = run("--model dgx-h100 --format html --rings").out;
  EXPECT_THAT(with, HasSubstr("<g class=\"overlay ring0\">"));
  EXPECT_THAT(with, HasSubstr("<label for=\"order-tree1\">tree 1</label>"));
  EXPECT_THAT(with, HasSubstr("#order-ring0:checked~main .ring0{display:inline}"));
}

TEST_F(TopoProbe, html_draws_like_hosts_once_and_the_odd_one_apart) {
  const std::string like = run("--model 'dgx-h100 hosts:64' --format html").out;
  EXPECT_THAT(like, HasSubstr("<b>64 hosts like this:</b> host0, host1"));
  EXPECT_THAT(like, HasSubstr("and 52 more"));
  EXPECT_THAT(like, HasSubstr("<td>512</td><td>50</td><td>25600</td>"));
}

TEST_F(TopoProbe, html_lets_no_foreign_name_become_markup) {
  const std::string evil =
      "&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=alert(2)&gt;&quot;&#39;";
  scratch_.write("/evil.xml", "<system version=\"1\"><cpu numaid=\"0\" arch=\"" + evil + "\" vendor=\"" + evil +
                                  "\"><pci busid=\"0000:01:00.0\" class=\"0x020000\"><nic><net name=\"" + evil +
                                  "\" speed=\"1000\"/></nic></pci></cpu></system>");
  const Outcome outcome = run("--from " + path("evil.xml") + " --format html");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("&lt;script&gt;alert(1)"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("<script")));
  EXPECT_THAT(outcome.out, Not(HasSubstr("<img")));
  scratch_.write("/evil.json",
                 "{\"schema\": 1, \"name\": \"<script>x</script>\", \"nodes\": [{\"id\": 0, \"kind\": \"machine\","
                 " \"name\": \"'\\\"><svg onload=x>\", \"parent\": -1, \"host\": 0, \"model\": \"</title>\"}],"
                 " \"links\": []}");
  const Outcome json = run("--from " + path("evil.json") + " --format html");
  ASSERT_EQ(json.exit_code, 0) << json.err;
  EXPECT_THAT(json.out, Not(HasSubstr("<script")));
  EXPECT_THAT(json.out, Not(HasSubstr("<svg onload")));
  pugi::xml_document body;
  EXPECT_TRUE(body.load_string(body_as_xml(json.out).c_str()));
}

bool has_chromium() { return std::system("command -v chromium >/dev/null 2>&1") == 0; }

// What the page `name` in `folder` has become; a container's root needs --no-sandbox, the page is our own.
std::string dom_of(const std::string& folder, const std::string& name) {
  const std::string command = "timeout 120 chromium --headless --no-sandbox --disable-gpu --user-data-dir=" + folder +
                              "/profile --virtual-time-budget=1000 --dump-dom file://" + folder + "/" + name + " >" +
                              folder + "/dom 2>" + folder + "/log";
  EXPECT_EQ(std::system(command.c_str()), 0) << test::read_all(folder + "/log");
  return test::read_all(folder + "/dom");
}

TEST_F(TopoProbe, html_is_what_a_browser_shows) {
  if (!has_chromium()) GTEST_SKIP() << "chromium is not installed: the page was not tried in a browser";
  ASSERT_EQ(run("--model dgx-h100 --rings --format html --output " + path("page.html")).exit_code, 0);
  const std::string dom = dom_of(scratch_.root(), "page.html");
  EXPECT_THAT(dom, HasSubstr("<rect class=\"gpu\""));
  EXPECT_THAT(dom, HasSubstr("NVSwitch</text>"));
  EXPECT_THAT(dom, HasSubstr("</footer>"));
}

// A browser without a screen prefers light: it is told that dark is light, and asked what it made of that.
TEST_F(TopoProbe, html_is_dark_where_that_is_preferred) {
  if (!has_chromium()) GTEST_SKIP() << "chromium is not installed: the page was not tried in a browser";
  std::string page = run("--model cpu-2socket --format html").out;
  const std::string no_scripts = "default-src 'none'";
  page.replace(page.find(no_scripts), no_scripts.size(), "default-src 'unsafe-inline'");
  const std::string wanted = "prefers-color-scheme:dark";
  ASSERT_THAT(page, HasSubstr(wanted));
  const std::string ask = "<script>document.body.id = getComputedStyle(document.body).backgroundColor;</script></body>";
  page.replace(page.find("</body>"), 7, ask);
  scratch_.write("/light.html", page);
  EXPECT_THAT(dom_of(scratch_.root(), "light.html"), HasSubstr("<body id=\"rgb(255, 255, 255)\""));
  page.replace(page.find(wanted), wanted.size(), "prefers-color-scheme:light");
  scratch_.write("/dark.html", page);
  EXPECT_THAT(dom_of(scratch_.root(), "dark.html"), HasSubstr("<body id=\"rgb(13, 17, 23)\""));
}

}  // namespace
}  // namespace weft::topology
