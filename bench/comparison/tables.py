"""The page's tables: ratios, times, and how everything was measured."""

from html import escape

from .cases import format_bytes, format_us
from .results import STATE_FACTOR

SIGNS = {"won": "▲", "tie": "=", "lost": "▼", "unknown": ""}


def unlike_states(cell):
    """Whether Weft and the best peer were measured in different states of the machine."""
    ours, theirs = cell["flag_ns"]["weft"], cell["flag_ns"]["best_peer"]
    return bool(ours and theirs) and max(ours, theirs) > STATE_FACTOR * min(ours, theirs)


def size_text(count):
    return format_bytes(count) if count else "–"


def row(words, kind="td"):
    return "<tr>" + "".join(f"<{kind}>{word}</{kind}>" for word in words) + "</tr>"


def ratio_cell(cell, names):
    if cell is None:
        return "<td></td>"
    if cell["ratio"] is None:
        missing = "Weft failed" if cell["weft_us"] is None else "no peer"
        return f"<td>{missing}</td>"
    peer = cell["best_peer"]
    told = (f"Weft {format_us(cell['weft_us'])} ({cell['weft_algorithm']}), {names.title(peer)} {cell['variants'][peer]} "
            f"{format_us(cell['peers'][peer])}")
    symmetric = f"symmetric {cell['symmetric_ratio']:.2f}" if cell.get("symmetric_ratio") else ""
    near = f", near {cell['near_ratio']:.2f}" if cell["near_ratio"] else ""
    state = f"other state{near}" if unlike_states(cell) else ""
    notes = "".join(f"<small>{escape(note)}</small>" for note in (f"{peer} {cell['variants'][peer]}", symmetric, state) if note)
    verdict = cell["verdict"]
    return f'<td class="{verdict}" title="{escape(told)}"><b>{cell["ratio"]:.2f} {SIGNS[verdict]}</b>{notes}</td>'


def ratios(cells, collectives, names):
    """Best peer's time / Weft's: a row for each size, a column for each collective."""
    found = {(cell["collective"], cell["bytes"]): cell for cell in cells}
    rows = [row(["bytes", *collectives], "th")]
    for size in sorted({cell["bytes"] for cell in cells}):
        columns = "".join(ratio_cell(found.get((collective, size)), names) for collective in collectives)
        rows.append(f"<tr><th>{size_text(size)}</th>{columns}</tr>")
    return f'<p class="soft">Best peer / Weft</p><div class="scroll"><table>{"".join(rows)}</table></div>'


def times(cells, names, collective):
    """Every program's time for each size."""
    peers = [name for name in names.order if any(name in cell["peers"] for cell in cells)]
    rows = [row(["bytes", "Weft", *(escape(names.title(name)) for name in peers)], "th")]
    for cell in cells:
        best = min([cell["weft_us"] or float("inf"), *cell["peers"].values()])
        columns = [(cell["weft_us"], cell["weft_algorithm"])]
        columns += [(cell["peers"].get(name), cell["variants"].get(name)) for name in peers]
        shown = "".join(f'<td{" class=best" if us == best else ""}>{format_us(us)}<small>{escape(how or "")}</small></td>'
                        if us else "<td></td>" for us, how in columns)
        rows.append(f"<tr><th>{size_text(cell['bytes'])}</th>{shown}</tr>")
    return f'<h3>{collective}</h3><div class="scroll"><table>{"".join(rows)}</table></div>'


def listed(title, header, entries):
    """A table of words; nothing if there are no entries."""
    if not entries:
        return ""
    rows = row(header, "th") + "".join(row([escape(str(word)) for word in entry]) for entry in entries)
    return f'<h3>{title}</h3><div class="scroll"><table class="words">{rows}</table></div>'


def place(entry):
    return f"{entry['ranks']} ranks{' on ' + entry['cluster'] if entry['cluster'] else ''}"


def settings(document, names):
    facts = {**document["settings"], **document["machine"]}
    parts = [
        listed("Settings and machine", ["what", "value"], [(name, value) for name, value in facts.items() if value != ""]),
        listed("Programs", ["name", "program", "version"],
               [(program["name"], program["title"], program["version"]) for program in document["programs"]]),
        listed("Peers left out", ["peer", "why"], [(entry["peer"], entry["why"]) for entry in document["left_out"]]),
        listed("What failed", ["program", "variant", "where", "collective", "round", "why"],
               [(names.title(entry["program"]), entry["variant"], place(entry), entry["collective"], entry["round"], entry["why"])
                for entry in document["failures"]]),
    ]
    commands = "".join(f"<tr><td>{escape(place(entry))}</td><td>{escape(entry['program'])} {escape(entry['variant'])}</td>"
                       f"<td><code>{escape(entry['command'])}</code></td></tr>" for entry in document["variants"])
    parts.append("<details><summary>The commands, one for each variant</summary><div class='scroll'>"
                 f'<table class="words">{commands}</table></div></details>')
    return "".join(parts)
