// The arena: time to the right, address upwards, a rectangle for every time something is resident.

import { ACTIONS, Action, type Program, type Step, TakenBy } from "./data";
import { button, choice, el } from "./dom";
import * as format from "./format";
import { matcher } from "./search";
import { ACTION_COLOURS, colour, KIND_COLOURS } from "./theme";
import { type Frame, type Painter, TimeCanvas } from "./time_canvas";
import type { TimeWindow } from "./time_window";
import { kindName, STACK } from "./memory";
import { hideTooltip, type Row, showTooltip } from "./tooltip";

const HEIGHT = 460;
const TAKEN = ["there all the time", "allocated", "copied back", "computed again", "workspace"];

type ColourBy = "kind" | "decision";

/** What is decided about a block as a whole: the strongest of what is decided for its gaps. */
export function decisionsByBlock(program: Program, step: Step): Uint8Array {
  const strongest = new Uint8Array(program.blocks.bytes.length);
  const order = [Action.keep, Action.clean, Action.swap, Action.recompute];
  step.decisions.forEach((action, gap) => {
    const block = program.gaps.block[gap];
    if (order.indexOf(action) > order.indexOf(strongest[block])) strongest[block] = action;
  });
  return strongest;
}

export class ArenaView implements Painter {
  readonly element: HTMLElement;
  private canvas: TimeCanvas;
  private step!: Step;
  private actions: Uint8Array = new Uint8Array();
  private colourBy: ColourBy = "kind";
  private found: Uint8Array | null = null; // by residency; null: nothing is searched for
  private low = 0;
  private high = 1;
  private top = 1;
  private legend = el("div", { class: "legend" });
  private note = el("span", { class: "found", role: "status", "aria-live": "polite" });
  private field = el("input", {
    type: "search",
    id: "arena-search",
    placeholder: "op, block 17 …",
    spellcheck: "false",
  });

  constructor(
    private program: Program,
    private window: TimeWindow,
  ) {
    this.canvas = new TimeCanvas(window, this, "The arena: what lies at which address when", HEIGHT);
    this.field.addEventListener("input", () => this.search(this.field.value));
    this.element = el(
      "div",
      {},
      el(
        "div",
        { class: "tools" },
        choice(
          "colour by",
          [
            { value: "kind", text: "kind" },
            { value: "decision", text: "decision" },
          ],
          "kind",
          (value) => {
            this.colourBy = value as ColourBy;
            this.buildLegend();
            this.canvas.redraw();
          },
          "arena-colour",
        ),
        el("label", {}, "find ", this.field),
        this.note,
        button("show all", "Show the whole arena", () => {
          this.reset();
          window.showAll();
        }),
      ),
      this.legend,
      this.canvas.element,
    );
  }

  show(step: Step): void {
    this.step = step;
    this.actions = decisionsByBlock(this.program, step);
    const { offset, bytes } = step.residencies;
    this.top = Math.max(1, step.limit - this.program.info.unmanaged);
    for (let i = 0; i < offset.length; ++i) this.top = Math.max(this.top, offset[i] + bytes[i]);
    this.reset();
    this.buildLegend();
    this.search(this.field.value);
  }

  /** From elsewhere in the page: this block alone. */
  find(text: string): void {
    this.field.value = text;
    this.search(text);
    this.element.scrollIntoView({ block: "center" });
  }

  search(text: string): void {
    const residencies = this.step.residencies;
    if (text.trim() === "") {
      this.found = null;
      this.note.textContent = "";
    } else {
      const matches = matcher(text);
      let count = 0;
      let bytes = 0;
      this.found = new Uint8Array(residencies.begin.length);
      for (let i = 0; i < this.found.length; ++i) {
        if (!matches(this.program.residencyText(residencies, i))) continue;
        this.found[i] = 1;
        ++count;
        bytes += residencies.bytes[i];
      }
      this.note.textContent = count === 0 ? "nothing" : `${format.count(count)}, ${format.bytes(bytes)} together`;
    }
    this.canvas.redraw();
  }

  reset(): void {
    this.low = 0;
    this.high = this.top * 1.02;
    this.canvas.redraw();
  }

  select(y0: number, y1: number, frame: Frame): boolean {
    const address = (y: number) => this.low + (1 - y / frame.height) * (this.high - this.low);
    const [low, high] = [Math.max(0, address(y1)), address(y0)];
    if (high - low > 1) [this.low, this.high] = [low, high];
    return true;
  }

  draw(frame: Frame): void {
    const { context, left, top, width, height } = frame;
    this.drawAddresses(frame);
    context.beginPath();
    context.rect(left, top, width, height);
    context.clip();
    const { begin, end } = this.step.residencies;
    // What is found is drawn last, so that nothing covers it.
    for (const pass of this.found ? [0, 1] : [-1])
      for (let i = 0; i < begin.length; ++i) {
        if (pass >= 0 && this.found![i] !== pass) continue;
        context.globalAlpha = pass === 0 ? 0.15 : 1;
        this.drawResidency(frame, i, begin[i], end[i]);
        if (end[i] > this.step.step)
          this.drawResidency(frame, i, begin[i] - this.step.step, end[i] - this.step.step);
      }
    context.globalAlpha = 1;
    this.drawLimit(frame);
  }

  private y(address: number, frame: Frame): number {
    return frame.top + (1 - (address - this.low) / (this.high - this.low)) * frame.height;
  }

