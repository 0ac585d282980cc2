// The first screen of each kind of report: the question, the answer, the matrix, the picture.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { drawAll, ids, reads, reports, violations } from "./browser.mjs";

describe("the first screen of a report", { concurrency: 2 }, () => {
  const kinds = ["race", "tie", "security", "links", "imported", "single"];
  const on = reports(...kinds, "small", "two", "failed", "empty", "first", "handing");

  const first = ["h1", "#winner .name", "#winner .figure", "#verdict", ".bars tbody tr:last-child"];
  for (const [width, height, places] of [
    [1280, 800, [...first, "#wins tbody", "#actions"]],
    [400, 860, first],
  ]) {
    it(`answers on its first screen, ${width} pixels wide`, () =>
      on("first", { width, height }, async ({ page }) => {
        for (const place of places) {
          const box = await page.locator(place).first().boundingBox();
          assert.ok(box.y >= 0 && box.y + box.height <= height, `${place} ends at ${box.y + box.height}`);
        }
        await reads(page.locator("h1"), /^Which middleware for 16.B to 64.KiB round trips\?$/);
        await reads(page.locator("#winner .name"), /^lyra shm$/);
        await reads(page.locator("#winner .figure"), /^8\.\d\d µs round trip\s+·\s+1\.\d\d × baseline$/);
        await reads(
          page.locator("#verdict"),
          /^significant The other 2 are slower\. deneb udp, the next, takes \d+ % longer\.$/,
        );
      }));
  }

  // For each kind of first screen: the question, the headline, the verdict's symbol with its sentence, and the
  // standings of its bars.
  const screens = {
    race: [
      "Which middleware for 1 KiB messages at 1 kHz between two processes?",
      "lyra shm",
      /^significant Sure: vega shm, the next, takes 6\d % longer \(\d+ rounds\)\.$/,
      ["best", "significantly slower", /^eliminated after \d rounds$/, /^eliminated after \d rounds$/],
    ],
    tie: [
      "Which middleware for 64 B round trips between two processes?",
      "lyra udp and vega udp tie",
      /^tie A tie with vega udp, within 5 %; the other is slower\.$/,
      ["equivalent", "within 5 %", "significantly slower"],
    ],
    security: [
      "What does security cost for 64 B round trips between two processes?",
      "lyra udp",
      /^significant The other is slower\. vega udp, the next, takes 35 % longer\.$/,
      ["best", "significantly slower"],
    ],
    links: [
      "Which middleware for 64 B messages at 100 Hz between two processes over 3 links?",
      "lyra udp",
      /^significant The other is slower\./,
      ["best", "significantly slower"],
    ],
    imported: [
      "How fast is cyclonedds (ddsperf), measured by ddsperf?",
      "cyclonedds (ddsperf)",
      /^only candidate No other candidate was measured\.$/,
      ["only"],
    ],
    single: [
      "How fast is lyra udp for 64 B round trips between two processes?",
      "lyra udp",
      /^only candidate No other candidate was measured\.$/,
      ["only"],
    ],
  };

  for (const [name, [question, headline, verdict, standings]] of Object.entries(screens)) {
    it(`begins with the question and the answer: ${name}`, () =>
      on(name, {}, async ({ page, complaints }) => {
        assert.equal((await page.locator("h1").innerText()).replaceAll("\u00a0", " "), question);
        await reads(page.locator("#winner .name"), new RegExp(`^${headline.replace(/[()]/g, "\\$&")}$`));
        await reads(page.locator("#verdict"), verdict);
        const texts = await page.locator(".bars td.standing").allInnerTexts();
        assert.equal(texts.length, standings.length);
        standings.forEach((each, at) => assert.match(texts[at], each instanceof RegExp ? each : new RegExp(`^${each}$`)));
        assert.equal(await page.locator(".bars .bar").count(), standings.length);
        assert.deepEqual(complaints, []);
      }));
    it(`fits into 360 pixels, and axe-core finds nothing on the first screen: ${name}`, () =>
      on(name, { width: 360, scheme: "dark" }, async ({ page }) => {
        await page.locator(".bars tbody tr").first().waitFor();
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
        assert.deepEqual(await violations(page), []);
      }));
  }

  it("draws the baseline as a line through every bar, on the same scale", () =>
    on("tie", {}, async ({ page }) => {
      await reads(page.locator("#bars .line"), /baseline: udp 15\.0 µs$/);
      const widths = await page
        .locator(".bars .bar")
        .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().width));
      const line = await page
        .locator(".track")
        .first()
        .evaluate((track) => {
          return parseFloat(getComputedStyle(track, "::after").left) - parseFloat(getComputedStyle(track).paddingLeft);
        });
      assert.ok(Math.abs(widths[0] / line - 20 / 15) < 0.02, `${widths[0]} to ${line}`);
      assert.ok(Math.abs(widths[2] / widths[0] - 31 / 20) < 0.02);
    }));

  it("draws for each bar the baseline that works as its transport does", () =>
    on("handing", {}, async ({ page }) => {
      const lines = await page.locator("#bars .line").allInnerTexts();
      assert.deepEqual(lines.map((each) => each.trim()), [
        "baseline (handing over): shm, loan 10.0 µs",
        "baseline (copying): udp 30.0 µs",
      ]);
      const lineOf = (all) => all.map((each) => Number(each.style.getPropertyValue("--line")));
      const at = await page.locator(".track").evaluateAll(lineOf);
      assert.equal(at.length, 2);
      assert.ok(Math.abs(at[1] / at[0] - 3) < 0.01, `${at}`);
      await reads(page.locator(".bars tbody tr").nth(0), /2\.00 ×/);
      await reads(page.locator(".bars tbody tr").nth(1), /0\.90 ×/);
    }));

  it("cuts off a bar that would make the others too short, and explains this", () =>
    on("race", {}, async ({ page }) => {
      assert.equal(await page.locator(".bar.cut").count(), 1);
      await reads(page.locator("#bars"), /Bars that fade are longer than 8 times the shortest/);
    }));

  it("gives a middleware one colour in the bars, the matrix and the figures", () =>
    on("race", {}, async ({ page }) => {
      await drawAll(page);
      const colour = (place, name) => place.evaluate((node, name) => node.getAttribute(name), name);
      const bar = /var\(--c\d+\)/.exec(await colour(page.locator(".bar").first(), "style"))[0];
      assert.ok((await colour(page.locator("#winner .name i"), "style")).includes(bar));
      const lines = await page
        .locator("#distribution-of-trials svg path[stroke]")
        .evaluateAll((all) => all.map((each) => each.getAttribute("stroke")));
      assert.ok(lines.includes(bar), `${bar} of ${lines}`);
    }));

  it("shows the winners in a matrix, and the experiment of the selected cell", () =>
    on("first", {}, async ({ page }) => {
      const before = await page.locator("#winner").innerText();
      const cells = page.locator("#wins > .wins tbody button");
      assert.equal(await cells.count(), 6);
      for (const each of await cells.allInnerTexts()) assert.match(each, /^(\S+( \S+)? [✓?]|tie of \d =)$/);
      assert.deepEqual(await page.locator("#wins > .wins thead th").allInnerTexts(), [
        "Who wins where",
        "16 B",
        "1 KiB",
        "64 KiB",
      ]);
      await page.locator("#wins > .wins tbody button[aria-pressed=false]").first().focus();
      await page.keyboard.press("Enter");
      assert.notEqual(await page.locator("#winner").innerText(), before);
      assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-pressed")), "true");
      await page.locator("#wins").getByRole("button", { name: "p99" }).click();
      await reads(page.locator("#winner .figure"), /p99 round trip/);
      await page.locator("#wins summary").click();
      assert.ok((await page.locator("#wins details tbody button").count()) > 3);
    }));

  it("lists the links as columns of the matrix", () =>
    on("links", {}, async ({ page }) => {
      const heads = await page.locator("#wins > .wins thead th").allInnerTexts();
      assert.deepEqual(heads, ["Who wins where", "link 1gbit,1ms", "link 100mbit,5ms", "link 10mbit,20ms"]);
      assert.deepEqual(await page.locator("#wins > .wins tbody button").allInnerTexts(), ["lyra ✓", "lyra ✓", "vega ?"]);
    }));

  it("begins with the cost of security", () =>
    on("security", {}, async ({ page }) => {
      await reads(page.locator("#security .name"), /^encrypted takes 2\.10 .* times .* as long as none; signed 1\.40\.$/);
      assert.equal(await page.locator("#security tbody tr").count(), 6);
    }));

  it("copies settings, the command, and the command that decides an undecided verdict", () =>
    on("small", {}, async ({ page }) => {
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      const copied = async (name) => {
        await page.getByRole("button", { name }).click();
        await reads(page.locator(".copier", { has: page.getByRole("button", { name }) }).locator("output"), /^copied$/);
        return page.evaluate(() => window.navigator.clipboard.readText());
      };
      const settings = "<!-- Eclipse Cyclone DDS 0.10.2: transport udp, block, reliable -->\n<CycloneDDS/>\n";
      assert.equal(await copied("copy settings"), settings);
      assert.equal(await copied("copy command"), "middlemark run first-look --seed 1");
      await page.locator("#wins > .wins tbody button", { hasText: "?" }).first().click();
      const decides = "middlemark run first-look --only size=1MiB --trials 24";
      assert.equal(await copied("copy the command that decides it (62 s)"), decides);
    }));

  it("makes a picture to share: SVG and PNG of 1200 × 630 with question, bars, verdict, machine and version", () =>
    on("first", {}, async ({ page }) => {
      await page.locator(".share summary").click();
      const saved = async (name) => {
        const [download] = await Promise.all([
          page.waitForEvent("download"),
          page.getByRole("button", { name, exact: true }).first().click(),
        ]);
        return readFileSync(await download.path());
      };
      const svg = (await saved("SVG")).toString();
      assert.match(svg, /^<svg [^>]*width="1200" height="630"/);
      for (const text of [
        "Which middleware for 16 B to 64 KiB",
        "lyra shm",
        "significant · The other 2 are slower",
        "A processor, 2 processors",
        "middlemark 0.2",
      ])
        assert.ok(svg.includes(text), text);
      assert.ok(svg.match(/<rect/g).length >= 4);
      assert.doesNotMatch(svg, /var\(--/);
      const png = await saved("PNG");
      assert.deepEqual([png.toString("latin1", 1, 4), png.readUInt32BE(16), png.readUInt32BE(20)], ["PNG", 1200, 630]);
      assert.ok(png.length > 20_000, `${png.length} bytes are an empty picture`);
    }));

  it("begins with the changes between two runs", () =>
    on("two", {}, async ({ page }) => {
      assert.equal((await ids(page))[0], "changes");
      await page.locator("#changes summary").click();
      await reads(page.locator("#changes tbody"), /slower/);
    }));

  it("shows why every trial failed, and the advice", () =>
    on("failed", {}, async ({ page, complaints }) => {
      await reads(page.locator(".hero .name"), /^Nothing was measured: every trial failed$/);
      const whys = await page.locator(".hero li").allInnerTexts();
      assert.deepEqual(whys, [
        "deneb udp · 64 B: the worker crashed with signal 11",
        "lyra udp · 64 B, vega udp · 64 B, udp · 64 B: the workers did not match within 10 s → try --match-timeout 30s",
      ]);
      assert.equal(await page.locator("#decide, .bars, #filters:visible").count(), 0);
      assert.deepEqual(await violations(page), []);
      assert.deepEqual(complaints, []);
    }));

  for (const name of ["failed", "empty"]) {
    it(`explains why a run is ${name}`, () =>
      on(name, {}, async ({ page, complaints }) => {
        const shown = await page.locator("main").innerText();
        assert.match(shown, /interrupted: only the trials until then are shown/);
        assert.match(shown, /every trial failed|No trial ended/);
        assert.doesNotMatch(shown, /undefined|NaN|null|\[object/);
        assert.deepEqual(complaints, []);
      }));
  }
});
