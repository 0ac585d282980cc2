// The bars of the first screen, as a table: a row for each candidate, with its figures and its standing.
import { element } from "./table.mjs";

export const LONGEST = 8; // bars end at this many times the shortest, so that one slow row does not flatten the others
const MOST = 8;
const COLUMNS = [
  ["ratio", "× baseline"],
  ["p99", "p99"],
  ["cpu", "CPU"],
  ["memory", "memory"],
  ["standing", "standing"],
];

// Returns the value at the end of the axis.
export function endOf({ rows, isMore }) {
  const values = rows.flatMap((row) => [row.value, row.high, row.line]).filter((each) => each > 0);
  const least = Math.min(...rows.flatMap((row) => [row.value, row.line]).filter((each) => each > 0));
  return isMore ? Math.max(...values) : Math.min(Math.max(...values), LONGEST * least);
}

export const columnsOf = ({ rows }) => COLUMNS.filter(([key]) => rows.some((row) => row[key] && row[key] !== "–"));

export function bars(answer) {
  const end = endOf(answer);
  const columns = columnsOf(answer);
  const part = (value) => Math.min(1, value / end).toFixed(4);
  const head = (text, name) => element("th", { scope: "col", role: "columnheader", class: name }, text);
  const row = (each, index) =>
    element(
      "tr",
      {
        role: "row",
        class: [each.isLeading && "leading", each.isRawTransport && "raw", index >= MOST && "further"]
          .filter(Boolean)
          .join(" "),
      },
      element("th", { scope: "row", role: "rowheader" }, each.name),
      element(
        "td",
        { role: "cell", class: "track", style: each.line ? `--line: ${part(each.line)}` : "--line: -1" },
        ...(each.value > 0
          ? [
              element("i", {
                class: `bar${each.value > end ? " cut" : ""}`,
                style: `--at: ${part(each.value)}; background-color: ${each.colour}`,
              }),
              ...(each.low > 0 && each.high > 0 && each.value <= end
                ? [element("i", { class: "interval", style: `--from: ${part(each.low)}; --to: ${part(each.high)}` })]
                : []),
            ]
          : []),
        element(
          "b",
          { style: `--at: ${each.value > 0 ? part(Math.max(each.value, Math.min(each.high ?? 0, end))) : 0}` },
          each.figure,
        ),
      ),
      ...columns.map(([key, title]) => element("td", { role: "cell", class: key, "data-title": title }, each[key] || "–")),
    );
  const { rows, lines } = answer;
  const table = element(
    "table",
    { class: `bars${rows.length > MOST ? " shortened" : ""}`, role: "table" },
    element("caption", { class: "unseen" }, answer.text),
    element(
      "thead",
      { role: "rowgroup" },
      element(
        "tr",
        { role: "row" },
        head("middleware"),
        head(`${answer.title}${answer.isMore ? ", longer is better" : ""}`),
        ...columns.map(([key, title]) => head(title, key)),
      ),
    ),
    element("tbody", { role: "rowgroup" }, ...rows.map(row)),
  );
  const notes = [];
  if (rows.some((each) => each.value > end)) notes.push(`Bars that fade are longer than ${LONGEST} times the shortest.`);
  const why = ({ failed }) => failed?.code.replaceAll("-", " ") ?? "another actual transport";
  if (answer.failed.length)
    notes.push(`No result: ${answer.failed.map((each) => `${each.name} (${why(each)})`).join(", ")}.`);
  const more = element(
    "button",
    {
      type: "button",
      onclick: () => {
        table.classList.remove("shortened");
        more.remove();
      },
    },
    `Show all ${rows.length}`,
  );
  return [
    table,
    ...lines.map((line) =>
      element(
        "p",
        { class: "line" },
        element("span", { class: "dash", "aria-hidden": "true" }),
        ` ${line.name} `,
        element("b", {}, line.figure),
      ),
    ),
    ...(rows.length > MOST ? [more] : []),
    ...(notes.length ? [element("p", { class: "notes" }, notes.join(" "))] : []),
  ];
}
