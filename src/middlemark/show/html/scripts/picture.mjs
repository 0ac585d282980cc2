// The answer as a picture of 1200 × 630 pixels, the size that chat programs and slides show: SVG, or PNG made from it.
import { answerOf } from "./answer.mjs";
import { columnsOf, endOf } from "./bars.mjs";
import { standalone, vector } from "./figure.mjs";
import { download, element } from "./table.mjs";

export const [WIDTH, HEIGHT] = [1200, 630];
const EDGE = 56;
const MOST = 8;
const WIDTHS = { ratio: 92, p99: 92, cpu: 72, memory: 92, standing: 236 };
const SHOWN = ["ratio", "p99", "cpu", "standing"];

// Breaks a text into lines of at most `most` characters; the last line ends with an ellipsis if there are more.
export function lines(text, most, number) {
  const found = [];
  let line = "";
  for (const word of text.split(/\s+/)) {
    if (line && line.length + word.length + 1 > most) {
      found.push(line);
      line = word;
    } else line = line ? `${line} ${word}` : word;
  }
  found.push(line);
  if (found.length <= number) return found;
  const last = found[number - 1];
  return [...found.slice(0, number - 1), `${last.slice(0, most - 1).replace(/[\s,:→]+$/, "")} …`];
}

// Returns the picture as the text of an SVG file; null: the run has no answer to draw.
export function pictureOf(context) {
  const { data } = context;
  const answer = answerOf(context);
  if (!answer) return null;
  const svg = vector("svg", { width: WIDTH, height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}` });
  const text = (words, x, y, size, more = {}) => {
    const made = vector("text", { x, y, "font-size": size, fill: "var(--ink)", ...more });
    made.textContent = words;
    svg.append(made);
  };
  const rect = (x, y, width, height, fill, more = {}) =>
    svg.append(vector("rect", { x, y, width: Math.max(width, 1), height, fill, ...more }));
  const quiet = { fill: "var(--quiet)" };
  const end = { "text-anchor": "end" };
  let y = 78;
  for (const line of lines(data.question, 44, 2)) {
    text(line, EDGE, y, 40, { "font-weight": 700 });
    y += 48;
  }
  y += 8;
  rect(EDGE, y - 26, 10, 32, answer.colour);
  text(lines(answer.headline, 38, 1)[0], EDGE + 24, y, 32, { "font-weight": 700 });
  text(`${answer.figure} ${answer.what}`, WIDTH - EDGE, y, 32, { "font-weight": 700, ...end });
  y += 34;
  const verdict = answer.lines[0]?.name === "deadline" ? answer.sentence : `${answer.mark} · ${answer.sentence}`;
  for (const line of lines(verdict, 104, 2)) {
    text(line, EDGE, y, 20, quiet);
    y += 26;
  }
  const shown = answer.rows.filter((row) => !row.isRawTransport).slice(0, MOST);
  const columns = columnsOf(answer).filter(([key]) => SHOWN.includes(key));
  const right = columns.reduce((sum, [key]) => sum + WIDTHS[key], 0);
  const [left, track] = [EDGE + 260, WIDTH - EDGE - right - EDGE - 260 - 90];
  const bottom = HEIGHT - 96;
  const step = Math.min(54, (bottom - y - 22) / shown.length);
  const most = endOf({ ...answer, rows: shown });
  const at = (value) => left + track * Math.min(1, value / most);
  let x = WIDTH - EDGE - right;
  const ends = columns.map(([key, title]) => [key, title, (x += WIDTHS[key])]);
  y += 16;
  for (const [key, title, to] of ends)
    text(title, key === "standing" ? to - WIDTHS[key] + 20 : to, y, 15, key === "standing" ? quiet : { ...quiet, ...end });
  text(answer.title, left, y, 15, quiet);
  y += 8;
  const top = y;
  for (const row of shown) {
    const middle = y + step / 2;
    text(lines(row.name, 27, 1)[0], left - 14, middle + 6, 18, { ...end, "font-weight": row.isLeading ? 700 : 400 });
    if (row.value > 0)
      rect(left, y + step * 0.15, at(row.value) - left, step * 0.7, row.colour, {
        rx: 3,
        opacity: row.value > most ? 0.6 : 1,
      });
    text(`${row.value > most ? "» " : ""}${row.figure}`, at(row.value ?? 0) + 8, middle + 6, 18, { "font-weight": 600 });
    for (const [key, , to] of ends) {
      if (key === "standing") text(lines(row[key] ?? "", 27, 1)[0], to - WIDTHS[key] + 20, middle + 5, 15, quiet);
      else text(row[key] || "–", to, middle + 6, 17, end);
    }
    y += step;
  }
  answer.lines.forEach(({ name, figure, value }, index) => {
    const x = at(value);
    const [first, last] = [shown.findIndex((row) => row.line === value), shown.findLastIndex((row) => row.line === value)];
    if (first < 0) return;
    const below = y + 18 + 18 * index;
    svg.append(
      vector("line", {
        x1: x,
        x2: x,
        y1: top + step * first,
        y2: answer.lines.length > 1 ? top + step * (last + 1) : y + 6,
        stroke: "var(--ink)",
        "stroke-width": 2,
        "stroke-dasharray": "6 5",
      }),
    );
    text(`${name} ${figure}`, x + 8, below, 15, quiet);
  });
  const run = data.runs[0];
  text(lines(`${run.told}`, 92, 1)[0], EDGE, HEIGHT - 34, 17, quiet);
  text(`middlemark ${data.middlemark} · ${(run.started ?? data.generated).slice(0, 10)}`, WIDTH - EDGE, HEIGHT - 34, 17, {
    ...quiet,
    ...end,
  });
  return standalone(svg, data.question, [answer.text]);
}

// Returns the PNG of an SVG as a data: address.
export async function pngOf(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: WIDTH, height: HEIGHT });
  canvas.getContext("2d").drawImage(image, 0, 0);
  return canvas.toDataURL("image/png");
}

export function pictureButtons(context) {
  const save = async (kind) => {
    const svg = pictureOf(context);
    if (kind === "svg") download("middlemark.svg", "image/svg+xml;charset=utf-8", svg);
    else download("middlemark.png", "image/png", await bytesOf(await pngOf(svg)));
  };
  const button = (kind) => element("button", { type: "button", onclick: () => save(kind) }, kind.toUpperCase());
  return [
    element("details", { class: "share" }, element("summary", {}, "share as picture"), button("png"), " ", button("svg")),
  ];
}

const bytesOf = async (address) => Uint8Array.from(atob(address.split(",")[1]), (each) => each.charCodeAt(0));

// Replaces the page by the two pictures as text, for `middlemark report --picture`.
export async function printPicture(context) {
  const svg = pictureOf(context);
  const made = svg ? { svg, png: (await pngOf(svg)).split(",")[1] } : {};
  document.body.replaceChildren(element("pre", { id: "picture" }, JSON.stringify(made)));
}
