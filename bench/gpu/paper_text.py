"""Markdown tables of what paper_tables.py measured, with the papers' figures in brackets."""

from __future__ import annotations

from typing import Any, Callable

from journal import Journal

MIB = 2**20
Row = dict[str, Any]

# Load in MB, CnMem's and SmartPool's competitive ratio, cudaMalloc's step in ms, CnMem's and SmartPool's speed-up.
SMARTPOOL_TABLE_I = {
    "ResNet18": (1452, 1.033, 1.003, 359, 1.84, 1.83),
    "ResNet34": (2824, 1.028, 1.001, 684, 1.86, 1.85),
    "ResNet50": (4418, 1.030, 1.003, 993, 1.84, 1.88),
    "ResNet101": (8367, 1.028, 1.0005, 2086, 1.99, 1.97),
    "VGG11": (389, 1.169, 1.013, 76, 1.77, 1.75),
    "VGG13": (509, 1.115, 1.016, 94, 1.72, 1.71),
    "VGG16": (647, 1.113, 1.012, 122, 1.72, 1.73),
    "VGG19": (785, 1.072, 1.011, 162, 1.91, 1.94),
}
# Largest batch of PyTorch and HOME, samples per second of PyTorch and HOME.
HOME_TABLE_2 = {
    "MobileNet": (2012, 4200, 1706, 3426),
    "Plain20": (1040, 2926, 2368, 2554),
    "SqueezeNet": (1667, 4347, 6273, 6613),
    "VGG16": (2759, 5125, 2786, 6211),
    "ResNet": (1255, 2576, 2285, 2519),
    "InceptionV3": (125, 365, 257, 280),
    "InceptionV3-299": (125, 365, 257, 280),
}


