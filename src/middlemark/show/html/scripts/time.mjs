// Where the time goes: the parts of a round trip, and latency over the seconds of a trial.
import * as Plot from "@observablehq/plot";
import { chosen } from "./answer.mjs";
import { NARROW, bands, differing, logAxis, plotted, roomFor, tip } from "./style.mjs";
import { columnsOf } from "./table.mjs";
import { plain, time } from "./words.mjs";

const MOST = 24;
const has = (cell) => cell.breakdown?.length > 0;

export const breakdown = {
  id: "breakdown",
  title: "The parts of one message",
  says: "The parts of the time of a message near the median, in their order in time, for the experiment above.",
  isChosen: true,
  has: (data) => data.cells.some(has),
  lacks: () => "no trial was measured in parts",
  rows(context) {
    const cells = chosen(context)
      .filter(({ cell }) => has(cell))
      .sort((a, b) => total(a.cell) - total(b.cell));
    const rows = cells.flatMap(({ cell, name }) => {
      let from = 0;
      return cell.breakdown.map(({ part, ns }) => ({
        cell,
        label: name,
        part,
        ns,
        from,
        to: (from += ns),
        share: ns / total(cell),
      }));
    });
    const columns = columnsOf(
      ["label", "what"],
      ["part", "part"],
      ["ns", "time", time],
      ["share", "share", (value) => `${Math.round(100 * value)} %`],
    );
    const notes = cells.length > MOST ? [`The ${MOST} fastest of ${cells.length} are drawn; the table has all.`] : [];
    notes.push(
      ...cells
        .filter(({ cell }) => cell.coding_absent)
        .map(({ cell, name }) => `${name}: the time for encoding is unknown. ${cell.coding_absent}.`),
    );
    return { rows, columns, notes, absent: "No row of this experiment was measured in parts." };
  },
  draw(rows, context, width) {
    const drawn = new Set([...new Set(rows.map((row) => row.cell.i))].slice(0, MOST));
    const bars = rows.filter((row) => drawn.has(row.cell.i));
    const parts = [...new Set(bars.map((row) => row.part))];
    // The way back has the colours of the way there. No middleware has these colours.
    const kinds = [...new Set(parts.map(kindOf))];
    const colour = (part) => `var(--p${kinds.indexOf(kindOf(part)) % 5})`;
    const most = Math.max(...bars.map((row) => row.to));
    const [short, shared] = differing(bars.filter((row) => !row.cell.is_raw_transport).map((row) => row.label));
    const names = new Map(bars.map((row) => [row.cell.i, short(row.label)]));
    const room = roomFor([...names.values()], width);
    const number = (row) => String(parts.indexOf(row.part) + 1);
    const frame = { width, height: drawn.size * 30 + 50, marginLeft: room, marginRight: 20 };
    const x = {
      domain: [0, most * 1.02],
      tickFormat: time,
      label: null,
      grid: true,
      ticks: Math.max(2, Math.floor((width - room) / 90)),
    };
    const svg = plotted(frame, { x, y: { ...bands([...drawn], names, room), padding: 0.18 } }, [
      Plot.rect(bars, {
        x1: "from",
        x2: "to",
        y: (row) => row.cell.i,
        fill: (row) => colour(row.part),
        stroke: "var(--surface)",
        strokeWidth: 1,
      }),
      // The number of each part, for readers who cannot distinguish the colours.
      Plot.text(
        bars.filter((row) => (row.ns / most) * (width - room) > 14),
        {
          x: (row) => (row.from + row.to) / 2,
          y: (row) => row.cell.i,
          text: number,
          fill: "var(--on-colour)",
          fontWeight: 600,
        },
      ),
      tip({
        data: bars,
        at: { x: (row) => (row.from + row.to) / 2, y: (row) => row.cell.i },
        title: (row) => `${row.label}\n${row.part}: ${time(row.ns)} (${Math.round(100 * row.share)} %)`,
      }),
    ]);
    return {
      svg,
      legend: parts.map((part, index) => ({ name: `${index + 1} ${part}`, colour: colour(part), swatch: true })),
      notes: shared ? [`All of them: ${shared}.`] : [],
    };
  },
};

const kindOf = (part) => part.replace(/^reply |,? back$/g, "");

const total = (cell) => cell.breakdown.reduce((sum, each) => sum + each.ns, 0);

const CLASSES = 6;

