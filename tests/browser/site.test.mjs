// `middlemark site` in a real browser, from a folder: the ranking with its chips and search, and every other page.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { installed, launch, open, python, root } from "./browser.mjs";

const AXE = readFileSync(installed.resolve("axe-core/axe.min.js"), "utf8");
const SIZES = [
  { width: 1280, height: 800, scheme: "light" },
  { width: 400, height: 800, scheme: "dark" },
];

let browser;
let folder;
let site;

const pages = () => readdirSync(site, { recursive: true }).filter((each) => /html$/.test(each) && !each.startsWith("report"));
const names = (page) => page.$$eval("#ranking th", (found) => found.map((each) => each.textContent));

const on = async (file, options, body) => {
  const opened = await open(browser, join(site, file), options);
  try {
    await body(opened.page);
    assert.deepEqual(opened.complaints, []);
    const own = String(pathToFileURL(site));
    assert.deepEqual(opened.requests.filter((each) => !each.startsWith(own)), []);
  } finally {
    await opened.close();
  }
};

describe("the site of published results in a browser", () => {
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "middlemark-site-"));
    site = join(folder, "site");
    const environment = { ...process.env, PYTHONPATH: [join(root, "src"), process.env.PYTHONPATH].filter(Boolean).join(":") };
    const options = { env: environment, stdio: ["ignore", "ignore", "inherit"] };
    execFileSync(python(), [join(root, "tests/browser/results.py"), join(folder, "results")], options);
    execFileSync(python(), ["-m", "middlemark", "site", join(folder, "results"), "-o", site], options);
    browser = await launch();
  });

  after(async () => {
    await browser?.close();
    if (folder) rmSync(folder, { recursive: true });
  });

  it("fits the window, and axe finds nothing, on every page", async () => {
    assert.ok(pages().length >= 8);
    for (const options of SIZES) {
      for (const file of pages()) {
        await on(file, options, async (page) => {
          assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), file);
          await page.evaluate(AXE);
          const { violations, passes } = await page.evaluate(() => window.axe.run());
          assert.ok(passes.some((each) => each.id === "color-contrast"));
          assert.deepEqual(violations.map((each) => `${file}: ${each.id}: ${each.nodes[0].html}`), []);
        });
      }
    }
  });

  it("ranks by the mean ratio to the best, and whoever lacks a question comes last", () =>
    on("index.html", {}, async (page) => {
      assert.deepEqual(await names(page), ["vega udp", "lyra udp", "deneb udp"]);
      assert.equal(await page.locator("#ranking tr").last().locator("td").last().textContent(), "2 of 4");
    }));

  it("ranks the chosen machine and size only, as the chips say", () =>
    on("index.html", { width: 400 }, async (page) => {
      const before = await page.locator("#ranking").innerText();
      const chip = page.getByRole("button", { name: "2 processors" });
      await chip.click();
      assert.equal(await chip.getAttribute("aria-pressed"), "true");
      assert.deepEqual(await names(page), ["lyra udp", "vega udp", "deneb udp"]);
      assert.equal(await page.locator("#ranking td").first().textContent(), "1.00");
      await page.getByRole("button", { name: "64 B" }).click();
      assert.deepEqual(await names(page), ["lyra udp", "vega udp"]);
      await page.getByRole("button", { name: "64 B" }).click();
      await chip.click();
      assert.equal(await page.locator("#ranking").innerText(), before); // the script computes what Python computed
    }));

  it("finds a middleware by its name", () =>
    on("index.html", {}, async (page) => {
      await page.getByLabel("Search").fill("den");
      assert.deepEqual(await names(page), ["deneb udp"]);
    }));

  it("leads to the page of a machine, and from there to its report", () =>
    on("index.html", {}, async (page) => {
      await page.getByRole("link", { name: /4 processors/ }).click();
      await page.getByRole("link", { name: "Report" }).first().click();
      await page.waitForSelector("#verdict, .verdict");
    }));

  it("shows which robots hold their deadlines", () =>
    on("robots.html", {}, async (page) => {
      assert.match(await page.locator("tbody tr").first().innerText(), /lyra udp[\s\S]*0\.3/);
      assert.match(await page.locator("tbody tr").last().innerText(), /vega udp[\s\S]*1\.2/);
    }));
});
