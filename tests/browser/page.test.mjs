// A report as a page: safe, accessible, within its width, and printed.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { drawAll, marks, reports, violations } from "./browser.mjs";

const HOSTILE = "<script>document.title='pwned'</script><img src=x onerror=alert(1)>";

describe("a report as a page", { concurrency: 2 }, () => {
  const on = reports("small", "hostile");

  it("requests no other address, and the browser would refuse a request", () =>
    on("hostile", {}, async ({ page, requests }) => {
      await drawAll(page);
      assert.deepEqual(
        requests.filter((each) => !/^(file|blob|data):/.test(each)),
        [],
      );
      assert.equal(requests.filter((each) => each.startsWith("file:")).length, 1);
      const refused = await page.evaluate(async () => {
        const asked = await fetch("http://127.0.0.1:9/").then(
          () => "answered",
          () => "refused",
        );
        const image = await new Promise((settle) => {
          document.addEventListener("securitypolicyviolation", (event) => {
            if (event.effectiveDirective === "img-src") settle("img-src");
          });
          new window.Image().src = "http://127.0.0.1:9/x.png";
        });
        return [asked, image];
      });
      assert.deepEqual(refused, ["refused", "img-src"]);
    }));

  it("shows names and notes as text, never as markup", () =>
    on("hostile", {}, async ({ page, complaints }) => {
      await drawAll(page);
      for (const each of await page.locator("summary:not(#all > summary)").all())
        if (await each.isVisible()) await each.click();
      assert.equal(await page.title(), HOSTILE);
      assert.equal(await page.locator("h1").innerText(), HOSTILE);
      assert.equal(await page.locator("img").count(), 0);
      assert.equal(await page.locator("script").count(), 2);
      assert.ok((await page.locator("#latency-by-size").innerText()).includes("<script>"));
      assert.deepEqual(complaints, []);
    }));

  for (const [scheme, width] of [
    ["light", 1280],
    ["dark", 400],
  ]) {
    it(`fits its width, and axe-core finds nothing: ${scheme}, ${width} pixels wide`, () =>
      on("small", { scheme, width }, async ({ page }) => {
        await drawAll(page);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
        for (const each of ["#decision summary", "#forest summary", "article > details > summary"]) {
          await page.locator(each).first().click();
        }
        await page.locator("#filters summary").first().click();
        await page.getByLabel("Message size").fill("huge");
        assert.deepEqual(await violations(page), []);
      }));
  }

  it("prints every figure on white, also figures that were never scrolled into view", () =>
    on("small", { scheme: "dark" }, async ({ page }) => {
      assert.ok(Object.values(await marks(page)).some((number) => number === 0));
      await page.evaluate(() => {
        const count = () => {
          const figures = [...document.querySelectorAll("figure")].filter((each) => each.querySelector(".plot svg"));
          document.body.dataset.printed = String(figures.length);
        };
        window.addEventListener("afterprint", count, { capture: true });
      });
      assert.ok((await page.pdf({ format: "A4" })).length > 50_000);
      assert.equal(await page.evaluate(() => document.body.dataset.printed), "19");
      await page.emulateMedia({ media: "print", colorScheme: "dark" });
      const surface = await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--surface"));
      assert.equal(surface.trim(), "#fff");
    }));
});
