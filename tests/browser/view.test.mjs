// `middlemark view` in a real browser, over HTTP: the list of runs, one run's report, and two runs compared.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { drawAll, launch, open, python, reads, root, violations } from "./browser.mjs";

const HOSTILE = "<img src=x onerror=alert(1)>.log";

let browser;
let folder;
let server;
let address;

const environment = { ...process.env, PYTHONPATH: join(root, "src") };
const middlemark = (...words) => [python(), ["-m", "middlemark", ...words]];

// Imported logs and invented races are runs like any other, and need no worker.
function keepRuns() {
  folder = mkdtempSync(join(tmpdir(), "middlemark-view-"));
  const logs = join(root, "tests", "fixtures", "imports", "ddsperf");
  copyFileSync(join(logs, "ping.log"), join(folder, HOSTILE));
  for (const log of [join(folder, HOSTILE), join(logs, "sub.log"), join(logs, "flood-sub.log")]) {
    const [command, words] = middlemark("import", log, "--out", join(folder, "runs"));
    execFileSync(command, words, { env: environment, stdio: ["ignore", "ignore", "inherit"] });
  }
  execFileSync(python(), [join(root, "tests/browser/races.py"), join(folder, "runs")], { env: environment });
}

function serve() {
  const [command, words] = middlemark("view", join(folder, "runs"));
  server = spawn(command, words, { env: environment, stdio: ["ignore", "pipe", "inherit"] });
  return new Promise((resolve, reject) => {
    server.once("exit", (code) => reject(new Error(`it ended with ${code}`)));
    server.stdout.on("data", (text) => {
      const found = /http:\/\/127\.0\.0\.1:\d+\/\S+\//.exec(text);
      if (found) resolve(found[0]);
    });
  });
}

const on = async (options, body) => {
  const opened = await open(browser, address, options);
  try {
    await body(opened);
    assert.deepEqual(opened.complaints, []);
    assert.deepEqual(opened.requests.filter((each) => !each.startsWith(address) && !/^(blob|data):/.test(each)), []);
  } finally {
    await opened.close();
  }
};

describe("the stored runs in a browser", () => {
  before(async () => {
    keepRuns();
    address = await serve();
    browser = await launch();
  });

  after(async () => {
    await browser?.close();
    if (server && server.exitCode === null) {
      const ended = new Promise((resolve) => server.once("exit", resolve));
      server.kill("SIGINT");
      assert.equal(await ended, 0);
    }
    if (folder) rmSync(folder, { recursive: true });
  });

  it("are listed, and found by a search for words", () =>
    on({}, async ({ page }) => {
      assert.equal(await page.locator("tbody tr").count(), 5);
      await page.getByLabel("Search").fill("no such words");
      await page.keyboard.press("Enter");
      await page.getByText("No run with these words").waitFor();
      await page.getByLabel("Search").fill("imported");
      await page.getByRole("button", { name: "Search" }).click();
      await page.getByText("3 of 5 runs").waitFor();
    }));

  it("each have a report with drawn figures", () =>
    on({}, async ({ page }) => {
      for (let place = 0; place < 5; place += 1) {
        await page.locator("tbody a").nth(place).click();
        await page.waitForSelector("h1");
        await drawAll(page);
        assert.ok((await page.locator("figure .plot svg").count()) > 0);
        await page.goto(address);
      }
    }));

  it("each have a verdict in the list", () =>
    on({}, async ({ page }) => {
      const verdict = /^(only candidate: .* (takes|receives)|significant: lyra shm is lowest,) .*\.$/;
      for (const each of await page.locator("td.verdict").all()) await reads(each, verdict);
    }));

  it("are listed below the changes between the last two runs of a suite", () =>
    on({}, async ({ page }) => {
      await reads(page.locator(".changes li"), /^ping-twice: \d of \d configurations changed: lyra shm.* slower \(\+[\d.]+ %\)/);
      await page.getByRole("link", { name: /^Compare/ }).first().click();
      await reads(page.locator("h1"), /^What changed from monday to tuesday\?$/);
    }));

  it("are compared if two are ticked, the older run first", () =>
    on({}, async ({ page }) => {
      const compare = page.getByRole("button", { name: "Compare the two" });
      const boxes = page.getByRole("checkbox");
      assert.equal(await compare.isDisabled(), true);
      await boxes.nth(0).check();
      assert.equal(await compare.isDisabled(), true);
      await boxes.nth(1).check();
      assert.equal(await boxes.nth(2).isDisabled(), true); // a third cannot be ticked
      await compare.click();
      await page.waitForSelector("h1");
      const data = JSON.parse(await page.locator("#data").textContent());
      assert.equal(data.runs.length, 2);
      assert.ok(data.runs[0].started <= data.runs[1].started);
    }));

  it("are not compared if only one is ticked, and the page asks for two", async () => {
    const answer = await fetch(`${address}compare?run=x`);
    assert.equal(answer.status, 400);
    assert.match(await answer.text(), /Tick two runs/);
  });

  it("can be reached with the keyboard alone", () =>
    on({}, async ({ page }) => {
      const seen = new Set();
      for (let press = 0; press < 14; press += 1) {
        await page.keyboard.press("Tab");
        seen.add(await page.evaluate(() => `${document.activeElement.tagName} ${document.activeElement.name ?? ""}`.trim()));
      }
      for (const each of ["INPUT q", "INPUT run", "A", "BUTTON"]) assert.ok(seen.has(each), `${each} of ${[...seen]}`);
    }));

  for (const kind of ["png", "svg"]) {
    it(`have a picture of 1200 × 630 by \`report --picture\`, as ${kind}`, () => {
      const file = join(folder, `answer.${kind}`);
      const [command, words] = middlemark("report", join(folder, "runs", "tuesday"), "--picture", file);
      execFileSync(command, words, { env: environment, stdio: ["ignore", "ignore", "inherit"] });
      const made = readFileSync(file);
      if (kind === "png") assert.deepEqual([made.readUInt32BE(16), made.readUInt32BE(20)], [1200, 630]);
      else assert.match(made.toString(), /^<svg [^>]*width="1200" height="630".*>Which middleware for 1 KiB messages/s);
    });
  }

  for (const scheme of ["light", "dark"]) {
    it(`have a list in which axe-core finds nothing: ${scheme}`, () =>
      on({ scheme, width: 400 }, async ({ page }) => assert.deepEqual(await violations(page), [])));
  }
});
