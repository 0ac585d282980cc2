// Filters and links of a report, and its controls by keyboard.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { drawAll, filter, ids, marks, pictures, reads, reports } from "./browser.mjs";

describe("the controls of a report", { concurrency: 2 }, () => {
  const on = reports("small", "two");

  it("scrolls to the target of each link", () =>
    on("small", {}, async ({ page }) => {
      const landed = (on, selector, from, until) =>
        on.waitForFunction(
          ([selector, from, until]) => {
            const { top } = document.querySelector(selector).getBoundingClientRect();
            return top >= from && top < until;
          },
          [selector, from, until],
        );
      const bar = await page.locator("#filters").evaluate((node) => node.offsetHeight);
      for (const place of ["cost", "decide", "comparisons", "time"]) {
        await page.evaluate(() => window.scrollTo(0, 0));
        await page.locator(`nav a[href="#${place}"]`).click();
        await page.waitForTimeout(400); // enough for figures that are drawn later to move the section
        await landed(page, `#${place}`, 0, bar + 60);
      }
      await on("small", { hash: "#at=percentile-curve" }, async ({ page: other }) => {
        await other.waitForTimeout(400);
        await landed(other, "#percentile-curve", 0, bar + 40);
      });
    }));

  it("changes every figure by a filter, and restores it without the filter", () =>
    on("small", {}, async ({ page }) => {
      await page.getByLabel("Transports").selectOption("all");
      const fixed = ["breakdown", "distribution-of-trials", "cost-of-each"]; // show the first screen's experiment only
      // over-time shows a single cell.
      const filtered = (await ids(page)).filter((id) => !fixed.includes(id) && id !== "over-time");
      await drawAll(page);
      const [whole, before] = [await pictures(page), await marks(page)];
      await filter(page, "adapter", "fastdds");
      await reads(page.locator("#filters output"), /^18 of 24 configurations$/); // with the raw transports
      await drawAll(page);
      const part = await pictures(page);
      for (const id of filtered) assert.ok(part[id] !== whole[id], id); // notEqual would print both pictures
      for (const id of fixed) assert.equal(part[id], whole[id]);
      assert.ok((await marks(page))["latency-by-size"] < before["latency-by-size"]);
      await page.getByRole("button", { name: "Show all" }).click();
      await drawAll(page);
      const again = await pictures(page);
      for (const id of filtered) assert.ok(again[id] === whole[id], id);
    }));

  it("restores filters, options and typed values from a link", () =>
    on("small", {}, async ({ page }) => {
      await filter(page, "adapter", "cyclonedds");
      await page.getByLabel("Deadline", { exact: true }).fill("60 µs");
      await drawAll(page);
      await page.locator("#latency-by-size").getByLabel("Figure").selectOption("p99");
      const link = await page.locator("#latency-by-size .link").getAttribute("href");
      const expected = (await pictures(page))["latency-by-size"];
      await on("small", { hash: link }, async ({ page: other }) => {
        await other.waitForSelector("#latency-by-size svg");
        assert.equal(await other.locator("#filters output").innerText(), await page.locator("#filters output").innerText());
        assert.equal(await other.locator("#latency-by-size").getByLabel("Figure").inputValue(), "p99");
        assert.equal(await other.getByLabel("Deadline", { exact: true }).inputValue(), "60 µs");
        assert.equal((await pictures(other))["latency-by-size"], expected);
        assert.equal(await other.evaluate(() => document.activeElement.id), "latency-by-size");
      });
    }));

  it("ignores a link with unknown contents", () =>
    on("small", { hash: "#at=nowhere&f.size=99-x&f.colour=1&o.=&f.adapter=" }, async ({ page, complaints }) => {
      await reads(page.locator("#filters output"), /^16 of 24 configurations$/); // each adapter's best transport
      assert.deepEqual(complaints, []);
    }));

  it("shows two runs separately, and filters by run", () =>
    on("two", {}, async ({ page }) => {
      assert.equal(await page.locator("#answer .machine b").count(), 2);
      await drawAll(page); // otherwise a figure that is drawn now may move the filter before the click
      await filter(page, "run", "tuesday");
      await reads(page.locator("#filters output"), /^16 of 48 configurations$/);
      await page.locator("#latency-by-size summary").click();
      await page.locator("#latency-by-size tbody th").first().waitFor();
      for (const name of await page.locator("#latency-by-size tbody th").allInnerTexts()) assert.match(name, /tuesday/);
    }));

  it("has no control that the keyboard cannot reach", () =>
    on("small", {}, async ({ page }) => {
      await drawAll(page);
      const reachable = await page.evaluate(() => {
        const all = [
          ...document.querySelectorAll("a[href], button:not(:disabled), select, input, summary, [tabindex='0']"),
        ];
        const visible = all.filter((each) => each.checkVisibility());
        visible.forEach((each, index) => {
          each.dataset.place = index;
        });
        return visible.length;
      });
      const reached = new Set();
      for (let step = 0; step < reachable + 5; step++) {
        await page.keyboard.press("Tab");
        reached.add(await page.evaluate(() => document.activeElement.dataset.place));
      }
      reached.delete(undefined);
      assert.ok(reachable > 60);
      assert.equal(reached.size, reachable);
    }));

  it("can be filtered with the keyboard alone", () =>
    on("small", {}, async ({ page }) => {
      await page.locator("#filters summary").first().focus();
      for (const key of ["Enter", "Tab", "Space"]) await page.keyboard.press(key);
      await reads(page.locator("#filters output"), /^\d+ of 24 configurations$/);
      await page.keyboard.press("Escape");
      assert.equal(await page.evaluate(() => document.activeElement.localName), "summary");
    }));
});
