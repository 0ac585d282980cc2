// Drives Debian's Chromium by playwright-core over the pages of documents.py.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const installed = createRequire(join(root, "build", "npm", "package.json"));

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/snap/bin/chromium"];

export function python() {
  const own = join(root, ".venv", "bin", "python");
  return process.env.MIDDLEMARK_PYTHON ?? (existsSync(own) ? own : "python3");
}

// Writes the named pages, or all pages. Returns their folder, and a function that removes the folder.
export function pages(...names) {
  const folder = mkdtempSync(join(tmpdir(), "middlemark-pages-"));
  const environment = { ...process.env, PYTHONPATH: join(root, "src") };
  const script = join(root, "tests", "browser", "documents.py");
  execFileSync(python(), [script, folder, ...names], { env: environment, stdio: ["ignore", "ignore", "inherit"] });
  return { folder, remove: () => rmSync(folder, { recursive: true }) };
}

export function launch() {
  const executablePath = process.env.MIDDLEMARK_CHROMIUM ?? CHROMIUM.find(existsSync);
  if (!executablePath) throw new Error("there is no Chromium: install the package chromium, or name one in MIDDLEMARK_CHROMIUM");
  const { chromium } = installed("playwright-core");
  // Chromium's sandbox does not work for root. It is not needed, because the tests only open Middlemark's own files.
  return chromium.launch({ executablePath, args: process.getuid() === 0 ? ["--no-sandbox"] : [] });
}

// Opens a file or an address in its own browser context; records its errors and requests.
export async function open(browser, file, { width = 1280, height = 800, scheme = "light", hash = "" } = {}) {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    acceptDownloads: true,
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  const complaints = [];
  const requests = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.stack));
  page.on("dialog", (dialog) => {
    complaints.push(`a dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => requests.push(request.url()));
  await page.goto(file.startsWith("http") ? file : `${pathToFileURL(file)}${hash}`);
  return { page, complaints, requests, close: () => context.close() };
}

// Makes the named pages and starts a browser for the tests of a `describe`. Returns a function that opens one of the
// pages for a test.
export function reports(...names) {
  let browser;
  let made;
  before(async () => {
    made = pages(...names);
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    made?.remove();
  });
  return async (name, options, body) => {
    const opened = await open(browser, join(made.folder, `${name}.html`), options);
    try {
      await body(opened);
    } finally {
      await opened.close();
    }
  };
}

// Returns axe-core's findings in the page, in words.
export async function violations(page) {
  await page.evaluate(readFileSync(installed.resolve("axe-core/axe.min.js"), "utf8"));
  const { violations, passes } = await page.evaluate(() => window.axe.run({ resultTypes: ["violations", "passes"] }));
  assert.ok(passes.some((each) => each.id === "color-contrast"));
  const code = (finding) => finding.nodes.map((node) => node.html).slice(0, 3);
  return violations.map((each) => `${each.id}: ${code(each).join(" ")}`);
}

// Opens a filter, ticks one level and closes it again.
export async function filter(page, factor, level) {
  const panel = page.locator("#filters details", { has: page.locator(`legend:text-is("${factor}")`) });
  await panel.locator("summary").click();
  await panel.getByLabel(level, { exact: true }).click();
  await page.keyboard.press("Escape");
}

// Opens "All figures" and scrolls to every figure, so that all of them are drawn.
export async function drawAll(page) {
  await page.evaluate(() => document.getElementById("all")?.setAttribute("open", ""));
  await page.mouse.move(0, 0); // figures that scroll past the pointer would show a tip
  for (const id of await ids(page)) {
    await page.locator(`[id="${id}"]`).scrollIntoViewIfNeeded();
    await page.waitForFunction((id) => {
      const figure = document.getElementById(id);
      return figure.matches(":not([data-stale])") && figure.querySelector(".plot").childElementCount > 0;
    }, id);
  }
  await page.evaluate(() => window.scrollTo(0, 0));
}

export const ids = (page) => page.$$eval("figure", (figures) => figures.map((each) => each.id));

// Returns the drawn figures, each with the elements that are neither axes nor grids.
export const marks = (page) =>
  page.$$eval("figure", (figures) =>
    Object.fromEntries(
      figures.map((each) => [
        each.id,
        [...each.querySelectorAll(".plot svg g[data-marks]")]
          .filter((group) => !/axis|grid|tip/.test(group.dataset.marks))
          .reduce((sum, group) => sum + group.querySelectorAll("path, circle, rect, line, text").length, 0),
      ]),
    ),
  );

// Returns each figure's picture, without the class name that Plot generates for its style.
export const pictures = (page) =>
  page.$$eval("figure", (figures) => {
    const picture = (figure) => figure.querySelector(".plot").innerHTML.replace(/plot-[0-9a-f]+/g, "");
    return Object.fromEntries(figures.map((figure) => [figure.id, picture(figure)]));
  });

// Waits until an element has the expected text: tables, and elements outside the screen, are drawn after the event.
export async function reads(place, pattern) {
  const until = Date.now() + 20_000;
  let text = await place.innerText();
  while (!pattern.test(text) && Date.now() < until) {
    await place.page().waitForTimeout(50);
    text = await place.innerText();
  }
  assert.match(text, pattern);
}
