// report_browser.mjs [PAGE…]: the speed of a report of a thousand cells in headless Chromium. Without a PAGE it makes
// one (tests/browser/documents.py). Prints the size of the page. Prints the median and the longest of these times in
// ms: from navigation to the first paint and to the first figure (five loads), and from the choice of a filter to the
// frame that shows it (ten filters). Aims: 2 MB and a first paint under 300 ms for a run of first-look.
import { statSync } from "node:fs";
import { join } from "node:path";
import { launch, open, pages } from "../tests/browser/browser.mjs";

const LOADS = 5;
const FILTERS = 10;

const sorted = (values) => [...values].sort((a, b) => a - b);
const median = (values) => sorted(values)[Math.floor(values.length / 2)];
const summary = (values) => `${median(values).toFixed(0)} ms, longest ${Math.max(...values).toFixed(0)} ms`;

// Waits until the first screen was painted and a figure below it was drawn.
const firstFigure = (page) =>
  page.evaluate(
    () =>
      new Promise((settle) => {
        const drawn = () => performance.getEntriesByType("mark").find((mark) => mark.name.startsWith("drawn")).startTime;
        const painted = () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime;
        const finish = () => settle([painted(), drawn()]);
        document.querySelector("#time, #cost, #decide")?.scrollIntoView({ behavior: "instant" });
        const look = () =>
          requestAnimationFrame(document.querySelector("figure .plot svg") && painted() ? finish : look);
        look();
      }),
  );

// Chooses a different level of a factor in each of `times` filters, while the latency figures are visible.
const filtered = (page, times) =>
  page.evaluate(async (times) => {
    document.getElementById("all").open = true;
    document.querySelector("#all figure").scrollIntoView({ behavior: "instant" });
    await new Promise((settle) => setTimeout(settle, 1500));
    const boxes = [...document.querySelectorAll("#filters input")];
    const taken = [];
    for (let choice = 0; choice < times; choice++) {
      const began = performance.now();
      boxes[(choice * 3) % boxes.length].click();
      const applied = performance.now() - began;
      await new Promise((settle) => requestAnimationFrame(() => setTimeout(settle)));
      taken.push([applied, performance.now() - began]);
    }
    return taken;
  }, times);

const browser = await launch();
const made = process.argv.length > 2 ? null : pages();
try {
  for (const file of made ? [join(made.folder, "large.html")] : process.argv.slice(2)) {
    const paints = [];
    const drawn = [];
    let taken = [];
    for (let load = 0; load < LOADS; load++) {
      const { page, close } = await open(browser, file);
      const [paint, figure] = await firstFigure(page);
      paints.push(paint);
      drawn.push(figure);
      if (load === LOADS - 1) taken = await filtered(page, FILTERS);
      await close();
    }
    console.log(`${file}: ${(statSync(file).size / 1e6).toFixed(2)} MB`);
    console.log(`first paint         ${summary(paints)}`);
    console.log(`first figure drawn  ${summary(drawn)}`);
    console.log(`filter applied      ${summary(taken.map(([applied]) => applied))}`);
    console.log(`  and on the screen ${summary(taken.map(([, frame]) => frame))}`);
  }
} finally {
  await browser.close();
  made?.remove();
}
