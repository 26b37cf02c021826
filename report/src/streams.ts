// The streams: what computes, what is copied out and in, and what compute waits for.

import { type CopyLane, type Program, STALLS, type Step, type Timeline } from "./data";
import { button, el } from "./dom";
import * as format from "./format";
import { lastNotAbove } from "./load";
import { colour, STALL_COLOURS } from "./theme";
import { type Frame, type Painter, TimeCanvas } from "./time_canvas";
import type { TimeWindow } from "./time_window";
import { hideTooltip, type Row, showTooltip } from "./tooltip";

const LANE = 34;
const SPACE = 8;
const AXIS = 34; // the canvas' own margins above and below
const PHASE_COLOURS: Record<string, string> = {
  F: "forward",
  B: "backward",
  U: "update",
  Z: "update",
  "?": "forward",
};

interface LaneBox {
  name: string;
  start: number[];
  end: number[];
  colourOf(i: number): string;
  labelOf(i: number): string;
  tell(i: number): Row[];
}

export class StreamsView implements Painter {
  readonly element: HTMLElement;
  private canvas: TimeCanvas;
  private lanes: LaneBox[] = [];
  private legend = el("div", { class: "legend" });

  constructor(
    private program: Program,
    private window: TimeWindow,
  ) {
    this.canvas = new TimeCanvas(window, this, "Compute, copies and waiting over time", AXIS + 4 * (LANE + SPACE));
    this.element = el(
      "div",
      {},
      el(
        "div",
        { class: "tools" },
        button("show all", "Show the whole step", () => window.showAll()),
      ),
      this.legend,
      this.canvas.element,
    );
  }

  show(step: Step): void {
    this.lanes = this.lanesOf(step.timeline, "");
    if (step.measured) this.lanes.push(...this.lanesOf(step.measured.timeline, "measured "));
    this.canvas.resize(AXIS + this.lanes.length * (LANE + SPACE));
    const entry = (name: string, text: string) => {
      const sign = el("span", { class: "mark" });
      sign.style.background = `var(--${name})`;
      return el("span", { class: "entry" }, sign, text);
    };
    const waits = STALLS.map((cause, i) => ({ cause, i })).filter(({ i }) => step.stall[i] > 0);
    this.legend.replaceChildren(
      entry("forward", "forward"),
      entry("backward", "backward"),
      entry("update", "update"),
      entry("replay", "computed again"),
      entry("out", "copy out"),
      entry("in", "copy in"),
      ...waits.map(({ cause, i }) => entry(STALL_COLOURS[i], `waits for ${cause}: ${format.time(step.stall[i])}`)),
      ...(waits.length === 0 ? [el("span", { class: "entry" }, "compute never waits")] : []),
    );
  }

  private lanesOf(timeline: Timeline, prefix: string): LaneBox[] {
    const replays = new Set(timeline.compute.replays);
    const compute: LaneBox = {
      name: `${prefix}compute`,
      start: timeline.compute.start,
      end: timeline.compute.end,
      colourOf: (i) =>
        replays.has(i) ? "replay" : (PHASE_COLOURS[this.program.ops.phase[timeline.compute.op[i]]] ?? "forward"),
      labelOf: (i) => this.program.opName(timeline.compute.op[i]),
      tell: (i) => [
        ["op", String(timeline.compute.op[i])],
        ["phase", replays.has(i) ? "computed again" : this.program.phaseOf(timeline.compute.op[i])],
      ],
    };
    const copies = (name: string, lane: CopyLane, tint: string): LaneBox => ({
      name: prefix + name,
      start: lane.start,
      end: lane.end,
      colourOf: () => tint,
      labelOf: (i) =>
        lane.gap[i] < 0 ? "a copy nobody planned" : this.program.blockText(this.program.gaps.block[lane.gap[i]]),
      tell: (i) => this.tellCopy(lane, i),
    });
    const stalls = timeline.stalls;
    const waiting: LaneBox = {
      name: `${prefix}waiting`,
      start: stalls.start,
      end: stalls.end,
      colourOf: (i) => STALL_COLOURS[stalls.cause[i]],
      labelOf: (i) => `waits for ${STALLS[stalls.cause[i]]}`,
      tell: (i) => [["op", this.program.opText(stalls.op[i])]],
    };
    return [compute, copies("copy out", timeline.out, "out"), copies("copy in", timeline.in, "in"), waiting];
  }

