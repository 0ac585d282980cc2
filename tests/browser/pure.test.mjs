// Tests of the report's script without a browser: its decisions and its texts.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { join } from "node:path";
import { installed, root } from "./browser.mjs";

// Bundle the modules like the page's own script: they draw with D3 and Plot, which node finds only in build/npm.
const names = ["choice", "distribution", "selection", "style", "table", "words"];
const modules = names.map((name) => `export * from "./${name}.mjs";`).join("\n");
const { outputFiles: [bundle] } = installed("esbuild").buildSync({
  stdin: { contents: modules, resolveDir: join(root, "src/middlemark/show/html/scripts") },
  nodePaths: [join(root, "build/npm/node_modules")],
  bundle: true,
  format: "esm",
  write: false,
});
const script = await import(`data:text/javascript;base64,${Buffer.from(bundle.contents).toString("base64")}`);
const { Selection, bytes, csv, decide, filtered, indexed, nines, rate } = script;
const { readRate, readSize, readTime, share, signed, time } = script;

let next = 0;
const cell = (size, p99, more = {}, f = {}) => ({
  i: next++,
  run: "r0",
  kind: "round_trip",
  warnings: [],
  latency: { p99 },
  cpu: 0.5,
  rate_hz: 5000,
  loss: 0,
  ...more,
  f: { adapter: "a", transport: "udp", size, rate: "max", subscribers: 1, ...f },
});
const only = (cells, wish) => {
  const rows = decide(cells, { quantile: "p99", ...wish });
  assert.equal(rows.length, 1);
  return rows[0];
};

