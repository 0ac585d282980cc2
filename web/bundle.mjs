// bundle.mjs NPM FILE: writes the report's script with D3 and Observable Plot as one script for a page, which begins with the
// licences of all packages in it.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const [npm, file] = process.argv.slice(2).map((each) => resolve(each));
const { build } = createRequire(join(npm, "package.json"))("esbuild");

const made = await build({
  entryPoints: [join(dirname(fileURLToPath(import.meta.url)), "../src/middlemark/show/html/scripts/page.mjs")],
  nodePaths: [join(npm, "node_modules")],
  absWorkingDir: npm,
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "utf8",
  legalComments: "none", // the script begins with the licences
  metafile: true,
  write: false,
});

const folders = Object.keys(made.metafile.inputs).flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []);
const licences = new Map(); // text → names of the packages with this licence
for (const folder of new Set(folders)) {
  const about = JSON.parse(readFileSync(join(npm, folder, "package.json"), "utf8"));
  const text = licence(join(npm, folder), about);
  licences.set(text, [...(licences.get(text) ?? []), `${about.name} ${about.version}`]);
}
const notices = [...licences].map(([text, names]) => `${names.join(", ")}:\n\n${text}`).join(`\n\n${"-".repeat(40)}\n\n`);
const whole = `/*!\n${notices.replaceAll("*/", "* /")}\n*/\n${made.outputFiles[0].text}`;
if (/<\/script|<!--/i.test(whole)) throw new Error("the bundle contains the end of a script element: it cannot be inlined");
writeFileSync(file, whole);

// Returns the text of a package's licence; if the package has no text, the licence's name in package.json.
function licence(folder, { license, author }) {
  const name = readdirSync(folder).find((each) => /^(licen[cs]e|copying|unlicense)/i.test(each));
  if (name) return readFileSync(join(folder, name), "utf8").replaceAll("\r", "").trim();
  if (!license) throw new Error(`${folder}: a package without a licence`);
  return `${license}, ${typeof author === "string" ? author : (author?.name ?? "no author named")}`;
}
