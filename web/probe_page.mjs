// Opens a report in a real Chromium and prints what a person would meet, as JSON.
//   node probe_page.mjs PAGE.html WIDTH light|dark [SCREENSHOT.png]
// CORELANE_CHROMIUM names the browser (default: /usr/bin/chromium).
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";
import { chromium } from "playwright-core";

const [page_file, width, scheme, screenshot] = process.argv.slice(2);

const browser = await chromium.launch({
  executablePath: process.env.CORELANE_CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"],
});
try {
  const context = await browser.newContext({
    viewport: { width: Number(width), height: 900 },
    colorScheme: scheme,
    deviceScaleFactor: Number(process.env.CORELANE_SCALE ?? 1),
  });
  const page = await context.newPage();
  const seen = { console: [], requests: [] };
  page.on("console", (message) => seen.console.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => seen.console.push(`error: ${error.message}`));
  page.on("request", (request) => {
    if (!request.url().startsWith("file:") && !request.url().startsWith("data:")) seen.requests.push(request.url());
  });
  await page.goto(pathToFileURL(resolve(page_file)).href);
  await page.waitForFunction(
    () => [...document.querySelectorAll(".chart")].every((chart) => chart.dataset.drawn === "yes"), null, { timeout: 20000 });
  if (screenshot) await page.screenshot({ path: screenshot, fullPage: true });
  Object.assign(seen, await page.evaluate(lookAround));
  process.stdout.write(JSON.stringify(seen, null, 1) + "\n");
} finally {
  await browser.close();
}

// Runs in the page.
function lookAround() {
  const too_wide = () =>
    [...document.querySelectorAll("body *")]
      .filter((element) => element.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
      .map((element) => `${element.tagName} ${element.className} ${element.textContent.slice(0, 40)}`);
  const charts = [...document.querySelectorAll(".chart")].map((chart) => ({
    id: chart.id,
    marks: chart.querySelectorAll(".mark-symbol path, .mark-rect path, .mark-line path").length,
    width: chart.querySelector("svg")?.getBoundingClientRect().width ?? 0,
    fills: [...new Set([...chart.querySelectorAll(".mark-symbol path, .mark-rect path")].map((mark) => getComputedStyle(mark).fill))],
  }));
  const table = document.querySelector("details table.sortable");
  table.closest("details").open = true;
  const column = [...table.querySelectorAll("th[data-column]")].find((heading) => heading.dataset.name.startsWith("Items/s"));
  const values = () => [...table.tBodies[0].rows].map((row) => Number(row.cells[column.dataset.column].dataset.sort));
  column.querySelector("button").click();
  const ascending = values();
  column.querySelector("button").click();
  return {
    answer: document.querySelector(".sentence").textContent,
    background: getComputedStyle(document.body).backgroundColor,
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    too_wide: too_wide(),
    charts,
    ascending,
    descending: values(),
    aria_sort: column.getAttribute("aria-sort"),
  };
}