  private drawResidency(frame: Frame, i: number, begin: number, end: number): void {
    if (end <= this.window.begin || begin >= this.window.end) return;
    const { offset, bytes } = this.step.residencies;
    if (offset[i] + bytes[i] <= this.low || offset[i] >= this.high) return;
    const context = frame.context;
    const x = Math.max(frame.x(begin), frame.left - 1);
    const w = Math.min(frame.x(end), frame.left + frame.width + 1) - x;
    const y = this.y(offset[i] + bytes[i], frame);
    const h = this.y(offset[i], frame) - y;
    context.fillStyle = colour(this.colourOf(i));
    context.fillRect(x, y, Math.max(w, 0.6), Math.max(h, 0.4));
    if (w > 3 && h > 3) {
      context.strokeStyle = colour("edge");
      context.lineWidth = 0.6;
      context.strokeRect(x, y, w, h);
    }
    if (w > 90 && h > 14) this.label(context, i, x, y, w, h);
  }

  private label(context: CanvasRenderingContext2D, i: number, x: number, y: number, w: number, h: number): void {
    context.fillStyle = colour("on-block");
    context.textAlign = "left";
    context.textBaseline = "middle";
    const text = `${this.program.residencyText(this.step.residencies, i)}, ${format.bytes(this.step.residencies.bytes[i])}`;
    const letters = Math.floor((w - 8) / 6.2);
    context.fillText(
      text.length > letters ? `${text.slice(0, Math.max(1, letters - 1))}…` : text,
      x + 4,
      y + h / 2,
    );
  }

  private colourOf(i: number): string {
    const residencies = this.step.residencies;
    if (this.colourBy === "kind") return KIND_COLOURS[this.program.residencyKind(residencies, i)];
    const block = residencies.block[i];
    if (residencies.by[i] === TakenBy.replay) return "replay";
    return block < 0 ? "workspace" : ACTION_COLOURS[this.actions[block]];
  }

  private drawAddresses(frame: Frame): void {
    const { context, left, top, width } = frame;
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const address of format.byteTicks(this.low, this.high, 7)) {
      const y = Math.round(this.y(address, frame)) + 0.5;
      if (y < top) continue;
      context.strokeStyle = colour("grid");
      context.beginPath();
      context.moveTo(left, y);
      context.lineTo(left + width, y);
      context.stroke();
      context.fillStyle = colour("muted");
      context.fillText(format.bytes(address), left - 6, y);
    }
  }

  private drawLimit(frame: Frame): void {
    if (this.step.limit === 0) return;
    const y = this.y(this.step.limit - this.program.info.unmanaged, frame);
    const context = frame.context;
    context.strokeStyle = colour("limit");
    context.lineWidth = 1.5;
    context.setLineDash([6, 4]);
    context.beginPath();
    context.moveTo(frame.left, y);
    context.lineTo(frame.left + frame.width, y);
    context.stroke();
  }

  hover(time: number, y: number, frame: Frame, pageX: number, pageY: number): void {
    const address = this.low + (1 - y / frame.height) * (this.high - this.low);
    const { residencies, step } = this.step;
    const { begin, end, offset, bytes } = residencies;
    for (let i = 0; i < begin.length; ++i) {
      if (address < offset[i] || address >= offset[i] + bytes[i]) continue;
      if (!((begin[i] <= time && time < end[i]) || time + step < end[i])) continue;
      this.tell(i, pageX, pageY);
      return;
    }
    hideTooltip();
  }

  private tell(i: number, pageX: number, pageY: number): void {
    const { residencies } = this.step;
    const block = residencies.block[i];
    const rows: Row[] = [
      ["bytes", format.bytes(residencies.bytes[i])],
      [
        "kind",
        kindName(this.program.residencyKind(residencies, i)),
        colour(KIND_COLOURS[this.program.residencyKind(residencies, i)]),
      ],
      ["address", format.bytes(residencies.offset[i])],
      ["there", `${format.time(residencies.begin[i])} – ${format.time(residencies.end[i])}`],
      ["how", TAKEN[residencies.by[i]]],
    ];
    if (block >= 0 && this.step.planner !== "")
      rows.push(["decided", ACTIONS[this.actions[block]], colour(ACTION_COLOURS[this.actions[block]])]);
    const notes: string[] = [];
    if (block >= 0 && this.program.blocks.birth[block] >= 0)
      notes.push(
        `from ${this.program.opText(this.program.blocks.birth[block])} to ${this.program.opText(this.program.blocks.death[block])}`,
      );
    showTooltip(pageX, pageY, this.program.residencyText(residencies, i), rows, notes);
  }

  private buildLegend(): void {
    const entry = (name: string, text: string) => {
      const sign = el("span", { class: "mark" });
      sign.style.background = `var(--${name})`;
      return el("span", { class: "entry" }, sign, text);
    };
    const entries =
      this.colourBy === "kind"
        ? STACK.filter((kind) => kind < KIND_COLOURS.length - 1).map((kind) =>
            entry(KIND_COLOURS[kind], kindName(kind)),
          )
        : [
            ...ACTIONS.map((action, i) => entry(ACTION_COLOURS[i], action)),
            entry("replay", "computed again"),
            entry("workspace", "workspace"),
          ];
    this.legend.replaceChildren(...entries);
  }
}
