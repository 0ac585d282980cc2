// The page: its figures in their sections, what is kept of the selection, and when things are drawn.
import { decision, decisionForm, usualSize } from "./decision.mjs";
import { ecdf, percentileCurve } from "./distribution.mjs";
import { Figure } from "./figure.mjs";
import { filters } from "./filters.mjs";
import { forest } from "./forest.mjs";
import { latencyBySize, timesFloor } from "./latency.mjs";
import { latencyThroughput, offeredReceived } from "./load.mjs";
import { memoryBySize, memoryBySubscribers, processor, switches, throughput } from "./costs.mjs";
import { order } from "./order.mjs";
import { ranges } from "./ranges.mjs";
import { Selection, filtered, indexed } from "./selection.mjs";
import { Styles } from "./style.mjs";
import { element } from "./table.mjs";
import { breakdown, heatMap } from "./time.mjs";
import { answerFigure } from "./answer.mjs";

const PAPER = 700; // CSS pixels: what A4 and Letter have between their margins

function sections(data) {
  const has = (kind) => data.cells.some((each) => each.kind === kind);
  const subscribers = new Set(data.cells.map((each) => each.f.subscribers ?? 1)).size > 1;
  return {
    "answer-figure": [answerFigure(data)],
    "decide-figures": [decision],
    "latency-figures": [
      ...(has("round_trip") || !has("one_way") ? [latencyBySize("round_trip", "round trip")] : []),
      ...(has("one_way") ? [latencyBySize("one_way", "one way")] : []),
      ranges,
      timesFloor,
      percentileCurve,
      ecdf,
      breakdown,
      heatMap,
    ],
    "throughput-figures": [throughput, offeredReceived, latencyThroughput, processor, subscribers ? memoryBySubscribers : memoryBySize, switches],
    "comparison-figures": [forest],
    "experiment-figures": [order],
  };
}

function start() {
  const data = JSON.parse(document.getElementById("data").textContent);
  if (data.cells.length === 0) return; // the page says so without figures
  for (const cell of data.cells) cell.f.run = cell.run; // of several runs it is a factor like any other
  const selection = new Selection(data.factors);
  const indices = indexed(data.cells, data.factors);
  let cells = data.cells;
  const context = { data, selection, styles: new Styles(data.cells), cells: () => cells };

  const figures = [];
  const keep = () => {
    const hash = selection.hash(selection.at);
    try {
      history.replaceState(null, "", hash);
    } catch {
      // some viewers forbid it for files; the links beside the figures have it all the same
    }
    for (const each of figures) each.link.setAttribute("href", selection.hash(each.spec.id));
  };
  for (const [place, specs] of Object.entries(sections(data))) {
    const made = specs.filter((spec) => spec.has?.(data) ?? true).map((spec) => new Figure(spec, context, keep));
    const missing = specs.filter((spec) => !(spec.has?.(data) ?? true)).map((spec) => spec.title);
    const note = missing.length && place !== "answer-figure" ? [element("p", { class: "notes" }, `Nothing was measured for: ${missing.join("; ")}.`)] : [];
    document.getElementById(place).replaceChildren(...made.map((each) => each.node), ...note);
    figures.push(...made);
  }

  const apply = () => {
    cells = filtered(data.cells, indices, selection);
    panel.show(cells.length, data.cells.length);
    for (const each of figures) {
      if (each.spec.isFixed && each.drawnWidth) continue; // what the first screen says does not depend on the filters
      each.markStale();
    }
    for (const each of figures) if (each.isOnScreen()) each.drawIfDue();
    setTimeout(() => figures.forEach((each) => each.drawIfDue())); // those just beyond it after the reader has seen these
    keep();
  };
  const panel = filters(document.getElementById("filters"), data.factors, selection, apply);
  const decided = figures.find((each) => each.spec === decision);
  const form = decisionForm(document.getElementById("decide-form"), selection, usualSize(data), () => {
    decided.markStale();
    decided.drawIfDue(true);
    keep();
  });

  const restore = () => {
    if (!selection.restore(location.hash)) return false;
    form.show();
    apply();
    const at = figures.find((each) => each.spec.id === selection.at);
    if (at) {
      at.drawIfDue(true);
      at.node.scrollIntoView();
      at.node.focus({ preventScroll: true });
    }
    return true;
  };

  watch(figures);
  if (!restore()) {
    form.show();
    apply();
  }
  window.addEventListener("hashchange", restore);
  performance.mark("started");
}

// Draws what comes into sight, again where its width has changed, and everything before it is printed.
function watch(figures) {
  const of = new Map(figures.map((each) => [each.node, each]));
  const sight = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        of.get(target).isSeen = isIntersecting;
        of.get(target).drawIfDue();
      }
    },
    { rootMargin: "200px" },
  );
  const places = new Map(figures.map((each) => [each.plot, each]));
  const width = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const figure = places.get(target);
      if (figure.drawnWidth === 0 || Math.abs(target.clientWidth - figure.drawnWidth) < 2 || isPrinting) continue;
      figure.markStale();
      requestAnimationFrame(() => figure.drawIfDue());
    }
  });
  let isPrinting = false;
  for (const each of figures) {
    sight.observe(each.node);
    width.observe(each.plot);
  }
  window.addEventListener("beforeprint", () => {
    isPrinting = true;
    for (const each of figures) each.draw(PAPER);
  });
  window.addEventListener("afterprint", () => {
    isPrinting = false;
    for (const each of figures) {
      each.markStale();
      each.drawIfDue();
    }
  });
}

start();
