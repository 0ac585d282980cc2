// The report of a workload.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { drawAll, reads, reports, violations } from "./browser.mjs";

describe("the report of a workload", { concurrency: 2 }, () => {
  const on = reports("robot");

  it("draws a workload as a graph for each middleware, with its verdict and the edge that fails first", () =>
    on("robot", {}, async ({ page, complaints }) => {
      await reads(page.locator("#winner .name"), /^lyra shm, lyra udp and vega udp meet the deadlines$/);
      await reads(page.locator("#winner .figure"), /^3 of 4 meet every deadline at scale 1$/);
      assert.equal(await page.locator(".robot svg").count(), 3);
      assert.deepEqual(await page.locator(".robot").first().locator("svg text").allTextContents(), [
        "camera",
        "detector",
        "recorder",
        "planner",
      ]);
      const colours = (at) =>
        page
          .locator(".robot")
          .nth(at)
          .locator("path")
          .evaluateAll((all) => all.map((each) => each.getAttribute("stroke")));
      assert.deepEqual([...new Set(await colours(0))].sort(), ["var(--quiet)", "var(--share-0)"]);
      await page.locator("#robot-0").getByRole("button", { name: "scale 4" }).click();
      await reads(page.locator("#winner .name"), /^lyra shm meets the deadlines$/);
      assert.ok((await colours(2)).includes("var(--share-2)"));
      await reads(page.locator(".robot").nth(2), /^vega udp fails\s[^]*fails first: image → detector$/);
      await reads(page.locator(".bars tr", { hasText: "vega udp" }), /misses a deadline: image → detector/);
      assert.equal(await page.evaluate(() => document.activeElement.innerText), "scale 4");
      const link = await page.evaluate(() => location.hash);
      const answer = /^lyra shm meets the deadlines$/;
      await on("robot", { hash: link }, ({ page: other }) => reads(other.locator("#winner .name"), answer));
      assert.deepEqual(complaints, []);
    }));

  it("shows the loads of a workload as a table, with details of every edge, chain and node", () =>
    on("robot", {}, async ({ page, complaints }) => {
      await drawAll(page);
      await reads(page.locator("#verdict"), /meets its deadlines over all 3 at scale 1; .* not over vega udp \([^)]*\); .*\.$/);
      const table = page.locator(".workload table").first();
      assert.deepEqual(await table.locator("thead th").allInnerTexts(), ["over", "scale 1", "scale 2", "scale 4"]);
      assert.deepEqual(await table.locator("tbody th").allInnerTexts(), [
        "shm (raw transport)",
        "udp (raw transport)",
        "lyra shm",
        "lyra udp",
        "vega udp",
        "deneb udp",
      ]);
      await reads(
        table.locator("tbody tr").nth(4).locator("td").nth(1),
        /^✗ fails\s+1\.2\d? × deadline · .* processors · 60\.0 MB\s+first: image → detector$/,
      );
      await reads(table.locator("tbody tr").nth(5), /failed\s+–\s+–$/);
      await page.locator(".workload summary").first().click();
      await page.locator(".workload details details summary").first().click();
      await reads(page.locator(".workload details details").first(), /image → found → planner \(end to end\)/);
      await reads(page.locator(".workload details details").first(), /camera \(in perception\): .* processors/);
      assert.deepEqual(complaints, []);
    }));

  for (const [scheme, width] of [
    ["light", 1280],
    ["dark", 400],
  ]) {
    it(`shows workloads within the width, and axe-core finds nothing: ${scheme}, ${width} pixels wide`, () =>
      on("robot", { scheme, width }, async ({ page }) => {
        await drawAll(page);
        for (const each of [".workload summary", ".workload details details summary"])
          await page.locator(each).first().click();
        const wide = page.locator(".workload .wide");
        for (let at = 0; at < 2; at++) {
          const box = await wide.nth(at).boundingBox();
          assert.ok(box.height > 0 && box.x >= 0 && box.x + box.width <= width, `table ${at} ends at ${box.x + box.width}`);
        }
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
        assert.deepEqual(await violations(page), []);
      }));
  }
});
