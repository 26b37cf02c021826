// What is decided for every idle time: a table that sorts, filters and scrolls through thousands of rows.

import { ACTIONS, GAP_KINDS, type Program, type Step } from "./data";
import { choice, el, perFrame } from "./dom";
import * as format from "./format";
import { matcher } from "./search";
import { ACTION_COLOURS } from "./theme";

const ROW = 26; // pixels, also in the style sheet
const SHOWN = 14;
const PRINTED = 40;

export interface Row {
  gap: number;
  block: string;
  bytes: number;
  idle: number;
  kind: string;
  decision: number;
  cost: number; // time on the links or computing again, as decided; of a kept gap, nothing
  saving: number; // bytes × time, in MiB·ms
  peak: boolean;
  after: string;
  until: string;
}

export type Column =
  "block" | "bytes" | "idle" | "kind" | "decision" | "cost" | "saving" | "peak" | "after" | "until";

const COLUMNS: { key: Column; title: string; hint: string; number?: boolean }[] = [
  { key: "block", title: "block", hint: "who made it" },
  { key: "bytes", title: "size", hint: "bytes", number: true },
  { key: "idle", title: "idle", hint: "time between its uses, with nothing moved", number: true },
  { key: "decision", title: "decision", hint: "keep, swap, recompute" },
  {
    key: "cost",
    title: "cost",
    hint: "time on the links, or computing again; not all of it delays the step",
    number: true,
  },
  { key: "saving", title: "saving", hint: "bytes × time away", number: true },
  { key: "peak", title: "at peak", hint: "idle while memory is scarcest" },
  { key: "kind", title: "gap", hint: "between two uses, over the iteration's end, or until it is freed" },
  { key: "after", title: "idle after", hint: "the op that used it last" },
  { key: "until", title: "until", hint: "the op that needs it next" },
];

export function rowsOf(program: Program, step: Step): Row[] {
  const gaps = program.gaps;
  return step.decisions.map((decision, gap) => {
    const block = gaps.block[gap];
    const bytes = program.blocks.bytes[block];
    const idle = gaps.idle[gap];
    const cost = decision === 1 ? gaps.swap[gap] : decision === 2 ? Math.max(0, gaps.recompute[gap]) : 0;
    return {
      gap,
      block: program.blockText(block),
      bytes,
      idle,
      kind: GAP_KINDS[gaps.kind[gap]],
      decision,
      cost,
      saving: decision === 0 ? 0 : (bytes / 2 ** 20) * (idle / 1e6),
      peak: gaps.peak[gap] === 1,
      after: program.opText(gaps.from[gap]),
      until: gaps.kind[gap] === 2 ? "freed" : program.opText(gaps.to[gap]),
    };
  });
}

export function sortRows(rows: Row[], column: Column, descending: boolean): Row[] {
  const sign = descending ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [x, y] = [a[column], b[column]];
    const order =
      typeof x === "string" ? x.localeCompare(y as string, "en", { numeric: true }) : Number(x) - Number(y);
    return sign * order || a.gap - b.gap;
  });
}

export interface Filter {
  text: string;
  decision: string; // a number of ACTIONS, "moved" or "all"
  peakOnly: boolean;
}

export function filterRows(rows: Row[], filter: Filter): Row[] {
  const matches = matcher(filter.text);
  return rows.filter(
    (row) =>
      (!filter.peakOnly || row.peak) &&
      (filter.decision === "all" ||
        (filter.decision === "moved" ? row.decision !== 0 : row.decision === Number(filter.decision))) &&
      matches(`${row.block} ${row.after} ${row.until} ${row.kind} ${ACTIONS[row.decision]}`),
  );
}

export class DecisionsView {
  readonly element: HTMLElement;
  private all: Row[] = [];
  private rows: Row[] = [];
  private column: Column = "saving";
  private descending = true;
  private selected = -1;
  private filter: Filter = { text: "", decision: "moved", peakOnly: false };
  private body = el("tbody");
  private head = el("tr");
  private count = el("span", { class: "found", role: "status", "aria-live": "polite" });
  private scroller: HTMLElement;
  private table: HTMLTableElement;
  private readonly redraw: () => void;
  private decided: HTMLElement;

  constructor(
    private program: Program,
    private onBlock: (text: string) => void,
  ) {
    this.table = el("table", { class: "decisions" }, el("thead", {}, this.head), this.body);
    this.scroller = el(
      "div",
      { class: "scroller", tabindex: 0, role: "region", "aria-label": "Decisions, scrollable" },
      this.table,
    );
    this.scroller.style.height = `${(SHOWN + 1.4) * ROW}px`;
    this.redraw = perFrame(() => this.draw());
    this.scroller.addEventListener("scroll", this.redraw);
    this.scroller.addEventListener("keydown", (event) => this.step(event));
    const field = el("input", {
      type: "search",
      id: "decisions-search",
      placeholder: "op, block 17 …",
      spellcheck: "false",
    });
    field.addEventListener("input", () => this.refilter({ ...this.filter, text: field.value }));
    const peak = el("input", { type: "checkbox", id: "decisions-peak" });
    peak.addEventListener("change", () => this.refilter({ ...this.filter, peakOnly: peak.checked }));
    this.decided = choice(
      "decision",
      [
        { value: "moved", text: "swap or recompute" },
        { value: "all", text: "all" },
        ...ACTIONS.map((text, i) => ({ value: String(i), text })),
      ],
      "moved",
      (decision) => this.refilter({ ...this.filter, decision }),
      "decisions-action",
    );
    this.element = el(
      "div",
      {},
      el(
        "div",
        { class: "tools" },
        el("label", {}, "find ", field),
        this.decided,
        el("label", {}, peak, " idle at the peak"),
        this.count,
      ),
      this.scroller,
    );
    addEventListener("beforeprint", () => this.draw(0, PRINTED));
    addEventListener("afterprint", () => this.draw());
    this.buildHead();
  }

