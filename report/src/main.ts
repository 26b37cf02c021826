// The page: read the data, build the views, let people choose a plan.

import "uplot/dist/uPlot.min.css";
import "./style.css";
import { ArenaView } from "./arena";
import { CompareView } from "./compare";
import { decode, type Program, type Report, type Step } from "./data";
import { DecisionsView } from "./decisions";
import { choice, el } from "./dom";
import { time } from "./format";
import { MemoryView } from "./memory";
import { StreamsView } from "./streams";
import { summary } from "./summary";
import { setTheme, type Theme, watchTheme } from "./theme";
import { TimeWindow } from "./time_window";

interface StepView {
  show(step: Step): void;
}

function section(id: string, title: string, hint: string, ...content: Node[]): HTMLElement {
  return el(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    el("h2", { id: `${id}-title` }, title),
    hint ? el("p", { class: "hint" }, hint) : null,
    ...content,
  );
}

function themeChoice(): HTMLElement {
  const themes: Theme[] = ["auto", "light", "dark"];
  return choice(
    "theme",
    themes.map((value) => ({ value, text: value })),
    "auto",
    (value) => setTheme(value as Theme),
    "theme",
  );
}

const ZOOM_HINT =
  "Drag to zoom, Shift-drag or arrow keys to pan, Ctrl-wheel or + and − to zoom, 0 or double-click for all.";

class Page {
  private window: TimeWindow;
  private views: StepView[] = [];
  private head = el("div");
  private select: HTMLSelectElement | null = null;
  private shown = el("output", { id: "window", class: "found", title: "What the charts show" });

  constructor(
    private report: Report,
    private root: HTMLElement,
  ) {
    this.window = new TimeWindow(1);
    this.window.listen((what) => {
      if (what === "range") this.tellWindow();
    });
  }

  build(): void {
    const sections: HTMLElement[] = [];
    const { program, steps, comparisons } = this.report;
    const tools = el("div", { class: "tools" });
    if (program) {
      sections.push(...this.stepSections(program));
      tools.append(this.shown, this.planChoice(steps));
    }
    if (comparisons.length > 0) {
      const compare = new CompareView(comparisons, (planner) => this.choosePlanner(planner));
      sections.push(section("compare", "Planners compared", "", compare.element));
    }
    tools.append(themeChoice());
    const links = sections.map((part) => el("a", { href: `#${part.id}` }, part.querySelector("h2")!.textContent));
    const name = program
      ? program.info.name || "training step"
      : comparisons.map((comparison) => comparison.trace).join(", ");
    document.title = `${name} – Ebb report`;
    this.root.replaceChildren(
      el("header", {}, el("h1", {}, name), el("nav", { "aria-label": "Views" }, ...links), tools),
      el("main", {}, ...sections),
      el("footer", {}, "Made by Ebb. Predictions are the simulator's unless they say measured."),
    );
    if (program) this.choose(steps.length > 1 ? 1 : 0);
  }

  private stepSections(program: Program): HTMLElement[] {
    const memory = new MemoryView(program, this.window);
    const arena = new ArenaView(program, this.window);
    const streams = new StreamsView(program, this.window);
    const decisions = new DecisionsView(program, (text) => arena.find(text));
    this.views = [memory, arena, streams, decisions];
    return [
      section("summary", "Summary", "", this.head),
      section("memory", "Memory over time", ZOOM_HINT, memory.element),
      section("arena", "The arena", "Time to the right, address upwards. " + ZOOM_HINT, arena.element),
      section("streams", "Streams", "", streams.element),
      section(
        "decisions",
        "Decisions",
        "One row for every idle time of a block that could leave. Press a column's name to sort.",
        decisions.element,
      ),
    ];
  }

  private planChoice(steps: Step[]): HTMLElement {
    const label = choice(
      "plan",
      steps.map((step, i) => ({ value: String(i), text: step.title })),
      steps.length > 1 ? "1" : "0",
      (value) => this.choose(Number(value)),
      "plan",
    );
    this.select = label.querySelector("select");
    return label;
  }

  private tellWindow(): void {
    const { begin, end, length } = this.window;
    this.shown.textContent = this.window.isWhole
      ? `whole step, ${time(length)}`
      : `${time(begin)} – ${time(end)} of ${time(length)}`;
  }

  private choose(i: number): void {
    const step = this.report.steps[i];
    if (this.select) this.select.value = String(i);
    this.window.reset(step.step);
    this.head.replaceChildren(summary(this.report.program!, step));
    for (const view of this.views) view.show(step);
  }

  private choosePlanner(planner: string): void {
    const i = this.report.steps.findIndex((step) => step.planner === planner);
    if (i < 0) return;
    this.choose(i);
    document.getElementById("summary")?.scrollIntoView();
  }
}

function start(): void {
  const root = document.getElementById("app")!;
  try {
    watchTheme();
    new Page(decode(document.getElementById("ebb-data")!.textContent ?? ""), root).build();
    document.documentElement.dataset.ready = "yes";
  } catch (error) {
    root.replaceChildren(
      el(
        "p",
        { class: "failure" },
        `This report cannot be shown: ${error instanceof Error ? error.message : String(error)}`,
      ),
    );
    throw error;
  }
}

start();
