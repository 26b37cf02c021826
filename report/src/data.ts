// The data block as src/report/report.cc writes it: columns of numbers, bytes and nanoseconds.

export const KINDS = ["weights", "optimizer state", "gradients", "activations", "workspace"] as const;
export const WORKSPACE = 4;
export const UNMANAGED = 5;

export enum Action {
  keep,
  swap,
  recompute,
  clean,
}
export const ACTIONS = ["keep", "swap", "recompute", "leaves clean"] as const;

export enum TakenBy {
  alreadyThere,
  birth,
  copyIn,
  replay,
  workspace,
}

export const GAP_KINDS = ["between", "wrapping", "trailing"] as const;
export const STALLS = ["the host", "copies out", "copies in", "room"] as const;
export const PHASES: Record<string, string> = {
  F: "forward",
  B: "backward",
  U: "update",
  Z: "zero_grad",
  "?": "unknown phase",
};

export interface ProgramInfo {
  name: string;
  unmanaged: number;
  peak_demand: number;
  peak_load: number;
  peak_op: number;
  compute: number;
  measured_step: number;
}

export interface Ops {
  name: number[];
  phase: string;
  duration: number[];
  workspace: number[];
  demand: number[];
}

export interface Blocks {
  bytes: number[];
  kind: number[];
  birth: number[];
  death: number[];
  first: number[];
}

export interface Gaps {
  block: number[];
  from: number[];
  to: number[];
  kind: number[];
  idle: number[];
  peak: number[];
  swap: number[];
  recompute: number[];
}

export interface OpLane {
  op: number[];
  start: number[];
  end: number[];
  replays: number[];
}

export interface CopyLane {
  gap: number[];
  start: number[];
  end: number[];
}

export interface Stalls {
  cause: number[];
  op: number[];
  start: number[];
  end: number[];
}

export interface Timeline {
  compute: OpLane;
  out: CopyLane;
  in: CopyLane;
  stalls: Stalls;
}

export interface Residencies {
  block: number[];
  op: number[];
  by: number[];
  gap: number[];
  bytes: number[];
  offset: number[];
  begin: number[];
  end: number[];
}

export interface Measured {
  step: number;
  timeline: Timeline;
  iterations: {
    planned: number[];
    step: number[];
    out: number[];
    in: number[];
    replays: number[];
    peak: number[];
  };
}

// Evaluations so far; step times: best so far, mean and worst of the round (0: none keeps the limit).
export type Round = [evaluations: number, best: number, mean: number, worst: number];

export interface Step {
  title: string;
  planner: string;
  machine: string;
  limit: number;
  sentence: string;
  step: number;
  plain: number;
  bound: number | null;
  by_address: number;
  periodic: boolean;
  peak_demand: number;
  peak_load: number;
  footprint: number | null;
  within_limit: boolean;
  bytes_out: number;
  bytes_in: number;
  recompute: number;
  replays: number;
  host_peak: number;
  stall: number[];
  planning_seconds: number;
  evaluations: number;
  findings: [name: string, value: number, unit: string][];
  rounds: Round[];
  decisions: number[];
  timeline: Timeline;
  residencies: Residencies;
  load?: { time: number[]; bytes: number[] };
  measured: Measured | null;
}

export interface ComparedPlan {
  planner: string;
  reason?: string;
  step?: number;
  out?: number;
  in?: number;
  recompute?: number;
  planning_seconds?: number;
  evaluations?: number;
  rounds?: Round[];
}

export interface ComparedLimit {
  text: string;
  bytes: number;
  bound: number | null;
  plans: ComparedPlan[];
}

export interface Comparison {
  trace: string;
  machine: string;
  peak_demand: number;
  plain: number;
  limits: ComparedLimit[];
}

interface Raw {
  format: string;
  version: number;
  program: ProgramInfo | null;
  names?: string[];
  ops?: Ops;
  blocks?: Blocks;
  gaps?: Gaps;
  steps: Step[];
  comparisons: Comparison[];
}

/** What a step is made of, with the questions that several views ask. */
export class Program {
  constructor(
    readonly info: ProgramInfo,
    readonly names: string[],
    readonly ops: Ops,
    readonly blocks: Blocks,
    readonly gaps: Gaps,
  ) {}

  get opCount(): number {
    return this.ops.name.length;
  }

  /** Positions may be in the next iteration. */
  opName(op: number): string {
    if (op < 0) return "";
    return this.names[this.ops.name[op % this.opCount]] ?? "";
  }

  opText(op: number): string {
    return op < 0 ? "" : `op ${op % this.opCount} ${this.opName(op)}`;
  }

  phaseOf(op: number): string {
    return PHASES[this.ops.phase[op % this.opCount]] ?? PHASES["?"];
  }

  /** A block has no name of its own: it is known by its number and by who made or first used it. */
  blockText(block: number): string {
    const maker = this.blocks.birth[block] >= 0 ? this.blocks.birth[block] : this.blocks.first[block];
    return maker < 0 ? `block ${block}` : `block ${block} of ${this.opName(maker)}`;
  }

  residencyText(residencies: Residencies, i: number): string {
    return residencies.block[i] < 0
      ? `workspace of ${this.opName(residencies.op[i])}`
      : this.blockText(residencies.block[i]);
  }

  residencyKind(residencies: Residencies, i: number): number {
    return residencies.block[i] < 0 ? WORKSPACE : this.blocks.kind[residencies.block[i]];
  }
}

export interface Report {
  program: Program | null;
  steps: Step[];
  comparisons: Comparison[];
}

export function decode(text: string): Report {
  const raw = JSON.parse(text) as Raw;
  if (raw.format !== "ebb-report" || raw.version !== 1)
    throw new Error("this page holds no report that it can read");
  const program =
    raw.program && raw.names && raw.ops && raw.blocks && raw.gaps
      ? new Program(raw.program, raw.names, raw.ops, raw.blocks, raw.gaps)
      : null;
  return { program, steps: raw.steps, comparisons: raw.comparisons };
}