  show(step: Step): void {
    this.all = rowsOf(this.program, step);
    if (step.planner === "" && this.filter.decision === "moved") {
      this.filter.decision = "all";
      this.decided.querySelector("select")!.value = "all";
    }
    this.refilter(this.filter);
  }

  private refilter(filter: Filter): void {
    this.filter = filter;
    this.rows = sortRows(filterRows(this.all, filter), this.column, this.descending);
    this.count.textContent = `${format.count(this.rows.length)} of ${format.count(this.all.length)} gaps`;
    this.scroller.scrollTop = 0;
    this.selected = -1;
    this.redraw();
  }

  /** Up and down choose a row, Enter finds it in the arena. */
  private step(event: KeyboardEvent): void {
    if (event.target !== this.scroller) return;
    if (event.key === "Enter" && this.rows[this.selected]) this.onBlock(this.blockOf(this.rows[this.selected]));
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: SHOWN, PageUp: -SHOWN }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    this.selected = Math.min(Math.max(0, this.selected + by), this.rows.length - 1);
    const top = this.selected * ROW;
    const bottom = top + 2 * ROW - this.scroller.clientHeight + ROW;
    this.scroller.scrollTop = Math.min(Math.max(this.scroller.scrollTop, bottom), top);
    this.redraw();
  }

  private blockOf(row: Row): string {
    return `block ${this.program.gaps.block[row.gap]}`;
  }

  private sortBy(column: Column): void {
    const numeric = COLUMNS.find((entry) => entry.key === column)?.number ?? false;
    this.descending = this.column === column ? !this.descending : numeric || column === "peak";
    this.column = column;
    this.buildHead();
    this.refilter(this.filter);
  }

  private buildHead(): void {
    this.head.replaceChildren(
      ...COLUMNS.map(({ key, title, hint, number }) => {
        const chosen = key === this.column;
        const press = el(
          "button",
          { type: "button", title: `${hint}; sort by it` },
          title + (chosen ? (this.descending ? " ▾" : " ▴") : ""),
        );
        press.addEventListener("click", () => {
          this.sortBy(key);
          this.head.querySelectorAll("button")[COLUMNS.findIndex((entry) => entry.key === key)].focus();
        });
        return el(
          "th",
          {
            scope: "col",
            class: number ? "number" : undefined,
            "aria-sort": chosen ? (this.descending ? "descending" : "ascending") : "none",
          },
          press,
        );
      }),
    );
  }

  private draw(from?: number, most?: number): void {
    const first = from ?? Math.max(0, Math.floor(this.scroller.scrollTop / ROW) - 4);
    const shown = this.rows.slice(first, first + (most ?? SHOWN + 8));
    this.table.setAttribute("aria-rowcount", String(this.rows.length + 1));
    const spacer = (rows: number) => {
      const row = el("tr", { "aria-hidden": "true", class: "spacer" });
      row.style.height = `${rows * ROW}px`;
      return row;
    };
    this.body.replaceChildren(
      spacer(first),
      ...shown.map((row, i) => this.rowElement(row, first + i)),
      spacer(most === undefined ? this.rows.length - first - shown.length : 0),
    );
  }

  private rowElement(row: Row, index: number): HTMLTableRowElement {
    const mark = el("span", { class: "mark" });
    mark.style.background = `var(--${ACTION_COLOURS[row.decision]})`;
    const link = el(
      "button",
      { type: "button", class: "link", title: "Find it in the arena", tabindex: -1 },
      row.block,
    );
    link.addEventListener("click", () => this.onBlock(this.blockOf(row)));
    return el(
      "tr",
      { "aria-rowindex": index + 2, class: index === this.selected ? "selected" : undefined },
      el("td", {}, link),
      el("td", { class: "number" }, format.bytes(row.bytes)),
      el("td", { class: "number" }, format.time(row.idle)),
      el("td", {}, mark, ACTIONS[row.decision]),
      el("td", { class: "number" }, row.cost > 0 ? format.time(row.cost) : "–"),
      el("td", { class: "number" }, row.saving > 0 ? `${(row.saving / 1024).toFixed(1)} GiB·ms` : "–"),
      el("td", {}, row.peak ? "yes" : "no"),
      el("td", {}, row.kind),
      el("td", {}, row.after),
      el("td", {}, row.until),
    );
  }
}