describe("the report's script", () => {
  it("writes figures with their units, and absent figures as a dash", () => {
    assert.deepEqual([0, 999, 1234, 56_789, 1.5e9, null].map(time), ["0 ns", "999 ns", "1.23 µs", "56.8 µs", "1.5 s", "–"]);
    assert.deepEqual([64, 1024, 1 << 20, undefined].map(bytes), ["64 B", "1 KiB", "1 MiB", "–"]);
    assert.deepEqual([12.5, 40_000].map(rate), ["12.5 /s", "40 k/s"]);
    assert.deepEqual([0, 0.000001, 0.5, 1, null].map(share), ["0 %", "<0.001 %", "50 %", "100 %", "–"]);
    assert.deepEqual([0.123, -0.05, 0, null].map(signed), ["+12.3 %", "−5 %", "0 %", "–"]);
  });

  it("reads sizes, times and rates, and refuses ambiguous texts", () => {
    const sizes = ["", "64", "4k", "1.5 MiB", "1 KB", "-1", "0", "x"].map(readSize);
    assert.deepEqual(sizes, [undefined, 64, 4096, 1572864, null, null, null, null]);
    assert.deepEqual(["500", "2 ms", "50us", "50 μs", "5 h"].map(readTime), [5e5, 2e6, 5e4, 5e4, null]);
    assert.deepEqual(["100", "10k", "1 kHz"].map(readRate), [100, 1e4, 1e3]);
  });

  it("compares the latency measured at this size with the deadline", () => {
    const measured = cell(1024, 40_000);
    const holds = only([measured], { size: 1024, deadline: 50_000 });
    assert.equal(holds.status, "holds");
    assert.ok(Math.abs(holds.margin - 0.2) < 1e-9);
    assert.equal(only([measured], { size: 1024, deadline: 39_999 }).status, "fails");
  });

  it("interpolates on logarithmic axes and marks the value as interpolated", () => {
    const row = only([cell(64, 10_000), cell(1024, 40_000)], { size: 256 });
    assert.ok(Math.abs(row.value - 20_000) < 1e-6);
    assert.deepEqual(row.between, [64, 1024]);
  });

  it("does not extrapolate, and does not interpolate between sizes that are far apart", () => {
    assert.equal(only([cell(64, 1e4), cell(1024, 4e4)], { size: 2048 }).status, "unmeasured");
    assert.equal(only([cell(64, 1e4), cell(1024, 4e4)], { size: 32 }).status, "unmeasured");
    assert.equal(only([cell(64, 1e4), cell(64 * 65, 4e4)], { size: 256 }).status, "unmeasured");
  });

  it("uses a latency for a rate only if it was measured near this rate", () => {
    const slow = cell(1024, 4e4, { offered_hz: 100, rate_hz: 100 }, { rate: 100 });
    assert.equal(only([slow], { size: 1024, rate: 100 }).status, "holds");
    assert.equal(only([slow], { size: 1024, rate: 1000 }).status, "unmeasured");
    const both = [slow, cell(1024, 6e4, { offered_hz: 1500, rate_hz: 1500 }, { rate: 1500 })];
    assert.equal(only(both, { size: 1024, rate: 1000 }).value, 6e4);
    assert.equal(only(both, { size: 1024, rate: 400 }).status, "unmeasured");
  });

  it("rejects a configuration that received less than the offered rate", () => {
    const drowned = cell(1024, 4e4, { offered_hz: 2000, rate_hz: 1500, loss: 0.25 }, { rate: 2000 });
    const row = only([drowned], { size: 1024, rate: 2000 });
    assert.equal(row.status, "fails");
    assert.deepEqual(row.reasons[0], { most: 1500 });
  });

  it("uses the steps of a curve", () => {
    const steps = [
      { offered_hz: 1000, sent_hz: 1000, received_hz: 1000, lost: 0, p99_ns: 2e4 },
      { offered_hz: 4000, sent_hz: 4000, received_hz: 3000, lost: 0.25, p99_ns: 9e5 },
    ];
    const curve = cell(1024, 8e5, { rate_hz: 3000, steps }, { rate: "curve" });
    assert.deepEqual([only([curve], { size: 1024, rate: 1000 })].map(({ status, value }) => [status, value]), [["holds", 2e4]]);
    assert.equal(only([curve], { size: 1024, rate: 4000 }).status, "fails");
  });

  it("treats other numbers of subscribers and failed cells as unmeasured", () => {
    assert.equal(only([cell(64, 1e4)], { size: 64, subscribers: 4 }).status, "unmeasured");
    assert.equal(only([cell(64, null, { failed: { text: "it crashed" } })], { size: 64 }).status, "unmeasured");
  });

  it("compares processor use with the budget, and treats an absent figure as unmeasured", () => {
    assert.equal(only([cell(64, 1e4)], { size: 64, budget: 0.5 }).status, "holds");
    assert.equal(only([cell(64, 1e4)], { size: 64, budget: 0.4 }).status, "fails");
    assert.equal(only([cell(64, 1e4, { cpu: null })], { size: 64, budget: 0.4 }).status, "unmeasured");
  });

  it("rejects a configuration that loses messages, and does not judge a percentile of too few samples", () => {
    assert.equal(only([cell(64, 1e4, { loss: 0.02 })], { size: 64 }).status, "fails");
    assert.equal(only([cell(64, null)], { size: 64, deadline: 1e6 }).status, "unmeasured");
  });

  it("judges by the highest percentile with enough samples if the requested percentile has too few", () => {
    const row = only([cell(64, null, { latency: { p50: 1e4, p90: 2e4, p99: null } })], { size: 64, deadline: 3e4 });
    assert.deepEqual([row.status, row.value, row.quantile], ["holds", 2e4, "p90"]);
    assert.equal(only([cell(64, 4e4)], { size: 64 }).quantile, "p99");
  });

  it("shows the latency of one message at a time, without a verdict, if nothing was measured near the rate", () => {
    const row = only([cell(64, 1e4)], { size: 64, rate: 100 });
    assert.deepEqual([row.status, row.value, row.meanwhile], ["unmeasured", null, 1e4]);
  });

  it("leaves out the parts that all names share, and shortens long names in the middle", () => {
    const [short, shared] = script.differing(["a udp · block, 1 process", "b udp · block, 2 processes · monday"]);
    const shortened = [short("a udp · block, 1 process"), short("b udp · block, 2 processes · monday"), shared];
    assert.deepEqual(shortened, ["a udp · 1 process", "b udp · 2 processes, monday", "block"]);
    const cut = ["first-name-of-many · depth 1", "first-name-of-many · depth 2"].map((each) => script.fitted(each, 100));
    assert.notEqual(cut[0], cut[1]);
  });

  it("lists configurations that meet the requirements first, the fastest of them at the top", () => {
    const cells = [cell(64, 3e4), cell(64, 1e4, {}, { adapter: "b" }), cell(64, 9e4, {}, { adapter: "c" })];
    const rows = decide(cells, { size: 64, quantile: "p99", deadline: 5e4 });
    assert.deepEqual(rows.map(({ status, value }) => [status, value]), [["holds", 1e4], ["holds", 3e4], ["fails", 9e4]]);
  });

  it("stores a selection in the address and restores it", () => {
    const factors = [{ name: "size", levels: [64, 1024, 4096] }, { name: "adapter", levels: ["a&b=c", "#"] }];
    const selection = new Selection(factors);
    selection.choose("size", [2, 0]);
    selection.choose("adapter", [1]);
    selection.options.set("latency.figure", "p99 & more");
    const other = new Selection(factors);
    assert.equal(other.restore(selection.hash("latency-by-size")), true);
    assert.deepEqual([...other.levels.get("size")], [0, 2]);
    assert.equal(other.options.get("latency.figure"), "p99 & more");
    assert.equal(other.at, "latency-by-size");
    assert.equal(other.restore("#experiment"), false);
  });

  it("treats a choice of no level or of every level as no filter", () => {
    const selection = new Selection([{ name: "size", levels: [64, 1024] }]);
    for (const chosen of [[], [0, 1], [7, -1]]) {
      selection.choose("size", chosen);
      assert.equal(selection.levels.size, 0);
    }
  });

  it("keeps the raw transports when adapters are filtered, but filters them by size", () => {
    const factors = [{ name: "adapter", levels: ["a", "udp"] }, { name: "size", levels: [64, 1024] }];
    const cells = [
      { f: { adapter: "a", size: 64 } },
      { f: { adapter: "udp", size: 64 }, is_raw_transport: true },
      { f: { adapter: "udp", size: 1024 }, is_raw_transport: true },
    ];
    const selection = new Selection(factors);
    selection.choose("adapter", [0]);
    assert.equal(filtered(cells, indexed(cells, factors), selection).length, 3);
    selection.choose("size", [0]);
    assert.equal(filtered(cells, indexed(cells, factors), selection).length, 2);
  });

  it("quotes CSV, leaves absent figures empty, and prevents names from becoming formulas", () => {
    const columns = [{ name: "what" }, { name: "p50_ns" }];
    const rows = [{ what: 'a "b", c', p50_ns: 1.5 }, { what: "=1+1", p50_ns: null }];
    assert.equal(csv(columns, rows), 'what,p50_ns\r\n"a ""b"", c",1.5\r\n\'=1+1,\r\n');
  });

  it("spaces a percentile curve by nines, with the maximum at the end", () => {
    const points = nines([[0, 1], [90, 2], [99, 3], [100, 9]]);
    assert.deepEqual(points.map(([x, ns]) => [Number(x.toFixed(3)), ns]), [[0, 1], [1, 2], [2, 3], [2.333, 9]]);
  });
});
