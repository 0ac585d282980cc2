// The figures of crowds: fitted lines on logarithmic axes, and start curves as small multiples.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { drawAll, ids, marks, reads, reports, violations } from "./browser.mjs";

describe("the figures of crowds", { concurrency: 2 }, () => {
  const on = reports("crowds", "one_crowd");
  const panels = (page, id) => page.locator(`#${id} .plot > svg > svg`);

  for (const width of [1280, 400])
    it(`draws a panel for each figure and for each size, ${width} pixels wide`, () =>
      on("crowds", { width }, async ({ page, complaints }) => {
        await drawAll(page);
        assert.equal(await panels(page, "crowd-scaling").count(), 7);
        assert.equal(await panels(page, "crowd-starts").count(), 4); // a single participant has nobody to hear
        const found = await marks(page);
        assert.ok(found["crowd-scaling"] > 90, `${found["crowd-scaling"]} marks`);
        const lefts = await panels(page, "crowd-starts").evaluateAll((all) => [
          ...new Set(all.map((each) => Math.round(each.getBoundingClientRect().left))),
        ]);
        assert.equal(lefts.length, width > 1000 ? 3 : 1);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), true);
        assert.deepEqual(complaints, []);
      }));

  it("draws a straight line for a power law, and a steeper one for a larger exponent", () =>
    on("crowds", {}, async ({ page }) => {
      await drawAll(page);
      await page.locator("#crowd-scaling").getByLabel("Figure").selectOption("idle_bytes");
      await page.locator("#crowd-scaling summary").click();
      await page.locator("#crowd-scaling tbody tr").first().waitFor();
      assert.equal(await page.locator("#crowd-scaling tbody tr").count(), 15);
      const slopes = await page.locator("#crowd-scaling .plot g[data-marks='line'] path").evaluateAll((all) =>
        all.map((each) => {
          const points = each
            .getAttribute("d")
            .split(/[ML]/)
            .filter(Boolean)
            .map((point) => point.split(",").map(Number));
          const slope = ([x, y], [u, v]) => (v - y) / (u - x);
          const first = slope(points[0], points[1]);
          const last = slope(points.at(-2), points.at(-1));
          return { first, last };
        }),
      );
      assert.equal(slopes.length, 3);
      for (const { first, last } of slopes) assert.ok(Math.abs(first - last) < 0.02, `${first} ${last}`);
      const steep = slopes.map((each) => -each.first).sort((a, b) => a - b);
      assert.ok(steep[2] > 1.7 * steep[0], String(steep));
    }));

  it("ends the start of an incomplete crowd below 100 %", () =>
    on("crowds", {}, async ({ page }) => {
      await drawAll(page);
      await page.locator("#crowd-starts summary").click();
      await page.locator("#crowd-starts tbody tr").first().waitFor();
      const rows = await page.locator("#crowd-starts tbody tr").allInnerTexts();
      const last = (name) => rows.map((each) => each.split("\t")).filter(([label, n]) => label.includes(name) && n === "100");
      assert.equal(last("vega").at(-1)[3], "74 %");
      assert.equal(last("lyra").at(-1)[3], "100 %");
    }));

  it("shows the table of exponents with verdicts, residuals and the size that breaks", () =>
    on("crowds", {}, async ({ page }) => {
      const table = page.locator("#scaling table").first();
      await reads(table, /grows significantly faster\s+\+0\.[89]/);
      await reads(table, /100 \(holds to 30\)/);
      await reads(page.locator("#scaling ul").first(), /100 \(holds to 30\), 260 of 1,000 publishers were never heard/);
      await reads(table, /4: [+-]?\d+ %/);
      const smallest = /idle_bytes along participants: (lyra|deneb) udp has the smallest exponent/;
      await reads(page.locator("#scaling ul").first(), smallest);
      assert.deepEqual(await violations(page), []);
    }));

  it("draws starts without exponents for crowds of one size", () =>
    on("one_crowd", {}, async ({ page, complaints }) => {
      await drawAll(page);
      const drawn = await ids(page);
      assert.ok(drawn.includes("crowd-starts"));
      assert.ok(!drawn.includes("crowd-scaling"));
      assert.equal(await page.locator("#scaling table").count(), 0);
      assert.deepEqual(complaints, []);
    }));
});
