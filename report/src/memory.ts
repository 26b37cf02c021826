// Memory over time: what is resident, stacked by kind, against the limit and against the step without one.

import uPlot from "uplot";
import { KINDS, type Program, type Step, UNMANAGED } from "./data";
import { el, perFrame } from "./dom";
import * as format from "./format";
import { itemAt, lastNotAbove, type LoadCurve, loadCurve, residentAt, sample } from "./load";
import { colour, KIND_COLOURS, onThemeChange } from "./theme";
import { steer, steerByWheel, type TimeWindow } from "./time_window";
import { hideTooltip, type Row, showTooltip } from "./tooltip";

const HEIGHT = 330;
const MOST_BLOCKS = 6;
// From the bottom: what stays below what comes and goes.
export const STACK = [UNMANAGED, 0, 1, 3, 2, 4];

export function kindName(kind: number): string {
  return kind === UNMANAGED ? "unmanaged" : KINDS[kind];
}

export class MemoryView {
  readonly element: HTMLElement;
  private curve!: LoadCurve;
  private before: { time: number[]; bytes: number[] } = { time: [], bytes: [] };
  private step!: Step;
  private plot: uPlot | null = null;
  private holder = el("div", { class: "plot", tabindex: 0, role: "img" });
  private legend = el("div", { class: "legend" });
  private readonly redraw: () => void;

