// How large reports are and how soon they are seen: gpt2 at 50 %, and a generated step of about 17,000 ops.
//   node bench/report/first_paint.mjs --ebb build/bin/ebb [--data data]
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { launch, open } from "../../report/scripts/chromium.mjs";

const RUNS = 3;
const { values } = parseArgs({ options: { ebb: { type: "string" }, data: { type: "string", default: "data" } } });
const ebb = (...args) => execFileSync(values.ebb, args, { encoding: "utf8" });
const folder = mkdtempSync(join(tmpdir(), "ebb-first-paint-"));
const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];

/** Milliseconds: to the first paint, of the main thread until every view is drawn, and of it for a zoom or pan. */
async function measure(browser, path) {
  const { page, troubles, cpuSeconds, close } = await open(browser, path);
  if (troubles.length > 0) throw new Error(troubles.join("\n"));
  const frame = () =>
    page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await frame();
  const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime);
  let before = await cpuSeconds();
  const open_cpu = 1000 * before;
  await page.locator("#arena canvas").focus();
  const moves = [];
  for (const key of ["+", "+", "ArrowRight", "ArrowRight", "-", "-"]) {
    await page.keyboard.press(key);
    await frame();
    const after = await cpuSeconds();
    moves.push(1000 * (after - before));
    before = after;
  }
  await close();
  return { paint, open: open_cpu, move: median(moves) };
}

const browser = await launch();
try {
  const deep = join(folder, "deep.json.gz");
  ebb("generate", "resnet", "--depth", "1960", "--batch", "8", "-o", deep);
  for (const [trace, most] of [
    [join(resolve(values.data), "gpt2.json.gz"), 5],
    [deep, 15],
  ]) {
    const page = join(folder, "report.html");
    const { ops, blocks } = JSON.parse(ebb("inspect", trace, "--json"));
    ebb("report", trace, "--limit", "50%", "--planners", "ebb", "--deadline", "10", "-o", page);
    const size = statSync(page).size / 1e6;
    const runs = [];
    for (let i = 0; i < RUNS; ++i) runs.push(await measure(browser, page));
    const of = (name) => `${median(runs.map((run) => run[name])).toFixed(0)} ms`;
    console.log(
      `${ops} ops, ${blocks} blocks: ${size.toFixed(2)} MB (at most ${most}), first paint ${of("paint")} (main thread ${of("open")} of CPU), a zoom or pan ${of("move")} of CPU`,
    );
    if (size > most) process.exitCode = 1;
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
