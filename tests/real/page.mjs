// Opens pages of `rocshim report` in a headless Chromium and prints, as JSON, what it finds:
// console output, network requests, the tables of the document, the effect of the controls, axe's
// findings, widths, the print layout.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, profile, executablePath, ...pages] = process.argv.slice(2);
const require = createRequire(import.meta.url);
const { chromium } = require(join(modules, "playwright-core"));
const axe = readFileSync(join(modules, "axe-core", "axe.min.js"), "utf8");

const args =
  "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync".split(" ");
const context = await chromium.launchPersistentContext(profile, { executablePath, headless: true, args });
const blocked = [];
await context.route(/^(?!file:|data:)/, (route) => {
  blocked.push(route.request().url());
  return route.abort();
});

const ready = (page) => page.waitForSelector("html[data-ready=yes]", { timeout: 120_000 });

// Every table as rows of the cells' sort keys.
const tables = (page) =>
  page.evaluate(() => {
    const all = {};
    for (const table of document.querySelectorAll("table[data-table]")) {
      const keys = [...table.querySelectorAll("th")].map((head) => head.dataset.key);
      const run = table.closest("[id^=run]") ? table.closest(".grid").id.split("-")[0] + " " : "";
      all[run + table.dataset.table] = [...table.tBodies[0].rows].map((row) =>
        Object.fromEntries([...row.cells].map((cell, at) => [keys[at], cell.dataset.v ?? cell.textContent])),
      );
    }
    return all;
  });

const violations = (page) =>
  page.evaluate(async () => {
    const found = await axe.run(document, { resultTypes: ["violations"] });
    return found.violations.map((one) => ({ impact: one.impact, id: one.id, nodes: one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200)) }));
  });

// The contents of each figure: shapes and texts.
const figures = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll(".plot")].map((plot) => ({
      id: plot.dataset.figure,
      marks: plot.querySelectorAll(".point, .shapelayer path, .hm image").length,
      texts: [...plot.querySelectorAll("text")].map((text) => text.textContent),
      name: document.getElementById(plot.parentElement.getAttribute("aria-labelledby")).textContent,
      words: document.getElementById(plot.parentElement.getAttribute("aria-describedby")).textContent,
      data: plot.closest("figure").querySelectorAll("details.data tbody tr").length,
    })),
  );

const ground = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
// Of the first run's timeline.
const range = (page) => page.evaluate(() => document.querySelector('[data-figure$="timeline-figure"]')._fullLayout.xaxis.range.map(Number));
const column = (page, table, key) =>
  page.evaluate(
    ([table, key]) => {
      const body = document.querySelector(`table[data-table="${table}"]`);
      const at = [...body.querySelectorAll("th")].findIndex((head) => head.dataset.key === key);
      return [...body.tBodies[0].rows].filter((row) => !row.hidden).map((row) => row.cells[at].dataset.v ?? row.cells[at].textContent);
    },
    [table, key],
  );

// The effect of a page's controls.
async function controls(page) {
  const found = {};
  const head = page.locator('table[data-table="kernels"] th[data-key="launches"] button').first();
  await head.click();
  found.down = await column(page, "kernels", "launches");
  await head.click();
  found.up = await column(page, "kernels", "launches");
  found.sorted = await page.locator('table[data-table="kernels"] th[data-key="launches"]').first().getAttribute("aria-sort");
  const filter = page.locator('.grid:has(table[data-table="kernels"]) input').first();
  await filter.fill("mul_mat");
  found.filtered = await column(page, "kernels", "name");
  found.rows_shown = await page.locator('.grid:has(table[data-table="kernels"]) .shown').first().textContent();
  await filter.fill("");
  const details = page.locator('table[data-table="kernels"] details').first();
  const hidden = await details.locator("p").first().isVisible();
  await details.locator("summary").click();
  found.details = [hidden, await details.locator("p").first().isVisible()];
  const whole = await range(page);
  await page.getByRole("button", { name: "Zoom in" }).first().click();
  const near = await range(page);
  await page.getByRole("button", { name: "Later" }).first().click();
  const later = await range(page);
  await page.getByRole("button", { name: "Whole run" }).first().click();
  found.zoom = { whole, near, later, again: await range(page) };
  const colours = () =>
    page.evaluate(() => [...document.querySelectorAll('[data-figure="gemm_map-figure"] .legendtext')].map((text) => text.textContent));
  if (await page.locator('[data-figure="gemm_map-figure"]').count()) {
    const before = await colours();
    await page.locator('#gemm_map-figure button[data-view]', { hasText: "Function" }).click();
    found.colours = [before, await colours()];
  }
  const light = await ground(page);
  await page.locator("#theme").click();
  found.theme = [light, await ground(page)];
  found.darkAxe = await violations(page);
  await page.locator("#theme").click();
  found.theme.push(await ground(page));
  return found;
}

// The sections, and whether each has its heading in print.
const printed = async (page) => {
  await page.emulateMedia({ media: "print" });
  const sections = await page.evaluate(() =>
    [...document.querySelectorAll("section")].map((section) => {
      const box = section.getBoundingClientRect();
      return [section.id, box.height > 20 && getComputedStyle(section).display !== "none"];
    }),
  );
  const pdf = await page.pdf({ format: "A4" });
  await page.emulateMedia({ media: "screen" });
  return { sections, bytes: pdf.length, nav: await page.evaluate(() => matchMedia("print").matches) };
};

const all = [];
for (const file of pages) {
  const page = await context.newPage();
  const found = { console: [] };
  page.on("console", (message) => found.console.push(message.type() + ": " + message.text()));
  page.on("pageerror", (error) => found.console.push("error: " + error.message));
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.emulateMedia({ colorScheme: "light" });
  await page.goto(pathToFileURL(file).href);
  await ready(page);
  // axe is injected through the debugger, which the page's policy does not block.
  await page.evaluate(axe + ";undefined");
  found.tables = await tables(page);
  found.figures = await figures(page);
  found.lightAxe = await violations(page);
  found.controls = await controls(page);
  found.ran = await page.evaluate(() => {
    // What the policy must block: a script and a request made by the page.
    const script = document.createElement("script");
    script.textContent = "window.injected = true";
    document.body.append(script);
    return window.injected === true;
  });
  found.print = await printed(page);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.waitForTimeout(300);
  found.overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  all.push(found);
  await page.close();
}
await context.close();
process.stdout.write(JSON.stringify({ pages: all, requests: blocked }));
