"""What is told on the terminal: ratios as a table, and --list."""

from .cases import format_bytes


def ratio_table(document):
    """A block for each place: sizes down, collectives across, best peer's time / Weft's."""
    blocks = []
    cells = document["cells"]
    for cluster, ranks in dict.fromkeys((cell["cluster"], cell["ranks"]) for cell in cells):
        here = [cell for cell in cells if (cell["cluster"], cell["ranks"]) == (cluster, ranks)]
        collectives = list(dict.fromkeys(cell["collective"] for cell in here))
        found = {(cell["collective"], cell["bytes"]): cell for cell in here}
        title = f"{ranks} ranks{' on ' + cluster if cluster else ''}"
        for ratio, what in (("ratio", "Weft's"), ("symmetric_ratio", "Weft's with symmetric buffers")):
            if not any(ratio in cell for cell in here):
                continue
            rows = [["", *collectives]]
            for size in sorted({cell["bytes"] for cell in here}):
                rows.append([format_bytes(size) if size else "-",
                             *(cell_text(found.get((name, size)), ratio) for name in collectives)])
            blocks.append("\n".join([f"{title}: best peer's time / {what}", *aligned(rows)]))
    return "\n\n".join(blocks)


def aligned(rows):
    """Columns as wide as their widest word, two blanks between them."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(f"{word:>{width}}" for word, width in zip(row, widths)) for row in rows]


def cell_text(cell, ratio="ratio"):
    if cell is None:
        return ""
    if cell.get(ratio) is None:
        return "Weft failed" if cell["weft_us"] is None else "no peer"
    peer = cell["best_peer"]
    return f"{cell[ratio]:.2f} {peer}/{cell['variants'][peer]}"


def summary_line(document):
    counts = document["summary"]
    mean = counts["geometric_mean_ratio"]
    text = f"won {counts['won']}, tie {counts['tie']}, lost {counts['lost']}"
    text += f", without a ratio {counts['unknown']}" if counts["unknown"] else ""
    text += f"; geometric mean {mean:.2f}" if mean else ""
    if document["state"]["changed"]:
        flags = document["state"]["flag_ns"]
        text += f"; the machine's state changed meanwhile (flag {flags['least']:.0f} to {flags['most']:.0f} ns)"
    return text + (f"; {len(document['failures'])} failures, see the JSON or the page" if document["failures"] else "")


def peer_list(found, left_out):
    width = max(len(name) for name in [*(peer.name for peer in found), *(entry.peer for entry in left_out)])
    lines = [f"{peer.name:<{width}}  {peer.title} {peer.version}, {peer.files.get('launcher', 'started one by one')}"
             for peer in found]
    return "\n".join(lines + [f"{entry.peer:<{width}}  not found: {entry.why}" for entry in left_out])