  private tellCopy(lane: CopyLane, i: number): Row[] {
    const gap = lane.gap[i];
    if (gap < 0) return [];
    const { block, from, to } = this.program.gaps;
    const bytes = this.program.blocks.bytes[block[gap]];
    return [
      ["bytes", format.bytes(bytes)],
      ["speed", `${(bytes / Math.max(1, lane.end[i] - lane.start[i])).toFixed(1)} GB/s`],
      ["idle after", this.program.opText(from[gap])],
      ["needed by", this.program.opText(to[gap])],
    ];
  }

  draw(frame: Frame): void {
    const { context, left, top, width } = frame;
    this.lanes.forEach((lane, at) => {
      const y = top + at * (LANE + SPACE);
      context.fillStyle = colour("muted");
      context.textAlign = "right";
      context.textBaseline = "middle";
      const [first, ...rest] = lane.name.split(" ");
      if (rest.length > 0 && context.measureText(lane.name).width > left - 8) {
        context.fillText(first, left - 6, y + LANE / 2 - 7);
        context.fillText(rest.join(" "), left - 6, y + LANE / 2 + 7);
      } else {
        context.fillText(lane.name, left - 6, y + LANE / 2, left - 8);
      }
      context.fillStyle = colour("lane");
      context.fillRect(left, y, width, LANE);
    });
    context.beginPath();
    context.rect(left, top, width, frame.height);
    context.clip();
    this.lanes.forEach((lane, at) => this.drawLane(frame, lane, top + at * (LANE + SPACE)));
  }

  private drawLane({ context, x }: Frame, lane: LaneBox, y: number): void {
    const first = Math.max(0, lastNotAbove(lane.start, this.window.begin));
    for (let i = first; i < lane.start.length && lane.start[i] < this.window.end; ++i) {
      const begin = x(lane.start[i]);
      const width = Math.max(x(lane.end[i]) - begin, 0.7);
      context.fillStyle = colour(lane.colourOf(i));
      context.fillRect(begin, y, width, LANE);
      if (width < 4) continue;
      context.strokeStyle = colour("edge");
      context.lineWidth = 0.6;
      context.strokeRect(begin, y, width, LANE);
      if (width < 60) continue;
      const letters = Math.floor((width - 8) / 6.2);
      const text = lane.labelOf(i);
      context.fillStyle = colour("on-block");
      context.textAlign = "left";
      context.textBaseline = "middle";
      context.fillText(
        text.length > letters ? `${text.slice(0, letters - 1)}…` : text,
        Math.max(begin, 72) + 4,
        y + LANE / 2,
      );
    }
  }

  hover(time: number, y: number, frame: Frame, pageX: number, pageY: number): void {
    const lane = this.lanes[Math.floor(y / (LANE + SPACE))];
    const near = lane ? this.nearest(lane, time, frame) : -1;
    if (near < 0) {
      hideTooltip();
      return;
    }
    const rows: Row[] = [
      ["from", format.time(lane.start[near])],
      ["takes", format.time(lane.end[near] - lane.start[near])],
      ...lane.tell(near),
    ];
    showTooltip(pageX, pageY, lane.labelOf(near), rows);
  }

  /** The span at a moment; within two pixels is near enough. */
  private nearest(lane: LaneBox, time: number, frame: Frame): number {
    const slack = ((this.window.end - this.window.begin) / frame.width) * 2;
    const at = lastNotAbove(lane.start, time);
    if (at >= 0 && time < lane.end[at] + slack) return at;
    return at + 1 < lane.start.length && lane.start[at + 1] - time < slack ? at + 1 : -1;
  }
}
