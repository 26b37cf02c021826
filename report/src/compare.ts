// Planners side by side: overhead against memory, with the bound, and how searches converge.

import uPlot from "uplot";
import type { ComparedLimit, Comparison } from "./data";
import { choice, el } from "./dom";
import * as format from "./format";
import { colour, onThemeChange } from "./theme";

const HEIGHT = 340;
const LINES = 10; // colours of the style sheet

export interface Curve {
  planner: string;
  points: (number | null)[]; // overhead in percent, by limit; null: no plan
}

/** Limits as shares of the peak, smallest first, and a curve per planner over them; the bound last. */
export function overheadCurves(comparison: Comparison): { shares: number[]; curves: Curve[] } {
  const limits = [...comparison.limits].sort((a, b) => a.bytes - b.bytes);
  const overhead = (step: number | null | undefined) => (step ? 100 * (step / comparison.plain - 1) : null);
  const planners = limits[0]?.plans.map((plan) => plan.planner) ?? [];
  const curves = planners.map((planner, p) => ({
    planner,
    points: limits.map((limit) => overhead(limit.plans[p].step)),
  }));
  curves.push({ planner: "bound", points: limits.map((limit) => overhead(limit.bound)) });
  return { shares: limits.map((limit) => (100 * limit.bytes) / comparison.peak_demand), curves };
}

/** Best so far over evaluations, for the planners of a limit that search; on one common list of evaluations. */
export function convergence(
  comparison: Comparison,
  limit: ComparedLimit,
): { evaluations: number[]; curves: Curve[] } {
  const searching = limit.plans.filter((plan) => (plan.rounds?.length ?? 0) > 1);
  const evaluations = [
    ...new Set(searching.flatMap((plan) => plan.rounds!.map((round) => Math.max(1, round[0])))),
  ].sort((a, b) => a - b);
  const curves = searching.map((plan) => {
    const best = new Map(plan.rounds!.map((round) => [Math.max(1, round[0]), round[1]]));
    let last: number | null = null;
    const end = Math.max(...best.keys());
    return {
      planner: plan.planner,
      points: evaluations.map((at) => {
        const now = best.get(at);
        if (now) last = Math.min(last ?? Infinity, 100 * (now / comparison.plain - 1));
        return at <= end ? last : null;
      }),
    };
  });
  return { evaluations, curves };
}

export class CompareView {
  readonly element: HTMLElement;
  private hidden = new Set<string>();
  private chosen = 0;
  private limit = 0;
  private tradeoff = el("div", { class: "plot", id: "compare-tradeoff" });
  private search = el("div", { class: "plot", id: "compare-search" });
  private chips = el("fieldset", { class: "chips", id: "compare-planners" });
  private table = el("div", { class: "scroller" });
  private limitChoice = el("span");
  private plots: uPlot[] = [];

  constructor(
    private comparisons: Comparison[],
    private onPlanner: (planner: string) => void,
  ) {
    const tools = el("div", { class: "tools" });
    if (comparisons.length > 1)
      tools.append(
        choice(
          "step",
          comparisons.map((comparison, i) => ({
            value: String(i),
            text: `${comparison.trace} on ${comparison.machine}`,
          })),
          "0",
          (value) => this.show(Number(value)),
          "compare-step",
        ),
      );
    this.element = el(
      "div",
      {},
      tools,
      this.chips,
      el("h3", {}, "Overhead against memory"),
      this.tradeoff,
      this.table,
      el("h3", {}, "How searches converge ", this.limitChoice),
      this.search,
    );
    onThemeChange(() => this.draw());
    new ResizeObserver(() =>
      this.plots.forEach((plot) => plot.setSize({ width: this.width(), height: HEIGHT })),
    ).observe(this.tradeoff);
    this.show(0);
  }

  private get comparison(): Comparison {
    return this.comparisons[this.chosen];
  }

  private width(): number {
    return Math.max(200, this.tradeoff.clientWidth);
  }

  private show(i: number): void {
    this.chosen = i;
    this.limit = this.comparison.limits.length - 1;
    this.limitChoice.replaceChildren(
      choice(
        "at",
        this.comparison.limits.map((limit, at) => ({ value: String(at), text: limit.text })),
        String(this.limit),
        (value) => {
          this.limit = Number(value);
          this.draw();
        },
        "compare-limit",
      ),
    );
    this.buildChips();
    this.draw();
  }

  private planners(): string[] {
    return this.comparison.limits[0]?.plans.map((plan) => plan.planner) ?? [];
  }

  private buildChips(): void {
    const planners = this.planners();
    this.chips.replaceChildren(
      el("legend", {}, "planners shown"),
      ...planners.map((planner, p) => {
        const box = el("input", { type: "checkbox", value: planner, checked: !this.hidden.has(planner) });
        box.addEventListener("change", () => {
          if (box.checked) this.hidden.delete(planner);
          else this.hidden.add(planner);
          this.draw();
        });
        const mark = el("span", { class: "mark" });
        mark.style.background = `var(--line-${p % LINES})`;
        return el("label", { class: "chip" }, box, mark, planner);
      }),
    );
  }

