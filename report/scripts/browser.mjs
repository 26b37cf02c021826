// Makes reports with the tool, opens them in headless Chromium and does what people do with them.
//   node scripts/browser.mjs --ebb build/bin/ebb --data data --shots build/report-shots
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";
import { launch, open } from "./chromium.mjs";

const { values } = parseArgs({
  options: { ebb: { type: "string" }, data: { type: "string" }, shots: { type: "string" } },
});
const shots = resolve(values.shots);
const data = resolve(values.data);
mkdirSync(shots, { recursive: true });
const ebb = (...args) => execFileSync(values.ebb, args, { encoding: "utf8" });

const HOSTILE = `</script><script>window.pwned=1</script><!--<img src=x onerror="window.pwned=2">'"&`;

async function text(page, selector) {
  return (await page.locator(selector).first().textContent())?.trim() ?? "";
}

/** How many different colours a canvas has: more than a few means that something is drawn. */
async function colours(page, selector) {
  return page
    .locator(selector)
    .first()
    .evaluate((canvas) => {
      const copy = document.createElement("canvas");
      [copy.width, copy.height] = [canvas.width, canvas.height];
      const context = copy.getContext("2d", { willReadFrequently: true });
      context.drawImage(canvas, 0, 0);
      const { data } = context.getImageData(0, 0, copy.width, copy.height);
      const seen = new Set();
      for (let i = 0; i < data.length; i += 4 * 37)
        seen.add((data[i] << 24) | (data[i + 1] << 16) | (data[i + 2] << 8) | data[i + 3]);
      return seen.size;
    });
}

async function middleOf(page, selector) {
  const element = page.locator(selector).first();
  await element.scrollIntoViewIfNeeded();
  const box = await element.boundingBox();
  return { box, at: (x, y) => [box.x + x * box.width, box.y + y * box.height] };
}

