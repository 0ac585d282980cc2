// report_browser.mjs [PAGE…]: the speed of a report of a thousand cells in headless Chromium. Without a PAGE it makes one
// (tests/browser/documents.py). Prints the median and the longest time, in ms, from navigation to the first figure on
// the screen (five loads), and from the choice of a filter to the frame that shows it (ten filters).
import { join } from "node:path";
import { launch, open, pages } from "../tests/browser/browser.mjs";

const LOADS = 5;
const FILTERS = 10;

const sorted = (values) => [...values].sort((a, b) => a - b);
const median = (values) => sorted(values)[Math.floor(values.length / 2)];
const summary = (values) => `${median(values).toFixed(0)} ms, longest ${Math.max(...values).toFixed(0)} ms`;

// Waits until the figure was drawn and the next frame was shown.
const firstFigure = (page) =>
  page.evaluate(
    () =>
      new Promise((settle) => {
        const drawn = () => performance.getEntriesByType("mark").find((mark) => mark.name.startsWith("drawn")).startTime;
        const finish = () => settle([drawn(), performance.now()]);
        const look = () => requestAnimationFrame(document.querySelector("figure .plot svg") ? finish : look);
        look();
      }),
  );

// Chooses another level of a factor each time, while the latency figures are visible.
const filtered = (page, times) =>
  page.evaluate(async (times) => {
    document.getElementById("latency-by-size").scrollIntoView({ behavior: "instant" });
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
    const drawn = [];
    const shown = [];
    let taken = [];
    for (let load = 0; load < LOADS; load++) {
      const { page, close } = await open(browser, file);
      const [first, frame] = await firstFigure(page);
      drawn.push(first);
      shown.push(frame);
      if (load === LOADS - 1) taken = await filtered(page, FILTERS);
      await close();
    }
    console.log(file);
    console.log(`first figure drawn  ${summary(drawn)}`);
    console.log(`  and on the screen ${summary(shown)}`);
    console.log(`filter applied      ${summary(taken.map(([applied]) => applied))}`);
    console.log(`  and on the screen ${summary(taken.map(([, frame]) => frame))}`);
  }
} finally {
  await browser.close();
  made?.remove();
}
