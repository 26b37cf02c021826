// Opens a report in headless Chromium and watches it: what it says on the console, and whether it asks for anything.
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

export const SKIPPED = 77;

export function findChromium() {
  const asked = process.env.EBB_CHROMIUM;
  const known = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
  return (asked ? [asked] : known).find((path) => existsSync(path));
}

export async function launch() {
  const executablePath = findChromium();
  if (!executablePath) {
    console.log("skipped: there is no Chromium (EBB_CHROMIUM says where one is)");
    process.exit(SKIPPED);
  }
  // Root cannot have the sandbox; the pages are our own.
  return chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
}

export async function open(browser, path, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1366, height: 768 }, ...options });
  const page = await context.newPage();
  const troubles = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) troubles.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => troubles.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    troubles.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    if (request.url() !== `file://${path}` && !request.url().startsWith("data:"))
      troubles.push(`request: ${request.url()}`);
  });
  // The main thread's own seconds: what is left of a figure on a machine that does other things too.
  const inspector = await context.newCDPSession(page);
  await inspector.send("Performance.enable", { timeDomain: "threadTicks" });
  const cpuSeconds = async () => {
    const { metrics } = await inspector.send("Performance.getMetrics");
    return metrics.find((metric) => metric.name === "TaskDuration").value;
  };
  await page.goto(`file://${path}`);
  await page.waitForSelector("html[data-ready]");
  return { page, troubles, cpuSeconds, close: () => context.close() };
}