async function frame(page) {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

async function shoot(page, name, selector) {
  const path = join(shots, `${name}.png`);
  if (selector) await page.locator(selector).screenshot({ path });
  else await page.screenshot({ path });
}

const tests = {
  async "every view renders"({ page }) {
    for (const id of ["summary", "memory", "arena", "streams", "decisions", "compare"]) {
      await page.locator(`nav a[href="#${id}"]`).click();
      assert.ok(await page.locator(`#${id} h2`).isVisible(), id);
      await frame(page);
      await shoot(page, `view-${id}`, `#${id}`);
    }
    for (const chart of [
      "#memory canvas",
      "#arena canvas",
      "#streams canvas",
      "#compare-tradeoff canvas",
      "#compare-search canvas",
    ])
      assert.ok((await colours(page, chart)) > 4, `${chart} is empty`);
    assert.ok((await page.locator("#decisions tbody tr:not(.spacer)").count()) > 5);
    assert.match(await text(page, "#summary .sentence"), /limits this step|never|slow/);
  },

  async "hovering over memory names the op and the largest blocks"({ page }) {
    const { at } = await middleOf(page, "#memory .u-over");
    await page.mouse.move(...at(0.5, 0.6));
    await frame(page);
    const told = await text(page, ".tooltip");
    assert.match(told, /op \d+ \S+/);
    assert.match(told, /activations/);
    assert.match(told, /largest:.*block \d+/s);
    await shoot(page, "hover-memory");
    await page.mouse.move(5, 5);
    await frame(page);
    assert.ok(await page.locator(".tooltip").isHidden());
  },

  async "hovering over the arena names a block, over a stream an op"({ page }) {
    const arena = await middleOf(page, "#arena canvas");
    await page.mouse.move(...arena.at(0.5, 0.8));
    await frame(page);
    assert.match(await text(page, ".tooltip"), /(block \d+|workspace) .*address/s);
    const streams = await middleOf(page, "#streams canvas");
    await page.mouse.move(...streams.at(0.5, 0.12));
    await frame(page);
    assert.match(await text(page, ".tooltip"), /phase/);
    await page.mouse.move(5, 5);
  },

  async "dragging zooms all charts together, keys pan, a double click shows all"({ page }) {
    assert.match(await text(page, "#window"), /whole step/);
    const { at } = await middleOf(page, "#memory .u-over");
    await page.mouse.move(...at(0.3, 0.5));
    await page.mouse.down();
    await page.mouse.move(...at(0.6, 0.5), { steps: 4 });
    await page.mouse.up();
    const zoomed = await text(page, "#window");
    assert.doesNotMatch(zoomed, /whole step/);
    await frame(page);
    await shoot(page, "zoomed-memory", "#memory");
    await page.locator("#arena canvas").focus();
    await page.keyboard.press("ArrowRight");
    const panned = await text(page, "#window");
    assert.notEqual(panned, zoomed);
    await page.keyboard.press("+");
    assert.notEqual(await text(page, "#window"), panned);
    const arena = await middleOf(page, "#arena canvas");
    await page.mouse.move(...arena.at(0.4, 0.4));
    await page.mouse.down();
    await page.mouse.move(...arena.at(0.6, 0.7), { steps: 4 });
    await page.mouse.up();
    await frame(page);
    await shoot(page, "zoomed-arena", "#arena");
    await page.mouse.dblclick(...arena.at(0.5, 0.5));
    assert.match(await text(page, "#window"), /whole step/);
    await page.mouse.move(5, 5);
  },

  async "a wheel with Ctrl zooms around the pointer, without it scrolls the page"({ page }) {
    const { at } = await middleOf(page, "#arena canvas");
    await page.mouse.move(...at(0.5, 0.5));
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -240);
    await page.keyboard.up("Control");
    await frame(page);
    assert.doesNotMatch(await text(page, "#window"), /whole step/);
    await page.keyboard.press("Tab");
    await page.locator("#arena button", { hasText: "show all" }).click();
    assert.match(await text(page, "#window"), /whole step/);
    await page.mouse.move(5, 5);
  },

  async "a search in the arena finds blocks by op"({ page }) {
    await page.locator("#arena-search").fill("no such op");
    assert.equal(await text(page, "#arena .found"), "nothing");
    await page.locator("#arena-search").fill("native_layer_norm");
    assert.match(await text(page, "#arena .found"), /^[\d ]+, .*together$/);
    await page.locator("#arena-colour").selectOption("decision");
    await frame(page);
    assert.ok((await colours(page, "#arena canvas")) > 4);
    await shoot(page, "found-arena", "#arena");
    await page.locator("#arena-colour").selectOption("kind");
    await page.locator("#arena-search").fill("");
    assert.equal(await text(page, "#arena .found"), "");
  },

  async "decisions sort both ways, filter, and lead to the arena"({ page }) {
    const sizes = async () => {
      await frame(page);
      const cells = await page.locator("#decisions tbody tr:not(.spacer) td:nth-child(2)").allTextContents();
      const unit = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };
      return cells.map((cell) => Number(cell.split(" ")[0]) * unit[cell.split(" ")[1]]);
    };
    const header = page.locator("#decisions th button", { hasText: "size" });
    await header.click();
    const down = await sizes();
    assert.deepEqual(
      down,
      [...down].sort((a, b) => b - a),
    );
    assert.equal(await page.locator("#decisions th").nth(1).getAttribute("aria-sort"), "descending");
    await header.click();
    const up = await sizes();
    assert.deepEqual(
      up,
      [...up].sort((a, b) => a - b),
    );
    assert.ok(down[0] > up[0]);
    const before = await text(page, "#decisions .found");
    await page.locator("#decisions-action").selectOption("all");
    assert.notEqual(await text(page, "#decisions .found"), before);
    await page.locator("#decisions-search").fill("addmm");
    await frame(page);
    for (const row of await page.locator("#decisions tbody tr:not(.spacer)").allTextContents())
      assert.match(row, /addmm/);
    await shoot(page, "filtered-decisions", "#decisions");
    await page.locator("#decisions tbody button.link").first().click();
    assert.match(await page.locator("#arena-search").inputValue(), /^block \d+$/);
    assert.match(await text(page, "#arena .found"), /together/);
    await page.locator("#arena-search").fill("");
    await page.locator("#decisions-search").fill("");
  },

  async "thousands of rows scroll"({ page }) {
    const scroller = page.locator("#decisions .scroller");
    await page.locator("#decisions-action").selectOption("all");
    await scroller.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await frame(page);
    const last = await page.locator("#decisions tbody tr:not(.spacer)").last().getAttribute("aria-rowindex");
    assert.equal(last, await page.locator("#decisions table").getAttribute("aria-rowcount"));
  },

  async "another plan changes every view"({ page }) {
    const before = await text(page, "#summary .sentence");
    const label = await page.locator("#memory .plot").getAttribute("aria-label");
    const options = await page.locator("#plan option").allTextContents();
    assert.deepEqual(options, ["without a limit", "ebb", "dtr", "home"]);
    await page.locator("#plan").selectOption({ label: "dtr" });
    assert.match(await text(page, "#summary .cards"), /plannerdtr/);
    assert.notEqual(await text(page, "#summary .sentence"), before);
    assert.notEqual(await page.locator("#memory .plot").getAttribute("aria-label"), label);
    await page.locator("#plan").selectOption({ label: "without a limit" });
    assert.doesNotMatch(await text(page, "#summary .cards"), /planner/);
    await page.locator("#compare table button.link", { hasText: "ebb" }).click();
    assert.equal(await page.locator("#plan").inputValue(), "1");
  },

  async "planners are chosen in the comparison"({ page }) {
    const names = () => page.locator("#compare-tradeoff .u-legend .u-label").allTextContents();
    assert.ok((await names()).includes("dtr"));
    await page.locator('#compare-planners input[value="dtr"]').uncheck();
    assert.ok(!(await names()).includes("dtr"));
    assert.ok((await names()).includes("bound"));
    await page.locator('#compare-planners input[value="dtr"]').check();
    assert.ok((await names()).includes("dtr"));
  },

  async "light and dark, by choice and by the system"({ page }) {
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await paper();
    await page.locator("#theme").selectOption("dark");
    await frame(page);
    const dark = await paper();
    assert.notEqual(light, dark);
    await page.locator('nav a[href="#memory"]').click();
    await frame(page);
    await shoot(page, "dark");
    await page.locator("#theme").selectOption("auto");
    assert.equal(await paper(), light);
    await page.emulateMedia({ colorScheme: "dark" });
    assert.equal(await paper(), dark);
    await page.emulateMedia({ colorScheme: "light" });
  },

  async "everything can be reached by the keyboard"({ page }) {
    await page.locator("header a").first().focus();
    const reached = new Set();
    for (let i = 0; i < 80; ++i) {
      await page.keyboard.press("Tab");
      reached.add(await page.evaluate(() => document.activeElement?.closest("section, header")?.id ?? ""));
    }
    for (const id of ["memory", "arena", "streams", "decisions", "compare"]) assert.ok(reached.has(id), id);
    await page.locator("#decisions .scroller").focus();
    for (const key of ["ArrowDown", "ArrowDown", "Enter"]) await page.keyboard.press(key);
    assert.match(await page.locator("#arena-search").inputValue(), /^block \d+$/);
    await page.locator("#arena-search").fill("");
  },

  async "it prints"({ page }) {
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    await page.pdf({ path: join(shots, "printed.pdf"), format: "A4", landscape: true, printBackground: true });
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  },
};

