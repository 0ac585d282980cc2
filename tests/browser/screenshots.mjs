// screenshots.mjs REPORT: makes the two pictures in docs/ from a report of `middlemark run first-look`: its first screen,
// and Decide in the dark scheme at 400 pixels. pngquant then reduces them to a palette of 256 colours.
import { join, resolve } from "node:path";
import { launch, open, root } from "./browser.mjs";

const report = resolve(process.argv[2]);
const browser = await launch();
try {
  const wide = await open(browser, report);
  await wide.page.waitForSelector("#answer-picture svg, #changes svg");
  await wide.page.screenshot({ path: join(root, "docs", "report-1280.png") });

  const { page } = await open(browser, report, { width: 400, height: 860, scheme: "dark" });
  await page.getByLabel("Message size").fill("4 KiB");
  await page.getByLabel("Deadline", { exact: true }).fill("500 µs");
  await page.locator("#decision .plot svg").waitFor();
  await page.locator("#decide-title").evaluate((title) => title.scrollIntoView());
  await page.screenshot({ path: join(root, "docs", "report-400.png") });
} finally {
  await browser.close();
}
