// The answer of one experiment, or of one column of a workload, for the first screen: its rows, the line they are compared with,
// and the verdict. The bars and the picture to share are drawn from this value.
import { bytes, plain, rate, times, us } from "./words.mjs";

const KEY = "answer.at";
const MARKED = { holds: "holds", fails: "misses a deadline", undecided: "too few messages", failed: "failed" };
const ABSENT = "–";

// Returns the chosen standing, or the usual one.
export const standingOf = ({ data, selection }) =>
  data.standings[Number(selection.options.get(KEY) ?? data.usual)] ?? data.standings[data.usual];

// The chosen column of the first workload: its load.
const COLUMN = "answer.load";
export const columnOf = ({ data, selection }) =>
  Math.min(Number(selection.options.get(COLUMN) ?? 0) || 0, data.workloads[0].columns.length - 1);
export const chooseColumn = ({ selection }, column) => selection.options.set(COLUMN, String(column));

export const choose = ({ data, selection }, standing) =>
  selection.options.set(KEY, String(data.standings.indexOf(standing)));

// Returns the cells of the chosen experiment with the names that they have in it, the baseline last. Without an
// experiment: the measured cells of the selection.
export function chosen(context) {
  const { cells } = context.data;
  const standing = standingOf(context);
  if (!standing) return cells.filter((each) => !each.failed).map((cell) => ({ cell, name: cell.label }));
  const places = standing.places.map(({ row }) => ({ cell: cells[row], name: cells[row].name }));
  const baseline = cells[standing.baseline];
  return baseline ? [...places, { cell: baseline, name: `baseline ${baseline.name}` }] : places;
}

const costs = (cell) => ({
  p99: cell.by_rate ? ABSENT : us(cell.latency?.p99),
  cpu: cell.cpu === undefined ? ABSENT : plain(Number(cell.cpu.toPrecision(2))),
  memory: cell.rss_bytes === undefined ? ABSENT : bytes(cell.rss_bytes),
});

// Returns the answer of the chosen experiment; null: the run compared nothing.
export function answerOf(context) {
  const { data, styles } = context;
  const standing = standingOf(context);
  if (!standing) return data.workloads.length ? workloadAnswer(context, data.workloads[0], columnOf(context)) : null;
  const { cells } = data;
  const byRate = standing.by === "p50" && Boolean(cells[standing.places[0].row].by_rate);
  const show = byRate ? rate : us;
  const isTime = ["p50", "p99"].includes(standing.by);
  const bound = (cell, end) => (standing.by === "p50" ? (cell.interval?.[end] ?? null) : null);
  const figureOf = (cell) => (byRate ? cell?.rate_hz : cell?.latency?.[standing.by]);
  const baselineOf = (cell) => (standing.baseline === undefined ? undefined : cells[cell.baseline_cell ?? standing.baseline]);
  const baselines = new Set();
  const rows = standing.places.map((place) => {
    const cell = cells[place.row];
    const baseline = cell.is_raw_transport ? undefined : baselineOf(cell);
    if (figureOf(baseline)) baselines.add(baseline);
    return {
      cell,
      name: cell.name,
      colour: styles.of(cell.series).colour,
      value: place.figure,
      low: bound(cell, 0),
      high: bound(cell, 1),
      figure: byRate ? show(place.figure) : place.text,
      ratio: times(place.ratio),
      line: figureOf(baseline),
      ...costs(cell),
      standing:
        cell.doubt && place.standing !== "eliminated"
          ? `${place.why || place.standing}: ${cell.doubt}`
          : place.why || place.standing,
      isLeading: ["best", "equivalent", "only"].includes(place.standing),
    };
  });
  const how = (baseline) => (baselines.size < 2 ? "" : baseline.hands_over ? " (handing over)" : " (copying)");
  const kind = cells[standing.places[0].row];
  return {
    headline: headlineOf(standing, rows),
    colour: rows[0].colour,
    figure: rows[0].figure,
    what: byRate ? "received" : isTime ? `${standing.by === "p99" ? "p99 " : ""}${whatOf(kind)}` : standing.by,
    ratio: rows[0].ratio && `${rows[0].ratio} baseline`,
    mark: standing.mark,
    isSure: standing.sure,
    sentence: standing.sentence,
    text: `${standing.lead} ${standing.sentence}`,
    rows,
    failed: standing.failed.map((index) => cells[index]),
    lines: [...baselines].map((baseline) => ({
      value: figureOf(baseline),
      name: `baseline${how(baseline)}: ${baseline.name}`,
      figure: show(figureOf(baseline)),
    })),
    isMore: byRate,
    title: byRate ? "messages a second" : isTime ? `${standing.by}, ${whatOf(kind)}` : standing.by,
  };
}

const whatOf = (cell) =>
  cell.kind === "one_way" ? "one way" : cell.f.pattern === "request-reply" ? "a call" : "round trip";

function headlineOf({ verdict }, rows) {
  if (verdict === "none holds") return "No candidate meets the requirements";
  if (verdict === "tie") return `${listed(rows.filter((each) => each.isLeading).map((each) => each.name))} tie`;
  return verdict === "undecided" ? `Undecided: ${rows[0].name} leads` : rows[0].name;
}

function listed(names) {
  const shown = names.length > 3 ? [...names.slice(0, 2), `${names.length - 2} more`] : names;
  return shown.length < 2 ? shown.join("") : `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}`;
}

// Returns the answer of one column of a workload: each middleware's worst edge as a part of its deadline.
export function workloadAnswer({ data, styles }, graph, column) {
  const rows = graph.lines
    .map((line) => ({ line, entry: line.entries[column] }))
    .filter(({ entry }) => entry)
    .map(({ line, entry }) => {
      const cell = data.cells[entry.row];
      return {
        cell,
        entry,
        name: line.name,
        isRawTransport: line.is_raw_transport,
        colour: styles.of(cell.series).colour,
        value: entry.times ?? null,
        figure: entry.share ?? ABSENT,
        ratio: "",
        line: 1,
        p99: ABSENT,
        cpu: entry.cpu ?? ABSENT,
        memory: entry.mb ? `${entry.mb} MB` : ABSENT,
        standing: `${MARKED[entry.state]}${entry.first ? `: ${entry.first}` : ""}`,
        isLeading: entry.state === "holds",
      };
    });
  const { mark, headline, figure, holding } = graph.verdicts[column];
  const leading = rows.find((row) => row.name === holding[0]);
  return {
    headline,
    colour: leading?.colour ?? (mark === "undecided" ? "var(--quiet)" : "var(--bad)"),
    figure,
    what: figure && (graph.columns.length > 1 ? `meet every deadline at ${graph.columns[column]}` : "meet every deadline"),
    ratio: "",
    mark,
    isSure: mark === "holds",
    sentence: graph.conclusion,
    text: graph.conclusion,
    rows,
    failed: [],
    lines: [{ value: 1, name: "deadline", figure: "" }],
    isMore: false,
    title: "worst edge, × deadline",
  };
}
