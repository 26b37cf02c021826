// Memory over time, by kind, from when things are resident.

import { type Program, type Step, UNMANAGED } from "./data";

export const LEVELS = 6; // the kinds and unmanaged bytes

/** A step function: from time[i] on, byKind[k][i] bytes of kind k; total[i] of all. */
export interface LoadCurve {
  time: Float64Array;
  byKind: Float64Array[];
  total: Float64Array;
  /** Where the most is resident. */
  peak: number;
}

interface Change {
  time: number;
  kind: number;
  bytes: number;
}

function changes(program: Program, step: Step): Change[] {
  const list: Change[] = [];
  const residencies = step.residencies;
  for (let i = 0; i < residencies.begin.length; ++i) {
    const kind = program.residencyKind(residencies, i);
    const bytes = residencies.bytes[i];
    const begin = residencies.begin[i];
    const end = residencies.end[i];
    if (end <= begin) continue;
    if (end > step.step) {
      list.push({ time: 0, kind, bytes }, { time: end - step.step, kind, bytes: -bytes });
      list.push({ time: begin, kind, bytes });
    } else {
      list.push({ time: begin, kind, bytes }, { time: end, kind, bytes: -bytes });
    }
  }
  // What goes at a time goes before what comes.
  return list.sort((a, b) => a.time - b.time || a.bytes - b.bytes);
}

function curveOf(points: number, fill: (at: number, levels: number[]) => number): LoadCurve {
  const time = new Float64Array(points);
  const total = new Float64Array(points);
  const byKind = Array.from({ length: LEVELS }, () => new Float64Array(points));
  const levels = new Array<number>(LEVELS).fill(0);
  let peak = 0;
  for (let i = 0; i < points; ++i) {
    time[i] = fill(i, levels);
    for (let k = 0; k < LEVELS; ++k) {
      byKind[k][i] = levels[k];
      total[i] += levels[k];
    }
    if (total[i] > total[peak]) peak = i;
  }
  return { time, byKind, total, peak };
}

export function loadCurve(program: Program, step: Step): LoadCurve {
  const unmanaged = program.info.unmanaged;
  if (step.load) {
    const load = step.load;
    return curveOf(load.time.length, (i, levels) => {
      levels[UNMANAGED] = unmanaged;
      levels[3] = load.bytes[i] - unmanaged;
      return load.time[i];
    });
  }
  const list = changes(program, step).filter((change) => change.time < step.step);
  const starts = list.map((_, i) => i).filter((i) => i === 0 || list[i].time !== list[i - 1].time);
  return curveOf(starts.length, (i, levels) => {
    levels[UNMANAGED] = unmanaged;
    const end = i + 1 < starts.length ? starts[i + 1] : list.length;
    for (let c = starts[i]; c < end; ++c) levels[list[c].kind] += list[c].bytes;
    return list[starts[i]].time;
  });
}

/** The last index whose value is not above `value`, or -1. */
export function lastNotAbove(sorted: ArrayLike<number>, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/**
 * Indices of the curve that stand for [begin, end): all of them if they are few, else one per column, the one
 * at which the most is resident, so that no peak is lost. The first is the value the range begins with.
 */
export function sample(curve: LoadCurve, begin: number, end: number, columns: number): number[] {
  const first = Math.max(0, lastNotAbove(curve.time, begin));
  const last = lastNotAbove(curve.time, end);
  const indices: number[] = [];
  if (last - first <= columns) {
    for (let i = first; i <= last; ++i) indices.push(i);
    return indices;
  }
  let column = -1;
  for (let i = first; i <= last; ++i) {
    const at = Math.floor(((Math.max(curve.time[i], begin) - begin) / (end - begin)) * columns);
    if (at !== column) {
      indices.push(i);
      column = at;
    } else if (curve.total[i] > curve.total[indices[indices.length - 1]]) {
      indices[indices.length - 1] = i;
    }
  }
  return indices;
}

/** The residencies that are there at a time, largest first. */
export function residentAt(step: Step, time: number, most: number): number[] {
  const { begin, end, bytes } = step.residencies;
  const found: number[] = [];
  for (let i = 0; i < begin.length; ++i)
    if ((begin[i] <= time && time < end[i]) || time + step.step < end[i]) found.push(i);
  return found.sort((a, b) => bytes[b] - bytes[a]).slice(0, most);
}

/** The item of the compute lane that runs at a time, or that ran last before it; -1 before the first. */
export function itemAt(step: Step, time: number): number {
  return lastNotAbove(step.timeline.compute.start, time);
}
