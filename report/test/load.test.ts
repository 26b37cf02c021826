import assert from "node:assert/strict";
import test from "node:test";
import { lastNotAbove, loadCurve, residentAt, sample as sampleCurve } from "../src/load";
import { sample } from "./sample";

const MS = 1e6;
const { program, steps } = sample();

test("what is resident adds up by kind, over the iteration's end too", () => {
  const curve = loadCurve(program!, steps[0]);
  const at = (time: number) => curve.byKind.map((levels) => levels[lastNotAbove(curve.time, time)]);
  //            weights optimizer gradients activations workspace unmanaged
  assert.deepEqual(at(0.2 * MS), [100, 0, 50, 200, 0, 10]);
  assert.deepEqual(at(0.7 * MS), [100, 0, 0, 200, 0, 10]);
  assert.deepEqual(at(1.5 * MS), [100, 0, 0, 0, 0, 10]);
  assert.deepEqual(at(2.5 * MS), [100, 0, 50, 200, 20, 10]);
  assert.deepEqual(at(3.5 * MS), [100, 0, 50, 0, 0, 10]);
  assert.equal(curve.total[curve.peak], 380);
  assert.equal(curve.time[curve.peak], 2 * MS);
});

test("a curve without residencies is the simulator's own", () => {
  const step = { ...steps[0], load: { time: [0, 5, 9], bytes: [20, 60, 30] } };
  const curve = loadCurve(program!, step);
  assert.deepEqual([...curve.total], [20, 60, 30]);
  assert.equal(curve.peak, 1);
});

test("a sample has every point if they are few, and the highest of each column if they are many", () => {
  const time = Float64Array.from({ length: 1000 }, (_, i) => i);
  const total = Float64Array.from({ length: 1000 }, (_, i) => (i === 777 ? 99 : i % 10));
  const curve = { time, total, byKind: [], peak: 777 };
  assert.deepEqual(sampleCurve(curve, 10.5, 14, 100), [10, 11, 12, 13, 14]);
  const coarse = sampleCurve(curve, 0, 1000, 20);
  assert.ok(coarse.length <= 21);
  assert.ok(coarse.includes(777));
  assert.ok(coarse.every((i, k) => k === 0 || i > coarse[k - 1]));
});

test("what is resident at a moment, largest first", () => {
  assert.deepEqual(residentAt(steps[0], 0.2 * MS, 9), [1, 0, 3]);
  assert.deepEqual(residentAt(steps[0], 1.5 * MS, 9), [0]);
  assert.deepEqual(residentAt(steps[0], 2.5 * MS, 2), [2, 0]);
});
