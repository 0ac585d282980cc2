// gather.mjs NPM FILE: writes D3 and Observable Plot, as their packages bring them, into one script for a page, after the licences
// of every package that is in them.
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [, , npm, file] = process.argv;
const scripts = ["d3/dist/d3.min.js", "@observablehq/plot/dist/plot.umd.min.js"]; // in this order: Plot wants D3

const lock = JSON.parse(readFileSync(join(npm, "package-lock.json"), "utf8"));
const shipped = Object.entries(lock.packages).filter(([path, each]) => path && !each.dev && existsSync(join(npm, path)));
const licences = new Map(); // text → the packages under it
for (const [path, { version }] of shipped) {
  const text = licence(join(npm, path));
  licences.set(text, [...(licences.get(text) ?? []), `${path.replace(/^.*node_modules\//, "")} ${version}`]);
}

const notices = [...licences].map(([text, names]) => `${names.join(", ")}:\n\n${text}`).join(`\n\n${"-".repeat(40)}\n\n`);
const parts = [`/*!\n${notices.replaceAll("*/", "* /")}\n*/`];
for (const each of scripts) parts.push(readFileSync(join(npm, "node_modules", each), "utf8").trim());
const whole = `${parts.join("\n")}\n`;
if (/<\/script|<!--/i.test(whole)) throw new Error("what ends a script element stands in the libraries: they cannot be inlined");
writeFileSync(file, whole);

// The licence's text; a package that brings none names it in its package.json.
function licence(folder) {
  const name = readdirSync(folder).find((each) => /^(licen[cs]e|copying|unlicense)/i.test(each));
  if (name) return readFileSync(join(folder, name), "utf8").replaceAll("\r", "").trim();
  const { license, author } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  if (!license) throw new Error(`${folder}: a package without a licence`);
  return `${license}, ${typeof author === "string" ? author : (author?.name ?? "no author named")}`;
}
