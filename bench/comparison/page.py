"""The page: one HTML file without anything from elsewhere, drawn from the JSON document alone."""

from html import escape
from pathlib import Path

from . import tables
from .cases import format_bytes, format_us
from .document import bus_bandwidth_gbs
from .plot import Series, legend_entry, lines, over_time

FLOOR = "floor"


class Names:
    """How programs are called and drawn, the same all over the page."""

    def __init__(self, document):
        self.titles = {program["name"]: f"{program['title']} {program['version']}" for program in document["programs"]}
        self.order = list(self.titles)

    def title(self, name):
        return self.titles.get(name, name)

    def style(self, name):
        return f"p{self.order.index(name) % 8}" if name in self.order else "p7"

    def shape(self, name):
        return self.order.index(name) % 8 if name in self.order else 7


def times_of(cells, name):
    """(bytes, us, variant or algorithm) of one program; "weft_symmetric" and the like are Weft's further variants."""
    found = []
    for cell in cells:
        if name == FLOOR:
            microseconds, how = cell["floor_us"], ""
        elif name.startswith("weft"):
            microseconds, how = cell.get(f"{name}_us"), cell["weft_algorithm"] if name == "weft" else name[5:]
        else:
            microseconds, how = cell["peers"].get(name), cell["variants"].get(name, "")
        if microseconds:
            found.append((cell, microseconds, how))
    return found


def further_variants(cells):
    """Names of Weft's variants besides the default, as the keys of cells begin."""
    keys = {key for cell in cells for key in cell if key.startswith("weft_") and key.endswith("_us")}
    return sorted(key[:-3] for key in keys - {"weft_us"})


def series_of(cells, names, value_of, text_of):
    """What is drawn of these cells: Weft, its variants, its peers, the floor."""
    programs = [("weft", names.title("weft"), names.style("weft"), 0)]
    programs += [(name, f"Weft, {name[5:]}", "p0 dashed", 0) for name in further_variants(cells)]
    programs += [(name, names.title(name), names.style(name), names.shape(name)) for name in names.order if name != "weft"]
    programs.append((FLOOR, "what the wires allow", FLOOR, 0))
    found = []
    for name, title, style, shape in programs:
        points = tuple((cell["bytes"], value_of(cell, us), f"{title}{', ' if how else ''}{how}: {text_of(value_of(cell, us))}, "
                        f"{format_bytes(cell['bytes'])}") for cell, us, how in times_of(cells, name))
        if points:
            found.append(Series(title, style, shape, points))
    return found


def format_gbs(value):
    return f"{value:.3g} GB/s"


def figures(cells, names, collective):
    """Latency and bandwidth over size; for a barrier there is no size, and the table says all."""
    if collective == "barrier":
        return ""
    latency = lines(series_of(cells, names, lambda _, us: us, format_us), format_bytes, format_us, True,
                    f"{collective}: time of a call over size")
    bandwidth = lines(series_of(cells, names, bus_bandwidth_gbs, format_gbs), format_bytes, format_gbs, False,
                      f"{collective}: bus bandwidth over size")
    return (f"<figure><figcaption>{collective}: time of a call</figcaption>{latency}</figure>"
            f"<figure><figcaption>{collective}: bus bandwidth</figcaption>{bandwidth}</figure>")


def place_title(cluster, ranks):
    return f"{ranks} ranks on the emulated cluster {cluster}" if cluster else f"{ranks} ranks on this machine"


def section(cells, names):
    first = cells[0]
    collectives = list(dict.fromkeys(cell["collective"] for cell in cells))
    parts = [f"<h2>{escape(place_title(first['cluster'], first['ranks']))}</h2>", tables.ratios(cells, collectives, names)]
    drawn = "".join(figures([cell for cell in cells if cell["collective"] == collective], names, collective)
                    for collective in collectives)
    parts.append(f'<div class="plots">{drawn}</div>')
    parts.append("<details><summary>All times, and which variant or algorithm had them</summary>")
    for collective in collectives:
        parts.append(tables.times([cell for cell in cells if cell["collective"] == collective], names, collective))
    parts.append("</details>")
    return "".join(parts)


def sections(document, names):
    places = list(dict.fromkeys((cell["cluster"], cell["ranks"]) for cell in document["cells"]))
    return "".join(section([cell for cell in document["cells"] if (cell["cluster"], cell["ranks"]) == place], names)
                   for place in places)


def tiles(document):
    summary = document["summary"]
    mean = summary["geometric_mean_ratio"]
    shown = [("won", summary["won"]), ("tie", summary["tie"]), ("lost", summary["lost"]),
             ("mean of best peer / Weft", f"{mean:.2f}" if mean else "–"), ("rounds", document["settings"]["rounds"]),
             ("failures", len(document["failures"]))]
    return '<div class="tiles">' + "".join(
        f'<div class="tile"><b>{value}</b>{escape(name)}</div>' for name, value in shown) + "</div>"


def legend(document, names):
    cells = document["cells"]
    series = series_of(cells, names, lambda _, us: us, format_us)
    return '<div class="legend">' + "".join(map(legend_entry, series)) + "</div>"


def state(document):
    flags = [run["flag_ns"][1] for run in document["runs"] if run["flag_ns"][1]]
    if not flags:
        return f"<p>The machine's state was not measured: {escape(document['state'].get('why_not', 'unknown'))}.</p>"
    words = ("It changed during this run: cells whose two sides were measured in unlike states say so, and what the near state alone gives."
             if document["state"]["changed"] else "It stayed what it was.")
    return (f"<p>The time that a flag takes from one core to another, after each run of a program: {min(flags):.0f} to "
            f'{max(flags):.0f} ns. {words}</p><div class="plots"><figure>'
            f'{over_time(flags, "time of a flag between two cores", "ns")}</figure></div>')


def floors(document):
    if any(cell["floor_us"] for cell in document["cells"]):
        return ("<p class='soft'>Floor of a cluster: the bytes that must cross the slowest or all links, over their payload rate. "
                "It counts no latency; below 512 KiB it is left out, because tbf lets bursts pass at once.</p>")
    return "<p class='soft'>Floors are left out: no program here measures what one machine allows.</p>"


def introduction(document):
    tie = (document["settings"]["tie"] - 1) * 100
    return (f"<p>Time of Weft and of its peers for the same call, measured in turn in {document['settings']['rounds']} rounds; the "
            "least of the rounds' medians counts, for each peer that of its best variant. Ratio: the best peer's time over Weft's; "
            f"above 1 Weft is ahead, within {tie:.0f} % it is a tie. fp32, sum, out of place (broadcast in place, its root moves "
            "with each call), buffers unchanged between calls; bytes as nccl-tests counts them.</p>")


def page(document):
    names = Names(document)
    style = (Path(__file__).parent / "style.css").read_text(encoding="utf-8")
    machine = document["machine"]
    interrupted = "<p><b>This run was interrupted; what had been measured until then is here.</b></p>"
    body = [
        "<h1>Weft and its peers</h1>",
        f"<p class='soft'>{escape(machine['cpu'])}, {machine['cores']} cores, Linux {escape(machine['kernel'])}, "
        f"{escape(document['settings']['started'])}</p>",
        interrupted if document["settings"].get("interrupted") else "",
        introduction(document), tiles(document), legend(document, names), sections(document, names),
        "<h2>State of the machine</h2>", state(document), floors(document),
        "<h2>How it was measured</h2>", tables.settings(document, names),
    ]
    return (f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f"<title>Weft and its peers</title><style>{style}</style></head><body>{''.join(body)}</body></html>\n")
