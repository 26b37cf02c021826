"""Ranks side by side, the slowest marked."""

from __future__ import annotations

import atexit
import html
import json
import os
import sys
from typing import Any

import ebb
from ebb.ranks import Ranks, slowest_of
from ebb.sizes import format_bytes

_AT_END = 10.0  # seconds for which rank 0 waits for what the others have to say

_COLUMNS = (
    ("rank", lambda s: ""),
    ("step", lambda s: f"{s['measured_step_ns'] / 1e6:.1f} ms" if s["measured_step_ns"] else "–"),
    ("predicted", lambda s: f"{s['predicted_step_ns'] / 1e6:.1f} ms" if s["predicted_step_ns"] else "–"),
    ("mode", lambda s: s["now"]),
    ("limit", lambda s: format_bytes(s["limit"])),
    ("arena", lambda s: format_bytes(s["arena_high_water"])),
    ("host", lambda s: format_bytes(s["host_high_water"])),
    ("out", lambda s: format_bytes(s["bytes_out"])),
    ("in", lambda s: format_bytes(s["bytes_in"])),
    ("replays", lambda s: str(s["replays"])),
    ("planned", lambda s: str(s["planned_iterations"])),
    ("plans made", lambda s: str(s["plans_made"])),
    ("found", lambda s: str(s["plans_found"])),
    ("taken", lambda s: str(s["plans_taken"])),
    ("deviations", lambda s: str(s["deviations"])),
)


def rows(status: dict[str, Any]) -> list[list[str]]:
    """A heading and a row a rank, of what status(ranks=True) told."""
    table = [[name for name, _ in _COLUMNS]]
    for rank, one in enumerate(status["ranks"]):
        mark = " slowest" if rank == status["slowest"] and len(status["ranks"]) > 1 else ""
        if not one or not one.get("active"):
            table.append([f"{rank}", "no answer", *[""] * (len(_COLUMNS) - 2)])
            continue
        table.append([f"{rank}{mark}", *[tell(one) for _, tell in _COLUMNS[1:]]])
    return table


def as_text(status: dict[str, Any]) -> str:
    table = rows(status)
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths)).rstrip() for row in table)


def as_html(status: dict[str, Any]) -> str:
    head, *body = rows(status)
    cells = lambda row, kind: "".join(f"<{kind}>{html.escape(cell)}</{kind}>" for cell in row)  # noqa: E731
    lines = [f"<tr{' class=slowest' if 'slowest' in row[0] else ''}>{cells(row, 'td')}</tr>" for row in body]
    style = (
        "#ranks{margin:2rem auto;max-width:75rem;padding:0 1rem;font:14px system-ui,sans-serif;overflow-x:auto}"
        "#ranks table{border-collapse:collapse;width:100%}"
        "#ranks td,#ranks th{padding:.25rem .6rem;text-align:right;border-bottom:1px solid #8884}"
        "#ranks .slowest td{font-weight:600;background:#e6780022}"
    )
    return f"<section id=ranks><style>{style}</style><h2>Ranks</h2><table><tr>{cells(head, 'th')}</tr>{''.join(lines)}</table></section>"


def add_to_page(path: str | os.PathLike[str], status: dict[str, Any]) -> None:
    with open(path, encoding="utf-8") as file:
        before, end, after = file.read().rpartition("</body>")
    with open(path, "w", encoding="utf-8") as file:
        file.write(before + as_html(status) + end + after if end else after + as_html(status))


def write_when_it_ends(path: str) -> None:
    """When the process group goes, or the program. Every rank calls it, and the first writes."""
    from ebb.control import _control

    def write() -> None:
        atexit.unregister(write)
        _write_with_others(path, _control.ranks)

    _control.ranks.before_end.append(write)
    atexit.register(write)


def _write_with_others(path: str, ranks: Ranks) -> None:
    """Waits for what the others have to tell, but not for long."""
    mine = ebb.status()
    if not mine["active"]:
        return
    rank = int(os.environ["RANK"])
    try:
        told = [mine] if ranks.messenger is None else ranks.messenger.gather(mine, "final", _AT_END if rank == 0 else 0)
    except RuntimeError:
        told = [mine]  # the store has gone before
    if rank != 0:
        return
    status = {**mine, "ranks": told, "slowest": slowest_of(told)}
    ebb.report(path)
    if path.endswith(".html"):
        add_to_page(path, status)
    else:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        report["status"] = status
        with open(path, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=2)
            file.write("\n")
    if len(told) > 1:
        print(as_text(status), file=sys.stderr, flush=True)
