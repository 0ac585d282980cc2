// The figures of a report: what they draw, their axes, tables and files.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { drawAll, filter, ids, marks, reads, reports } from "./browser.mjs";

describe("the figures of a report", { concurrency: 2 }, () => {
  const on = reports("small", "large", "tie");

  it("draws marks in every figure, and names the figures that it leaves out with the reason", () =>
    on("small", {}, async ({ page, complaints }) => {
      await drawAll(page);
      for (const [id, number] of Object.entries(await marks(page))) assert.ok(number > 1, `${id} has ${number} marks`);
      assert.equal((await ids(page)).length, 19);
      assert.equal(await page.locator("#missing").innerText(), "");
      assert.deepEqual(complaints, []);
    }));

  it("draws no figure that would have only one column of points, and no section without data", () =>
    on("tie", {}, async ({ page, complaints }) => {
      await drawAll(page);
      assert.deepEqual(await ids(page), ["decision", "forest", "latency-at-a-size", "order"]);
      await reads(page.locator("#missing"), /^Not drawn: .*Latency: round trip, .* \(a line needs several sizes, rates .*\)/);
      await reads(page.locator("#missing"), /Offered against received, Latency as the load rises \(no row is a stream/);
      assert.deepEqual(await page.locator("nav a").allInnerTexts(), [
        "Decide",
        "Comparisons",
        "All figures",
        "The experiment",
      ]);
      assert.deepEqual(await page.locator("#filters legend").allTextContents(), ["middleware"]);
      assert.deepEqual(complaints, []);
    }));

  it("gives each panel its own axis, and shows different names differently", () =>
    on("small", {}, async ({ page }) => {
      await drawAll(page);
      await page.locator("#throughput-by-size").getByLabel("Panels by").selectOption("transport");
      const panels = page.locator("#throughput-by-size .plot > svg > svg");
      assert.ok((await panels.count()) > 1);
      const label = "g[data-marks='y-axis tick label']";
      const ticks = await panels.evaluateAll(
        (all, label) => all.map((each) => each.querySelector(label)?.textContent),
        label,
      );
      assert.equal(new Set(ticks).size, ticks.length);
      const names = await page.locator("#latency-at-a-size .plot g[data-marks='y-axis tick label'] text").allTextContents();
      assert.equal(new Set(names).size, names.length);
    }));

  it("offers every numeric factor with several levels as the axis of a figure", () =>
    on("small", {}, async ({ page, complaints }) => {
      await drawAll(page);
      const figure = page.locator("#throughput-by-size");
      assert.equal(await figure.getByLabel("Along").inputValue(), "size");
      await figure.getByLabel("Along").selectOption("subscribers");
      await figure.locator("summary").click();
      await figure.locator("tbody tr").first().waitFor();
      const rows = await figure.locator("tbody tr").allInnerTexts();
      assert.deepEqual([...new Set(rows.map((each) => each.split("\t")[1]))].sort(), ["1", "4"]);
      assert.equal(await page.locator("#memory").getByLabel("Along").inputValue(), "subscribers");
      assert.deepEqual(complaints, []);
    }));

  it("lists the configurations that meet a requirement, that miss it, and that were not measured near it", () =>
    on("small", {}, async ({ page }) => {
      const notes = page.locator("#decision .notes");
      await page.getByLabel("Transports").selectOption("all");
      await page.getByLabel("Message size").fill("4 KiB");
      await page.getByLabel("Deadline", { exact: true }).fill("70");
      await page.locator("#decision").scrollIntoViewIfNeeded();
      await reads(notes, /4 KiB, 1 subscriber, p99 within 70 µs: 1 meet the requirements, 2 do not, 0 were never measured/);
      await page.locator("#decision summary").click();
      await reads(page.locator("#decision table"), /interpolated between 1 KiB and 64 KiB/);
      await page.getByLabel("Message size").fill("8 MiB");
      await reads(
        notes,
        /0 meet the requirements, 0 do not, 3 were .*: middlemark run --adapter cyclonedds,fastdds --size 8388608 --trials 10/,
      );
      await page.getByLabel("Message size").fill("1 KiB");
      await page.getByLabel("Messages a second").fill("100");
      await reads(notes, /3 were never measured .*: middlemark which --size 1024 --rate 100 --deadline 70000ns/);
      await reads(page.locator("#decision table"), /one at a time/); // the figures shown if none was measured near the rate
      await page.getByLabel("Message size").fill("huge");
      await reads(page.locator("#decide-size-problem"), /a size like/);
      assert.equal(await page.getByLabel("Message size").getAttribute("aria-invalid"), "true");
      await reads(page.locator("#decision .plot"), /Message size cannot be read: write a size like/);
      for (const name of [/^CSV/, /^SVG/]) {
        assert.equal(await page.locator("#decision").getByRole("button", { name }).isDisabled(), true);
      }
    }));

  it("gives each figure's table, CSV and SVG", () =>
    on("small", {}, async ({ page }) => {
      await drawAll(page);
      for (const id of await ids(page)) {
        const figure = page.locator(`[id="${id}"]`);
        await page.waitForTimeout(250); // Chromium silently drops downloads beyond some ten a second
        await figure.locator("summary").click();
        await figure.locator("tbody tr").first().waitFor();
        const rows = await figure.locator("tbody tr").count();
        const saved = async (name) => {
          const [download] = await Promise.all([
            page.waitForEvent("download"),
            figure.getByRole("button", { name }).click(),
          ]);
          return { name: download.suggestedFilename(), text: readFileSync(await download.path(), "utf8") };
        };
        const table = await saved(/^CSV/);
        assert.equal(table.name, `${id}.csv`);
        assert.equal(table.text.trim().split("\r\n").length, rows + 1, id);
        const picture = await saved(/^SVG/);
        assert.equal(picture.name, `${id}.svg`);
        assert.doesNotMatch(picture.text, /var\(--/);
        const error = await page.evaluate((text) => {
          return new window.DOMParser().parseFromString(text, "image/svg+xml").querySelector("parsererror");
        }, picture.text);
        assert.equal(error, null, id);
      }
    }));

  it("shows and filters a thousand cells", () =>
    on("large", {}, async ({ page, complaints }) => {
      await drawAll(page);
      await filter(page, "adapter", "zenoh");
      await reads(page.locator("#filters output"), /^200 of 1000 configurations$/); // including the raw transport's 100
      assert.deepEqual(complaints, []);
    }));

  it("shows the protection of a row, and its proofs", () =>
    on("small", {}, async ({ page }) => {
      assert.equal(await page.locator("#protection + ul li").count(), 1);
      await reads(
        page.locator("#protection + ul li"),
        /: TLSv1\.3: TLS_AES_256_GCM_SHA384\. PAYLOAD SEEN, stranger refused; permissions: there are none$/,
      );
    }));
});
