// A step small enough to know by heart: a weight, an activation that leaves and returns, a gradient, workspace.
//
//   ms          0      1      2      3      4
//   op          make   use    back   update
//   block 0     ------------------------------  weight, 100 bytes
//   block 1     --------      ~~ in ------      activation, 200 bytes, swapped
//   block 2                   ----------------  gradient, 50 bytes, freed 0.5 ms into the next iteration
import { decode, type Report } from "../src/data";

const MS = 1e6;

export function sampleText(name = "aten::conv2d"): string {
  return JSON.stringify({
    format: "ebb-report",
    version: 1,
    program: {
      name: "small",
      unmanaged: 10,
      peak_demand: 380,
      peak_load: 350,
      peak_op: 2,
      compute: 4 * MS,
      measured_step: 0,
    },
    names: [name, "aten::relu", "aten::add_"],
    ops: {
      name: [0, 1, 0, 2],
      phase: "FFBU",
      duration: [MS, MS, MS, MS],
      workspace: [0, 0, 20, 0],
      demand: [310, 310, 380, 160],
    },
    blocks: { bytes: [100, 200, 50], kind: [0, 3, 2], birth: [-1, 0, 2], death: [-1, 2, 0], first: [0, 0, 2] },
    gaps: {
      block: [1, 0],
      from: [1, 0],
      to: [2, 3],
      kind: [0, 1],
      idle: [0.4 * MS, 2 * MS],
      peak: [0, 1],
      swap: [0.3 * MS, MS],
      recompute: [MS, -1],
    },
    steps: [
      {
        title: "ebb",
        planner: "ebb",
        machine: "h200",
        limit: 370,
        sentence: "",
        step: 4 * MS,
        plain: 4 * MS,
        bound: 4 * MS,
        by_address: 0,
        periodic: true,
        peak_demand: 380,
        peak_load: 350,
        footprint: 360,
        within_limit: true,
        bytes_out: 200,
        bytes_in: 200,
        recompute: 0,
        replays: 0,
        host_peak: 200,
        stall: [0, 0, 0, 0],
        planning_seconds: 0,
        evaluations: 1,
        findings: [],
        rounds: [],
        decisions: [1, 0],
        timeline: {
          compute: {
            op: [0, 1, 2, 3],
            start: [0, MS, 2 * MS, 3 * MS],
            end: [MS, 2 * MS, 3 * MS, 4 * MS],
            replays: [],
          },
          out: { gap: [0], start: [MS], end: [1.3 * MS] },
          in: { gap: [0], start: [1.7 * MS], end: [2 * MS] },
          stalls: { cause: [], op: [], start: [], end: [] },
        },
        residencies: {
          block: [0, 1, 1, 2, -1],
          op: [-1, 0, -1, 2, 2],
          by: [0, 1, 2, 1, 4],
          gap: [-1, -1, 0, -1, -1],
          bytes: [100, 200, 200, 50, 20],
          offset: [0, 100, 100, 300, 350],
          begin: [0, 0, 1.7 * MS, 2 * MS, 2 * MS],
          end: [4 * MS, 1.3 * MS, 3 * MS, 4.5 * MS, 3 * MS],
        },
        measured: null,
      },
    ],
    comparisons: [
      {
        trace: "small",
        machine: "h200",
        peak_demand: 400,
        plain: 100,
        limits: [
          {
            text: "75%",
            bytes: 300,
            bound: 105,
            plans: [
              {
                planner: "ebb",
                step: 110,
                rounds: [
                  [1, 130, 130, 130],
                  [10, 110, 120, 130],
                ],
              },
              { planner: "keep", reason: "too small" },
            ],
          },
          {
            text: "50%",
            bytes: 200,
            bound: 120,
            plans: [
              { planner: "ebb", step: 125, rounds: [] },
              { planner: "keep", reason: "too small" },
            ],
          },
        ],
      },
    ],
  });
}

export function sample(): Report {
  return decode(sampleText());
}