export const heatMap = {
  id: "over-time",
  title: "Latency over time within a trial",
  says:
    "Each column is a slice of one trial, each row a band of latency; the stronger its colour, the more " +
    "messages (on a logarithmic scale). Outlined slices were disturbed: other processes used the processors.",
  has: (data) => data.cells.some((cell) => cell.heat),
  lacks: () => "no trial has 100 samples with their instants",
  options(context) {
    const cells = context.cells.filter((cell) => cell.heat);
    return [
      {
        key: "cell",
        label: "Configuration",
        values: cells.map((cell) => [String(cell.i), cell.label]),
        initial: String(cells.find((each) => !each.is_raw_transport)?.i ?? cells[0]?.i),
      },
    ];
  },
  rows(context) {
    const cell = context.cells.find((each) => each.heat && String(each.i) === context.option("cell"));
    if (!cell) return { rows: [], columns: [], absent: "No configuration of this selection kept its samples over time." };
    const { t, edges_ns, n, disturbed = [] } = cell.heat;
    const step = t.length > 1 ? t[1] - t[0] : 1;
    const rows = n
      .flatMap((counts, slice) =>
        counts.map((count, band) => ({
          cell,
          second: t[slice],
          from_s: t[slice] - step / 2,
          to_s: t[slice] + step / 2,
          from_ns: edges_ns[band],
          to_ns: edges_ns[band + 1],
          count,
          disturbed: disturbed.some(([from, to]) => from < t[slice] + step / 2 && to > t[slice] - step / 2) ? "yes" : "no",
        })),
      )
      .filter((row) => row.count > 0);
    const columns = columnsOf(
      ["from_s", "from (s)", plain],
      ["to_s", "to (s)", plain],
      ["from_ns", "latency from", time],
      ["to_ns", "to", time],
      ["count", "messages"],
      ["disturbed", "disturbed"],
    );
    return { rows, columns };
  },
  draw(rows, context, width) {
    const most = Math.max(...rows.map((row) => row.count));
    const shade = (count) => Math.min(CLASSES - 1, Math.floor((Math.log(count) / Math.log(most + 1)) * CLASSES));
    const { disturbed = [] } = rows[0].cell.heat;
    const edges = rows[0].cell.heat.edges_ns;
    const low = Math.min(...rows.map((row) => row.from_ns));
    const high = Math.max(...rows.map((row) => row.to_ns));
    const start = Math.max(low, edges[0], 1);
    const y = logAxis([start, high], time, null, { most: 9, domain: [start, high], grid: false });
    const frame = { width, height: 320, marginLeft: 64, marginRight: 20, marginTop: 26, marginBottom: 46 };
    const svg = plotted(
      frame,
      { x: { label: "seconds since the beginning of the measurement", ticks: width < NARROW ? 5 : 10 }, y },
      [
        Plot.rect(rows, {
          x1: "from_s",
          x2: "to_s",
          y1: (row) => Math.max(row.from_ns, 1),
          y2: "to_ns",
          fill: (row) => `var(--h${shade(row.count)})`,
          inset: 0.3,
        }),
        Plot.rect(disturbed, {
          x1: (each) => each[0],
          x2: (each) => each[1],
          y1: start,
          y2: high,
          stroke: "var(--bad)",
          strokeWidth: 1.6,
          fill: "none",
          strokeDasharray: "4 2",
        }),
        Plot.text(disturbed.slice(0, 8), {
          x: (each) => (each[0] + each[1]) / 2,
          frameAnchor: "top",
          dy: -14,
          text: () => "disturbed",
          fill: "var(--bad)",
        }),
        tip({
          data: rows,
          at: { x: "second", y: (row) => Math.sqrt(Math.max(row.from_ns, 1) * row.to_ns) },
          title: (row) =>
            `${plain(row.from_s)} to ${plain(row.to_s)} s\n${time(row.from_ns)} to ${time(row.to_ns)}: ${row.count}`,
        }),
      ],
    );
    const classes = [...Array(CLASSES).keys()].map((index) => ({
      colour: `var(--h${index})`,
      swatch: true,
      name: `from ${Math.ceil((most + 1) ** (index / CLASSES))}`,
    }));
    // With few messages, several classes begin at the same number, and only the last of them has messages.
    return { svg, legend: classes.filter((each, index) => each.name !== classes[index + 1]?.name) };
  },
};
