// screenshots.mjs REPORT [FOLDER]: makes the documents' pictures of a report of `middlemark which`, into docs/ or
// FOLDER: its first screen at 1280 and 400 pixels, in dark colours, and as printed. pngquant then reduces them to 256 colours.
import { join, resolve } from "node:path";
import { launch, open, root } from "./browser.mjs";

const report = resolve(process.argv[2]);
const into = process.argv[3] ?? join(root, "docs/images");
const VIEWS = [
  { name: "report-1280", width: 1280, height: 800 },
  { name: "report-400", width: 400, height: 860 },
  { name: "report-dark", width: 1280, height: 800, scheme: "dark" },
  { name: "report-print", width: 800, height: 1130, media: "print" }, // A4
];
const browser = await launch();
try {
  for (const { name, media, ...view } of VIEWS) {
    const { page, close } = await open(browser, report, view);
    if (media) await page.emulateMedia({ media });
    await page.locator(".bars, .hero").first().waitFor();
    await page.screenshot({ path: join(into, `${name}.png`) });
    await close();
  }
} finally {
  await browser.close();
}