def table(title: str, columns: list[str], rows: list[list[str]], note: str = "") -> str:
    lines = [f"## {title}", "| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines + (["", note] if note else [])) + "\n"


def number(value: float | None, digits: int, beside: Any = None) -> str:
    text = "–" if value is None else f"{value:.{digits}f}"
    return text if beside is None else f"{text} ({beside})"


def ratio(row: Row | None, name: str, base: Row | None, base_name: str | None = None) -> float | None:
    if row is None or base is None or row.get(name) is None or not base.get(base_name or name):
        return None
    return row[name] / base[base_name or name]


def networks_of(journal: Journal, part: str) -> list[str]:
    return list(dict.fromkeys(row["network"] for row in journal.rows if row.get("part") == part))


def nothing_moves(row: Row | None) -> bool:
    return row is not None and row["follows"] and row["bytes_out_per_step"] == row["bytes_in_per_step"] == row["replays_per_step"] == 0


def _points(journal: Journal) -> list[tuple[str, int]]:
    rows = [row for row in journal.rows if row.get("part") == "smartpool"]
    return list(dict.fromkeys((row["network"], row["batch"]) for row in rows))


def _pools(journal: Journal, network: str, batch: int) -> tuple[Row | None, Row | None, Row | None]:
    """The caching allocator, cudaMalloc, and Ebb's pool where it is proved by a limit at which nothing moves."""
    caching, uncached, tight = (
        journal.find(part="smartpool", network=network, batch=batch, what=what) for what in ("caching", "uncached", "ebb, tight")
    )
    return caching, uncached, tight if nothing_moves(tight) else None


def smartpool(journal: Journal) -> str:
    points = _points(journal)
    table_batch = points[0][1] if points else 0
    rows, figure = [], []
    for network, batch in points:
        caching, uncached, tight = _pools(journal, network, batch)
        load, cnmem, smart, step, cnmem_speed, smart_speed = SMARTPOOL_TABLE_I[network] if batch == 100 else (None,) * 6
        mib = lambda row, name: number(row and row.get(name) and row[name] / MIB, 0)  # noqa: E731
        if batch == table_batch:
            rows.append([
                network, number(caching and caching["peak"] / MIB, 0, load),
                number(ratio(caching, "reserved", caching, "peak"), 4, cnmem),
                number(ratio(tight, "limit", caching, "peak"), 4, smart),
                number(ratio(tight, "limit", tight, "arena_high_water"), 4),
                number(uncached and uncached["ms"], 1, step),
                number(ratio(uncached, "ms", caching), 2, cnmem_speed),
                number(ratio(uncached, "ms", tight), 2, smart_speed),
            ])
        swapped = [journal.find(part="smartpool", network=network, batch=batch, what=f"ebb, {percent} %") for percent in (67, 40)]
        if any(swapped) or sum(name == network for name, _ in points) > 1:
            more = [None if row is None or not row["follows"] or not caching else 100 * (row["ms"] / caching["ms"] - 1) for row in swapped]
            figure.append([network, str(batch), mib(caching, "peak"), mib(uncached, "seen"), mib(caching, "reserved"), mib(tight, "limit")]
                          + ["–" if percent is None else f"{row['limit'] / MIB:.0f}: {percent:+.1f} %" for row, percent in zip(swapped, more)])
    return table(
        f"[SP] table I, batch {table_batch} (the paper's)",
        ["network", "load, MiB", "caching allocator ÷ load (CnMem)", "Ebb's pool ÷ load (SmartPool)", "Ebb's pool ÷ its own load", "cudaMalloc, ms",
         "caching allocator, speed-up (CnMem)", "Ebb, speed-up (SmartPool)"],
        rows,
        "Load: the most that PyTorch had allocated. Ebb's pool is the whole arena, a limit that it cannot exceed, at which the planned step moves and recomputes nothing; "
        "its own load has the workspaces of cuBLAS that Ebb has made beforehand.",
    ) + "\n" + table(
        "[SP] fig. 10: footprint in MiB against batch size",
        ["network", "batch", "load", "cudaMalloc, seen on the device", "caching allocator", "Ebb's pool", "Ebb at 67 % of the caching allocator: MiB, more time", "at 40 %"],
        figure,
        "The paper: a third less without more time, and no less than 60 % less with less than 15 % more time.",
    )


def _largest(journal: Journal, network: str, planner: str) -> Row | None:
    rows = [row for row in journal.rows if row.get("part") == "home" and row["network"] == network and row["what"] == planner and row.get("follows")]
    return max(reversed(rows), key=lambda row: row["batch"], default=None)  # of equal ones the newest


def home(journal: Journal) -> str:
    rows = []
    for network in networks_of(journal, "home"):
        batch, home_batch, speed, home_speed = HOME_TABLE_2[network]
        plain = journal.find(part="home", network=network, what="plain")
        planned = [_largest(journal, network, planner) for planner in ("home", "ebb")]
        samples = [row and 1e3 * row["batch"] / row["ms"] for row in planned]
        batches = [number(row and row["batch"], 0, beside) for row, beside in zip(planned, (home_batch, None))]
        rows.append([network, number(plain and plain["batch"], 0, batch), *batches,
                     number(ratio(planned[0], "batch", plain), 2, f"{home_batch / batch:.2f}"), number(ratio(planned[1], "batch", plain), 2),
                     number(plain and plain["samples_per_s"], 0, speed), number(samples[0], 0, home_speed), number(samples[1], 0)])
    return table(
        "[HOME] table 2: largest batch and samples per second within 11 GiB (the paper's, on an RTX 2080 Ti)",
        ["network", "batch: PyTorch", "HOME", "Ebb", "HOME ÷ PyTorch", "Ebb ÷ PyTorch", "samples/s: PyTorch", "HOME", "Ebb"],
        rows,
        "PyTorch's batch to within 2 %; HOME's and Ebb's are the largest of three sizes between that and the one whose largest op alone fills the limit. "
        "InceptionV3 has 75 pixels a side, the least it takes; the paper's batch says that it had 299 there.",
    )


def deep(journal: Journal) -> str:
    plain = journal.find(part="deep", what="plain")
    before = journal.find(part="deep", what="plain before")
    rows = []
    if plain and before:
        plain = plain | {"ms": (plain["ms"] + before["ms"]) / 2}
    if plain:
        rows.append(["plain", number(plain["peak"] / MIB, 0), number(plain["reserved"] / MIB, 0), number(plain["ms"], 1), "1", "–", "–", "–", "–", "–"])
    for planner in ("ebb", "sublinear"):
        row = journal.find(part="deep", what=planner)
        if row is None:
            continue
        same = "–" if plain is None or row.get("steps") != plain.get("steps") or "bits" not in row else "same" if row["bits"] == plain["bits"] else "OTHER"
        if not row["follows"]:
            rows.append([f"{planner}: no plan ({row['refusal']})", "–", number(row["limit"] / MIB, 0), *["–"] * 7])
            continue
        rows.append([planner, number(row["arena_high_water"] / MIB, 0), number(row["limit"] / MIB, 0),
                     number(row["ms"], 1), number(ratio(row, "ms", plain), 4), number(row["predicted"], 4), same,
                     number(row["bytes_out_per_step"] / MIB, 0), number(row["replays_per_step"], 0), number(row["until_planned_s"], 1)])
    return table(
        "[SUB]: a ResNet of 1001 layers, batch 32, 224²",
        ["", "most in use, MiB", "reserved or limit, MiB", "step, ms", "÷ plain", "predicted", "bits", "MiB out", "replays", "until planned, s"],
        rows,
        "The paper: 48 GB to 7 GB with 30 % more time, on a Titan X. Plain: the mean of a run before the others and one after them.",
    )


def batch(journal: Journal) -> str:
    plain = journal.find(part="batch", what="plain")
    rows = [["plain", str(plain["batch"]), "1", number(plain["reserved"] / MIB, 0), number(plain["ms"], 1), number(plain["samples_per_s"], 0), "1", "–"]] if plain else []
    for row in journal.rows:
        if row.get("part") != "batch" or row["what"] != "ebb":
            continue
        if not row.get("follows"):
            rows.append(["Ebb", str(row["batch"]), *["–"] * 5, row.get("refusal") or row.get("failed", "no plan").strip().splitlines()[-1]])
            continue
        speed = 1e3 * row["batch"] / row["ms"]
        rows.append(["Ebb", str(row["batch"]), number(ratio(row, "batch", plain), 2), number(row["arena_high_water"] / MIB, 0), number(row["ms"], 1), number(speed, 0),
                     number(plain and speed / plain["samples_per_s"], 3), f"planned in {row['planning_seconds']:.1f} s"])
    return table(
        "ResNet-50, 224², within 16 GiB: largest batch",
        ["", "batch", "÷ plain", "MiB", "step, ms", "samples/s", "÷ plain", ""],
        rows,
        "Asked: at least 2.5 times plain's largest batch.",
    )


TABLES: dict[str, Callable[[Journal], str]] = {"smartpool": smartpool, "home": home, "deep": deep, "batch": batch}
