// The style sheet of the HTML page.
#include "html_style.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "topology/export/bandwidth_bands.hpp"

namespace weft::topo_probe {
namespace {

constexpr std::string_view kLight =
    "--page:#fff;--ink:#1c2128;--soft:#57606a;--rule:#d0d7de;--panel:#f6f8fa;--machine:#fbfcfd;--package:#eef2f7;"
    "--numa:#fff;--gpu:#dff3e4;--gpu-edge:#2f7d32;--nic:#e3ecfb;--nic-edge:#1f5fbf;--switch:#fff3d6;--switch-edge:#"
    "a37500;"
    "--bridge:#eceff2;--bridge-edge:#8a8f98;--cores:#eceff2;--error:#c62828;--warning:#b35900;--info:#3a6ea5;"
    "--ring:#d6006c;";
constexpr std::string_view kDark =
    "--page:#0d1117;--ink:#e6edf3;--soft:#9da7b3;--rule:#30363d;--panel:#161b22;--machine:#11161d;--package:#1a212b;"
    "--numa:#0f141b;--gpu:#12331d;--gpu-edge:#56d364;--nic:#14264a;--nic-edge:#79b8ff;--switch:#3a2e0b;"
    "--switch-edge:#e3b341;--bridge:#21272f;--bridge-edge:#8b919c;--cores:#21272f;--error:#f85149;--warning:#f0883e;"
    "--info:#79b8ff;--ring:#ff7bbf;";

constexpr std::string_view kPage =
    "*{box-sizing:border-box}"
    "body{margin:0 auto;padding:24px 28px 40px;max-width:1900px;background:var(--page);color:var(--ink);"
    "font:14px/1.45 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}"
    "h1{font-size:24px;margin:0}h2{font-size:17px;margin:30px 0 10px;border-bottom:1px solid var(--rule);"
    "padding-bottom:4px}h3{font-size:14px;margin:18px 0 6px}"
    "p{margin:4px 0}.soft,figcaption,footer{color:var(--soft)}a{color:inherit}"
    ".tiles{display:flex;flex-wrap:wrap;gap:10px;margin:14px 0}"
    ".tile{background:var(--panel);border:1px solid var(--rule);border-radius:8px;padding:8px 14px;min-width:84px}"
    ".tile b{display:block;font-size:20px;line-height:1.2}"
    ".tile.error{border-color:var(--error)}.tile.error b{color:var(--error)}"
    ".tile.warning{border-color:var(--warning)}.tile.warning b{color:var(--warning)}.tile.info b{color:var(--info)}"
    ".legend{display:flex;flex-wrap:wrap;gap:4px 18px;margin:8px 0;font-size:12px;color:var(--soft)}"
    ".legend svg{vertical-align:middle;margin-right:6px}"
    "figure{margin:12px 0 0;overflow-x:auto}figcaption{margin-bottom:6px}"
    "figure svg{max-width:100%;height:auto;display:block}"
    "table{border-collapse:collapse;font-size:12px}th,td{border:1px solid var(--rule);padding:3px 7px;"
    "text-align:left;vertical-align:top}th{background:var(--panel);font-weight:600}"
    ".scroll{overflow-x:auto}.matrix td{text-align:center;white-space:nowrap}"
    ".matrix td small{display:block;color:var(--soft);font-size:10px}"
    ".facts th{white-space:nowrap}.facts td{overflow-wrap:anywhere}"
    "td.NVL{background:color-mix(in srgb,#7b2fbe 22%,transparent)}td.PIX{background:color-mix(in srgb,#2f7d32 24%,"
    "transparent)}td.PXB{background:color-mix(in srgb,#2f7d32 14%,transparent)}td.PHB,td.NODE{background:"
    "color-mix(in srgb,#a37500 18%,transparent)}td.SYS{background:color-mix(in srgb,#b3541e 22%,transparent)}"
    "td.X{color:var(--soft)}"
    "ol.findings{list-style:none;padding:0;margin:0}"
    "ol.findings li{border-left:4px solid var(--info);background:var(--panel);border-radius:0 6px 6px 0;"
    "padding:8px 12px;margin:8px 0;overflow-wrap:anywhere}"
    "ol.findings li.error{border-color:var(--error)}ol.findings li.warning{border-color:var(--warning)}"
    "ol.findings li:target{outline:2px solid var(--ring)}"
    ".badge{display:inline-block;min-width:22px;text-align:center;border-radius:11px;color:var(--page);"
    "background:var(--info);font-size:12px;font-weight:700;margin-right:6px;text-decoration:none;padding:1px 6px}"
    ".error .badge{background:var(--error)}.warning .badge{background:var(--warning)}"
    ".fix::before{content:'\\2192\\a0';color:var(--soft)}"
    "nav{margin:14px 0 0}nav label{display:inline-block;border:1px solid var(--rule);border-radius:14px;"
    "padding:2px 12px;margin:0 4px 6px 0;cursor:pointer;font-size:12px}"
    ".order{position:absolute;opacity:0;pointer-events:none}"
    "pre{background:var(--panel);border:1px solid var(--rule);border-radius:6px;padding:8px 12px;overflow-x:auto;"
    "font-size:12px}summary{cursor:pointer}footer{margin-top:32px;font-size:12px}";

constexpr std::string_view kPicture =
    "svg text{fill:var(--ink);font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}"
    "svg .strong{font-weight:600}rect{stroke-width:1;stroke:var(--rule)}rect.machine{fill:var(--machine)}"
    "rect.package{fill:var(--package)}rect.numa{fill:var(--numa)}rect.cores{fill:var(--cores)}"
    "rect.gpu,rect.nvswitch{fill:var(--gpu);stroke:var(--gpu-edge)}rect.nic{fill:var(--nic);stroke:var(--nic-edge)}"
    "rect.storage{fill:var(--cores);stroke:var(--bridge-edge)}"
    "rect.down{stroke-dasharray:4 3;fill:var(--panel)}rect.switch{fill:var(--switch);stroke:var(--switch-edge)}"
    "rect.bridge,rect.port{fill:var(--bridge);stroke:var(--bridge-edge)}rect.network{fill:var(--switch);"
    "stroke:var(--switch-edge)}"
    ".found>rect{stroke-width:2.5;stroke:var(--info)}.found.warning>rect{stroke:var(--warning)}"
    ".found.error>rect{stroke:var(--error)}svg.head{position:absolute}"
    ".link{fill:none}.assumed{stroke-dasharray:5 4}"
    ".mark{fill:var(--info);stroke:var(--page)}.mark.error{fill:var(--error)}.mark.warning{fill:var(--warning)}"
    "svg text.number{fill:var(--page);font-weight:700}"
    ".overlay{display:none;fill:none;stroke:var(--ring);stroke-width:2.6}.arrow{fill:var(--ring);stroke:none}";

constexpr std::string_view kPrint =
    "@page{size:A4 landscape;margin:12mm}@media print{body{padding:0;font-size:11px;max-width:none}"
    "*{print-color-adjust:exact;-webkit-print-color-adjust:exact}nav,.screen{display:none}"
    "figure,.scroll{overflow:visible}figure{break-inside:avoid}figure svg{max-height:165mm;width:auto;max-width:100%}"
    "h2,h3{break-after:avoid}li,tr{break-inside:avoid}table{font-size:9px}th,td{padding:2px "
    "4px}a{text-decoration:none}}";

}  // namespace

std::string html_style() {
  std::string bands;
  std::string dark_bands;
  int number = 0;
  for (const topology::BandwidthBand& band : topology::bandwidth_bands()) {
    bands += fmt::format(".band{}{{stroke:{};stroke-width:{:g}}}", number, band.light, band.width);
    dark_bands += fmt::format(".band{}{{stroke:{}}}", number++, band.dark);
  }
  return fmt::format(
      ":root{{color-scheme:light dark;{}}}{}{}{}@media screen and (prefers-color-scheme:dark){{:root{{{}}}{}}}{}",
      kLight, kPage, kPicture, bands, kDark, dark_bands, kPrint);
}

}  // namespace weft::topo_probe