/** A trace whose op names are markup. */
function hostileTrace() {
  const trace = gunzipSync(readFileSync(join(data, "vgg16.json.gz"))).toString("utf8");
  const hostile = trace.replaceAll('"aten::convolution"', JSON.stringify(HOSTILE));
  assert.notEqual(hostile, trace);
  const path = join(shots, "hostile.json");
  writeFileSync(path, hostile);
  return path;
}

async function checkHostile(browser) {
  const report = join(shots, "hostile.html");
  ebb("report", hostileTrace(), "--limit", "60%", "--planners", "dtr", "-o", report);
  const { page, troubles, close } = await open(browser, report);
  await page.locator("#arena-search").fill("script");
  assert.match(await text(page, "#arena .found"), /together/);
  await page.locator("#decisions-action").selectOption("all");
  await frame(page);
  assert.ok((await text(page, "#decisions tbody")).includes(HOSTILE));
  const { at } = await middleOf(page, "#memory .u-over");
  for (let x = 0.05; x < 1; x += 0.05) await page.mouse.move(...at(x, 0.5));
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.deepEqual(troubles, []);
  await close();
}

async function checkComparison(browser) {
  const report = join(shots, "compare.html");
  ebb(
    "compare",
    join(data, "vgg16.json.gz"),
    "--limits",
    "80%,60%,50%",
    "--planners",
    "ondemand,dtr,capuchin",
    "--html",
    report,
  );
  const { page, troubles, close } = await open(browser, report);
  assert.equal(await page.locator("section").count(), 1);
  assert.ok((await colours(page, "#compare-tradeoff canvas")) > 4);
  await shoot(page, "compare");
  assert.deepEqual(troubles, []);
  await close();
}

const browser = await launch();
let failed = 0;
const attempt = async (name, body) => {
  try {
    await body();
    console.log(`ok      ${name}`);
  } catch (error) {
    ++failed;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
};
try {
  const report = join(shots, "gpt2.html");
  ebb(
    "report",
    join(data, "gpt2.json.gz"),
    "--limit",
    "50%",
    "--compare",
    "75%,60%",
    "--planners",
    "ebb,dtr,home",
    "--evaluations",
    "60",
    "-o",
    report,
  );
  const opened = await open(browser, report);
  for (const [name, body] of Object.entries(tests)) await attempt(name, () => body(opened));
  await attempt("nothing is said on the console and nothing is asked for", () =>
    assert.deepEqual(opened.troubles, []),
  );
  await opened.close();
  await attempt("names that are markup stay text", () => checkHostile(browser));
  await attempt("ebb compare --html shows the comparison alone", () => checkComparison(browser));
} finally {
  await browser.close();
}
process.exitCode = failed === 0 ? 0 : 1;