  constructor(
    private program: Program,
    private window: TimeWindow,
  ) {
    this.element = el("div", {}, this.legend, this.holder);
    this.redraw = perFrame(() => this.refresh());
    window.listen((what) => (what === "range" ? this.redraw() : this.moveCursor()));
    onThemeChange(() => this.build());
    new ResizeObserver(() => this.plot?.setSize({ width: this.width(), height: HEIGHT })).observe(this.holder);
    this.holder.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (steer(this.window, event.key)) event.preventDefault();
    });
  }

  show(step: Step): void {
    this.step = step;
    this.curve = loadCurve(this.program, step);
    this.before = step.planner === "" ? { time: [], bytes: [] } : this.demandBefore(step);
    const peak = format.bytes(this.curve.total[this.curve.peak]);
    this.holder.setAttribute("aria-label", `Memory over the step's ${format.time(step.step)}, peak ${peak}`);
    this.build();
  }

  /** The step without a limit, each op where it runs in this one. */
  private demandBefore(step: Step): { time: number[]; bytes: number[] } {
    const lane = step.timeline.compute;
    const replayed = new Set(lane.replays);
    const time: number[] = [];
    const bytes: number[] = [];
    lane.op.forEach((op, i) => {
      if (replayed.has(i)) return;
      time.push(lane.start[i]);
      bytes.push(this.program.ops.demand[op]);
    });
    return { time, bytes };
  }

  private width(): number {
    return Math.max(200, this.holder.clientWidth);
  }

  private present(): number[] {
    return STACK.filter((kind) => this.curve.byKind[kind].some((bytes) => bytes > 0));
  }

  private data(): uPlot.AlignedData {
    const { begin, end } = this.window;
    const columns = 2 * this.width();
    const kinds = this.present();
    const stacked = sample(this.curve, begin, end, columns);
    const outline = this.sampleBefore(begin, end, columns);
    // One list of times for both: each has holes where the other has points.
    const times: number[] = [];
    const rows: (number | null | undefined)[][] = [...kinds.map(() => []), []];
    const add = (time: number, at: number | null, before: number | null) => {
      times.push(Math.max(begin, time));
      let height = 0;
      kinds.forEach((kind, k) => {
        if (at !== null) height += this.curve.byKind[kind][at];
        rows[kinds.length - 1 - k].push(at === null ? undefined : height);
      });
      rows[kinds.length].push(before === null ? undefined : this.before.bytes[before]);
    };
    let s = 0;
    let o = 0;
    while (s < stacked.length || o < outline.length) {
      const time = s < stacked.length ? this.curve.time[stacked[s]] : Infinity;
      const other = o < outline.length ? this.before.time[outline[o]] : Infinity;
      if (time <= other) add(time, stacked[s++], time === other ? outline[o++] : null);
      else add(other, null, outline[o++]);
    }
    const last = stacked[stacked.length - 1] ?? null;
    add(end, last, outline.length > 0 ? outline[outline.length - 1] : null);
    return [times, ...rows] as uPlot.AlignedData;
  }

  private sampleBefore(begin: number, end: number, columns: number): number[] {
    const { time, bytes } = this.before;
    if (time.length === 0) return [];
    const total = Float64Array.from(bytes);
    return sample({ time: Float64Array.from(time), byKind: [], total, peak: 0 }, begin, end, columns);
  }

  private highest(): number {
    const before = this.before.bytes.reduce((a, b) => Math.max(a, b), 0);
    return 1.06 * Math.max(this.curve.total[this.curve.peak] ?? 1, this.step.limit, before, 1);
  }

  private build(): void {
    if (!this.step) return;
    this.plot?.destroy();
    this.buildLegend();
    const stepped = uPlot.paths.stepped!({ align: 1 });
    const kinds = this.present();
    const axis = {
      stroke: colour("muted"),
      grid: { stroke: colour("grid"), width: 1 },
      ticks: { stroke: colour("grid"), width: 1 },
    };
    this.plot = new uPlot(
      {
        width: this.width(),
        height: HEIGHT,
        padding: [8, 16, 0, 0],
        legend: { show: false },
        scales: {
          x: { time: false, range: () => [this.window.begin, this.window.end] },
          y: { range: () => [0, this.highest()] },
        },
        axes: [
          { ...axis, values: (_, ticks) => ticks.map(format.time), space: 110 },
          {
            ...axis,
            size: 72,
            splits: (_plot, _axis, low, high) => format.byteTicks(low, high, 6),
            values: (_, ticks) => ticks.map(format.bytes),
          },
        ],
        series: [
          {},
          ...[...kinds].reverse().map((kind) => ({
            label: kindName(kind),
            fill: colour(KIND_COLOURS[kind]),
            width: 0,
            paths: stepped,
            points: { show: false },
            spanGaps: true,
          })),
          {
            label: "without a limit",
            stroke: colour("before"),
            width: 1.5,
            paths: stepped,
            points: { show: false },
            spanGaps: true,
          },
        ],
        cursor: { y: false, drag: { x: true, y: false, setScale: false }, points: { show: false } },
        hooks: {
          setSelect: [(plot) => this.select(plot)],
          setCursor: [(plot) => this.hover(plot)],
          draw: [(plot) => this.mark(plot)],
        },
      },
      this.data(),
      this.holder,
    );
    const over = this.plot.over;
    over.addEventListener("dblclick", () => this.window.showAll());
    over.addEventListener("wheel", (event) => steerByWheel(this.window, event, event.offsetX / over.clientWidth), {
      passive: false,
    });
    over.addEventListener("mouseleave", () => {
      this.window.point(null);
      hideTooltip();
    });
  }

  private buildLegend(): void {
    const mark = (name: string, text: string, line = false) => {
      const sign = el("span", { class: line ? "mark line" : "mark" });
      sign.style.background = colour(name);
      return el("span", { class: "entry" }, sign, text);
    };
    const entries = [...this.present()].reverse().map((kind) => mark(KIND_COLOURS[kind], kindName(kind)));
    if (this.before.time.length > 0) entries.push(mark("before", "without a limit", true));
    if (this.step.limit > 0) entries.push(mark("limit", `limit ${format.bytes(this.step.limit)}`, true));
    this.legend.replaceChildren(...entries);
  }

  private refresh(): void {
    this.plot?.setData(this.data(), true);
  }

  private select(plot: uPlot): void {
    if (plot.select.width < 4) return;
    const begin = plot.posToVal(plot.select.left, "x");
    const end = plot.posToVal(plot.select.left + plot.select.width, "x");
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.window.show(begin, end);
  }

  private moveCursor(): void {
    const plot = this.plot;
    if (!plot) return;
    const time = this.window.cursor;
    const left = time === null ? -10 : plot.valToPos(time, "x");
    if (Math.abs((plot.cursor.left ?? -10) - left) > 0.5) plot.setCursor({ left, top: 10 }, false);
  }

  private hover(plot: uPlot): void {
    const { left, top } = plot.cursor;
    if (left === undefined || top === undefined || left < 0) return;
    const time = plot.posToVal(left, "x");
    this.window.point(time);
    const bounds = plot.over.getBoundingClientRect();
    this.tell(time, bounds.left + left, bounds.top + top);
  }

  private tell(time: number, x: number, y: number): void {
    const at = lastNotAbove(this.curve.time, time);
    if (at < 0) return;
    const item = itemAt(this.step, time);
    const lane = this.step.timeline.compute;
    const op = item < 0 ? -1 : lane.op[item];
    const rows: Row[] = [["resident", format.bytes(this.curve.total[at])]];
    for (const kind of [...this.present()].reverse())
      rows.push([kindName(kind), format.bytes(this.curve.byKind[kind][at]), colour(KIND_COLOURS[kind])]);
    const before = lastNotAbove(this.before.time, time);
    if (before >= 0) rows.push(["without a limit", format.bytes(this.before.bytes[before]), colour("before")]);
    const { residencies } = this.step;
    const notes = residentAt(this.step, time, MOST_BLOCKS).map(
      (i) => `${format.bytes(residencies.bytes[i])}  ${this.program.residencyText(residencies, i)}`,
    );
    const again = item >= 0 && lane.replays.includes(item) ? " (again)" : "";
    const title =
      op < 0
        ? format.time(time)
        : `${format.time(time)}: ${this.program.opText(op)}${again}, ${this.program.phaseOf(op)}`;
    showTooltip(x, y, title, rows, notes.length > 0 ? ["largest:", ...notes] : []);
  }

  /** The limit, and the place of the peak. */
  private mark(plot: uPlot): void {
    const context = plot.ctx;
    const scale = devicePixelRatio || 1;
    const { left, top, width, height } = plot.bbox;
    context.save();
    context.beginPath();
    context.rect(left, top, width, height);
    context.clip();
    if (this.step.limit > 0) {
      const y = plot.valToPos(this.step.limit, "y", true);
      context.strokeStyle = colour("limit");
      context.lineWidth = 1.5 * scale;
      context.setLineDash([6 * scale, 4 * scale]);
      context.beginPath();
      context.moveTo(left, y);
      context.lineTo(left + width, y);
      context.stroke();
      context.setLineDash([]);
    }
    const peak = this.curve.peak;
    const x = plot.valToPos(this.curve.time[peak], "x", true);
    const y = plot.valToPos(this.curve.total[peak], "y", true);
    if (x >= left && x <= left + width) {
      context.fillStyle = colour("text");
      context.beginPath();
      context.arc(x, y, 4 * scale, 0, 2 * Math.PI);
      context.fill();
      context.font = `${12 * scale}px system-ui, sans-serif`;
      const text = `peak ${format.bytes(this.curve.total[peak])}`;
      const room = context.measureText(text).width + 8 * scale;
      context.textAlign = x + room > left + width ? "right" : "left";
      context.textBaseline = "bottom";
      const side = context.textAlign === "right" ? -8 * scale : 8 * scale;
      context.fillText(text, x + side, Math.max(y - 2 * scale, top + 14 * scale));
    }
    context.restore();
  }
}
