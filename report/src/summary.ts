// The summary: the numbers people ask for first, and a sentence that says what limits the step.

import { type Program, STALLS, type Step } from "./data";
import { el } from "./dom";
import * as format from "./format";

type Fact = { name: string; value: string; note?: string; tone?: "good" | "bad" };

function against(value: number, before: number): string {
  return before > 0 ? format.percent(value / before) : "";
}

function aboveLimit(step: Step): string {
  return step.by_address > 0
    ? `above the limit: laid out within it, the step takes ${format.ratio(step.by_address / step.plain)}`
    : "above the limit: no layout within it was found";
}

function memoryFacts(program: Program, step: Step): Fact[] {
  const before = program.info.peak_demand;
  const facts: Fact[] = [];
  if (step.limit > 0)
    facts.push({
      name: "limit",
      value: format.bytes(step.limit),
      note: `${against(step.limit, before)} of the peak`,
    });
  facts.push({
    name: "peak before",
    value: format.bytes(before),
    note: `at ${program.opText(program.info.peak_op)}`,
  });
  if (step.planner !== "")
    facts.push({
      name: "peak after",
      value: format.bytes(step.peak_demand),
      note: `${against(step.peak_demand, before)} of before`,
      tone: "good",
    });
  if (step.footprint !== null)
    facts.push({
      name: "footprint",
      value: format.bytes(step.footprint),
      note: step.within_limit ? "fragmentation included" : aboveLimit(step),
      tone: step.within_limit ? undefined : "bad",
    });
  return facts;
}

function measuredNote(step: Step): string {
  const { step: time, iterations } = step.measured!;
  const planned = iterations.planned.reduce((sum, one) => sum + one, 0);
  const all = iterations.step.length;
  return `${format.ratio(time / step.step)} the prediction; ${format.count(planned)} of ${format.count(all)} iterations by the plan`;
}

function timeFacts(program: Program, step: Step): Fact[] {
  const facts: Fact[] = [
    {
      name: step.planner === "" ? "step time" : "step predicted",
      value: format.time(step.step),
      note:
        step.planner === ""
          ? step.machine
          : `${format.ratio(step.step / step.plain)} plain (${format.time(step.plain)})`,
    },
  ];
  if (step.measured)
    facts.push({
      name: "step measured",
      value: format.time(step.measured.step),
      note: measuredNote(step),
    });
  else if (step.planner === "" && program.info.measured_step > 0)
    facts.push({
      name: "step measured",
      value: format.time(program.info.measured_step),
      note: "when it was recorded",
    });
  if (step.bound !== null)
    facts.push({
      name: "lower bound",
      value: format.time(step.bound),
      note: `no plan is faster; this one is ${format.percent(step.step / step.bound - 1)} above`,
    });
  return facts;
}

function moveFacts(step: Step): Fact[] {
  if (step.planner === "") return [];
  return [
    {
      name: "planner",
      value: step.planner,
      note:
        step.planning_seconds > 0
          ? `${step.planning_seconds.toFixed(1)} s, ${format.count(step.evaluations)} simulations`
          : step.machine,
    },
    {
      name: "moved",
      value: format.bytes(step.bytes_out + step.bytes_in),
      note: `${format.bytes(step.bytes_out)} out, ${format.bytes(step.bytes_in)} in`,
    },
    {
      name: "replays",
      value: `${format.count(step.replays)} ops`,
      note: `${format.time(step.recompute)} of compute`,
    },
    { name: "host memory", value: format.bytes(step.host_peak), note: "at most" },
  ];
}

/** Where the extra time goes, as one bar. */
function overheadBar(step: Step): HTMLElement | null {
  const extra = step.step - step.plain;
  if (extra <= 0) return null;
  const parts: [string, number, string][] = [["computing again", step.recompute, "replay"]];
  STALLS.forEach((cause, i) =>
    parts.push([`waiting for ${cause}`, step.stall[i], ["stall-issue", "stall-sync", "stall-in", "stall-room"][i]]),
  );
  const known = parts.reduce((sum, part) => sum + part[1], 0);
  parts.push(["compute slowed by copies", Math.max(0, extra - known), "slowed"]);
  const whole = parts.reduce((sum, part) => sum + part[1], 0);
  const bar = el("div", { class: "bar", role: "img", "aria-label": `Extra time ${format.time(extra)}` });
  const legend = el("div", { class: "legend" });
  for (const [name, time, tint] of parts) {
    if (time <= 0) continue;
    const piece = el("span", { title: `${name}: ${format.time(time)}` });
    piece.style.width = `${(100 * time) / whole}%`;
    piece.style.background = `var(--${tint})`;
    bar.append(piece);
    const mark = el("span", { class: "mark" });
    mark.style.background = `var(--${tint})`;
    legend.append(el("span", { class: "entry" }, mark, `${name} ${format.time(time)}`));
  }
  return el("div", { class: "overhead" }, el("h3", {}, `Where the extra ${format.time(extra)} go`), bar, legend);
}

export function summary(program: Program, step: Step): HTMLElement {
  const cards = [...memoryFacts(program, step), ...timeFacts(program, step), ...moveFacts(step)].map((fact) =>
    el(
      "div",
      { class: `card ${fact.tone ?? ""}` },
      el("div", { class: "name" }, fact.name),
      el("div", { class: "value" }, fact.value),
      el("div", { class: "note" }, fact.note ?? ""),
    ),
  );
  return el(
    "div",
    {},
    el("p", { class: "sentence" }, step.sentence),
    el("div", { class: "cards" }, ...cards),
    overheadBar(step),
  );
}