  private lineOf(planner: string): string {
    return planner === "bound" ? colour("text") : colour(`line-${this.planners().indexOf(planner) % LINES}`);
  }

  private draw(): void {
    for (const plot of this.plots) plot.destroy();
    this.plots = [];
    this.drawTradeoff();
    this.drawSearch();
    this.drawTable();
  }

  private plot(
    target: HTMLElement,
    x: number[],
    curves: Curve[],
    options: { xLabel: string; logX: boolean; points: boolean },
  ): void {
    const shown = curves.filter((curve) => !this.hidden.has(curve.planner));
    const axis = {
      stroke: colour("muted"),
      grid: { stroke: colour("grid"), width: 1 },
      ticks: { stroke: colour("grid"), width: 1 },
      labelSize: 24,
    };
    const highest = Math.max(1, ...shown.flatMap((curve) => curve.points.map((point) => point ?? 0)));
    const plot = new uPlot(
      {
        width: this.width(),
        height: HEIGHT,
        scales: {
          x: options.logX
            ? { time: false, distr: 3 }
            : { time: false, range: (_, low, high) => (low === high ? [low - 5, high + 5] : [low - 2, high + 2]) },
          y: { range: [0, highest * 1.08] },
        },
        axes: [
          {
            ...axis,
            label: options.xLabel,
            ...(options.logX ? {} : { values: (_: uPlot, ticks: number[]) => ticks.map((tick) => `${tick} %`) }),
          },
          { ...axis, size: 64, label: "overhead (%)" },
        ],
        legend: { live: true },
        series: [
          {
            label: options.logX ? "simulations" : "memory",
            value: (_, value) =>
              value === null ? "" : options.logX ? format.count(value) : `${value.toFixed(0)} % of the peak`,
          },
          ...shown.map((curve) => ({
            label: curve.planner,
            stroke: this.lineOf(curve.planner),
            width: curve.planner === "bound" ? 1.5 : 2,
            dash: curve.planner === "bound" ? [6, 4] : undefined,
            points: { show: options.points, size: 7, fill: this.lineOf(curve.planner) },
            spanGaps: false,
            value: (_: uPlot, value: number | null) => (value === null ? "–" : `${value.toFixed(1)} %`),
          })),
        ],
        cursor: { drag: { x: true, y: true, uni: 20 }, focus: { prox: 20 } },
        focus: { alpha: 0.3 },
      },
      [x, ...shown.map((curve) => curve.points)] as uPlot.AlignedData,
      target,
    );
    this.plots.push(plot);
  }

  private drawTradeoff(): void {
    const { shares, curves } = overheadCurves(this.comparison);
    this.plot(this.tradeoff, shares, curves, { xLabel: "memory, % of the peak", logX: false, points: true });
  }

  private drawSearch(): void {
    const limit = this.comparison.limits[this.limit];
    const { evaluations, curves } = convergence(this.comparison, limit);
    if (curves.length === 0) {
      this.search.replaceChildren(el("p", { class: "note" }, "None of these planners searches in rounds."));
      return;
    }
    this.search.replaceChildren();
    this.plot(this.search, evaluations, curves, { xLabel: "simulations", logX: true, points: false });
  }

  private drawTable(): void {
    const { limits } = this.comparison;
    const head = el(
      "tr",
      {},
      el("th", { scope: "col" }, "planner"),
      ...limits.map((limit) => el("th", { scope: "col", class: "number" }, limit.text)),
    );
    const best = limits.map((limit) => Math.min(...limit.plans.map((plan) => plan.step ?? Infinity)));
    const rows = this.planners()
      .map((planner, p) => ({ planner, p }))
      .filter(({ planner }) => !this.hidden.has(planner))
      .map(({ planner, p }) => {
        const press = el(
          "button",
          { type: "button", class: "link", title: "Show this planner's step above" },
          planner,
        );
        press.addEventListener("click", () => this.onPlanner(planner));
        return el(
          "tr",
          {},
          el("th", { scope: "row" }, press),
          ...limits.map((limit, l) => {
            const plan = limit.plans[p];
            const text = plan.step ? (plan.step / this.comparison.plain).toFixed(3) : "–";
            return el(
              "td",
              {
                class: `number ${plan.step === best[l] ? "best" : ""}`,
                title:
                  plan.reason ??
                  `${format.time(plan.step ?? 0)}, planned in ${(plan.planning_seconds ?? 0).toFixed(1)} s`,
              },
              text,
            );
          }),
        );
      });
    const bound = el(
      "tr",
      { class: "bound" },
      el("th", { scope: "row" }, "(bound)"),
      ...limits.map((limit) =>
        el(
          "td",
          { class: "number" },
          limit.bound === null ? "–" : (limit.bound / this.comparison.plain).toFixed(3),
        ),
      ),
    );
    this.table.replaceChildren(
      el(
        "table",
        { class: "ratios" },
        el("caption", {}, "Step time ÷ plain step time"),
        el("thead", {}, head),
        el("tbody", {}, ...rows, bound),
      ),
    );
  }
}
