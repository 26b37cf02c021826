// The pictures of the README, made again: node scripts/readme_shots.mjs --ebb build/bin/ebb --data data --out docs/images
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { launch, open } from "./chromium.mjs";

const { values } = parseArgs({
  options: { ebb: { type: "string" }, data: { type: "string" }, out: { type: "string" } },
});
const out = resolve(values.out);
const folder = mkdtempSync(join(tmpdir(), "ebb-readme-shots-"));

/** A picture of some sections of the page, one below the other, without the page's header. */
async function shoot(page, ids, name) {
  await page.addStyleTag({ content: "header, footer { display: none } section { border: 0 !important }" });
  await page.evaluate((shown) => {
    for (const section of document.querySelectorAll("section")) section.hidden = !shown.includes(section.id);
  }, ids);
  await page.evaluate(() => new Promise((done) => setTimeout(done, 300)));
  await page.locator("main").screenshot({ path: join(out, name) });
}

const browser = await launch();
try {
  const report = join(folder, "report.html");
  const trace = join(resolve(values.data), "resnet50.json.gz");
  execFileSync(values.ebb, ["report", trace, "--limit", "50%", "--machine", "h200", "-o", report], {
    stdio: "inherit",
  });
  const view = { viewport: { width: 1180, height: 900 } };
  for (const [ids, name] of [
    [["summary", "memory"], "report-memory.png"],
    [["arena", "streams"], "report-arena.png"],
  ]) {
    const { page, close } = await open(browser, report, view);
    await shoot(page, ids, name);
    await close();
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
