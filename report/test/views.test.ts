import assert from "node:assert/strict";
import test from "node:test";
import { convergence, overheadCurves } from "../src/compare";
import { decode } from "../src/data";
import { filterRows, rowsOf, sortRows } from "../src/decisions";
import * as format from "../src/format";
import { matcher } from "../src/search";
import { TimeWindow } from "../src/time_window";
import { sample, sampleText } from "./sample";

const { program, steps, comparisons } = sample();

test("quantities are short", () => {
  assert.equal(format.bytes(0), "0 B");
  assert.equal(format.bytes(1536), "1.50 KiB");
  assert.equal(format.bytes(22409117696), "20.9 GiB");
  assert.equal(format.bytes(1000 * 2 ** 20), "0.98 GiB");
  assert.equal(format.time(117300000), "117 ms");
  assert.equal(format.time(950), "950 ns");
  assert.equal(format.percent(0.066), "6.6 %");
});

test("ticks are round and lie in the range", () => {
  assert.deepEqual(format.ticks(0, 10, 5), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(
    format.byteTicks(0, 4 * 2 ** 30, 4),
    [0, 1, 2, 3, 4].map((gib) => gib * 2 ** 30),
  );
  assert.deepEqual(format.ticks(3, 3, 5), []);
});

test("names are text, whatever they look like", () => {
  const odd = "</script><script>alert(1)</script><!--";
  assert.equal(decode(sampleText(odd)).program!.opText(0), `op 0 ${odd}`);
  assert.throws(() => decode('{"format":"other","version":1}'), /no report/);
});

test("a decision's row says what it costs and what it saves", () => {
  const rows = rowsOf(program!, steps[0]);
  assert.equal(rows[0].block, "block 1 of aten::conv2d");
  assert.equal(rows[0].cost, 0.3e6);
  assert.ok(rows[0].saving > 0);
  assert.equal(rows[1].cost, 0);
  assert.equal(rows[1].saving, 0);
  assert.equal(rows[1].until, "op 3 aten::add_");
});

test("rows are sorted both ways and stay in place where they are equal", () => {
  const rows = rowsOf(program!, steps[0]);
  assert.deepEqual(
    sortRows(rows, "bytes", true).map((row) => row.bytes),
    [200, 100],
  );
  assert.deepEqual(
    sortRows(rows, "bytes", false).map((row) => row.bytes),
    [100, 200],
  );
  const same = rows.map((row) => ({ ...row, bytes: 7 }));
  assert.deepEqual(
    sortRows(same, "bytes", true).map((row) => row.gap),
    [0, 1],
  );
});

test("filters combine", () => {
  const rows = rowsOf(program!, steps[0]);
  const gaps = (filter: object) =>
    filterRows(rows, { text: "", decision: "all", peakOnly: false, ...filter }).map((row) => row.gap);
  assert.deepEqual(gaps({}), [0, 1]);
  assert.deepEqual(gaps({ decision: "moved" }), [0]);
  assert.deepEqual(gaps({ decision: "0" }), [1]);
  assert.deepEqual(gaps({ peakOnly: true }), [1]);
  assert.deepEqual(gaps({ text: "RELU" }), [0]);
  assert.deepEqual(gaps({ text: "relu", peakOnly: true }), []);
});

test("a search for a block is for that block", () => {
  assert.ok(matcher("block 1")("block 1 of aten::relu"));
  assert.ok(!matcher("block 1")("block 17 of aten::relu"));
  assert.ok(matcher("relu block")("block 17 of aten::relu"));
  assert.ok(matcher("(")("a("));
});

test("curves run from the smallest limit, with holes where there is no plan and the bound at the end", () => {
  const { shares, curves } = overheadCurves(comparisons[0]);
  assert.deepEqual(shares, [50, 75]);
  assert.deepEqual(
    curves.map((curve) => curve.planner),
    ["ebb", "keep", "bound"],
  );
  assert.deepEqual(
    curves[0].points.map((point) => Math.round(point!)),
    [25, 10],
  );
  assert.deepEqual(curves[1].points, [null, null]);
  assert.deepEqual(
    curves[2].points.map((point) => Math.round(point!)),
    [20, 5],
  );
});

test("a search's best only falls", () => {
  const { evaluations, curves } = convergence(comparisons[0], comparisons[0].limits[0]);
  assert.deepEqual(evaluations, [1, 10]);
  assert.deepEqual(
    curves[0].points.map((point) => Math.round(point!)),
    [30, 10],
  );
  assert.deepEqual(convergence(comparisons[0], comparisons[0].limits[1]).curves, []);
});

test("the window stays within the step", () => {
  const window = new TimeWindow(100);
  let told = 0;
  window.listen(() => ++told);
  window.zoom(0.5, 20);
  assert.deepEqual([window.begin, window.end], [10, 60]);
  window.pan(2);
  assert.deepEqual([window.begin, window.end], [50, 100]);
  window.zoom(10);
  assert.ok(window.isWhole);
  window.show(30, 30);
  assert.ok(window.end > window.begin);
  assert.ok(told > 0);
});
