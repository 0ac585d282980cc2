// The report in a real browser, from disk.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { drawAll, ids, installed, launch, marks, open, pages, pictures, reads } from "./browser.mjs";

const HOSTILE = "<script>document.title='pwned'</script><img src=x onerror=alert(1)>";
const AXE = readFileSync(installed.resolve("axe-core/axe.min.js"), "utf8");

let browser;
let made;

const on = async (name, options, body) => {
  const opened = await open(browser, join(made.folder, `${name}.html`), options);
  try {
    await body(opened);
  } finally {
    await opened.close();
  }
};

// Returns axe-core's findings in the page, in words.
async function violations(page) {
  await page.evaluate(AXE);
  const { violations, passes } = await page.evaluate(() => window.axe.run({ resultTypes: ["violations", "passes"] }));
  assert.ok(passes.some((each) => each.id === "color-contrast"));
  return violations.map(
    (each) =>
      `${each.id}: ${each.nodes
        .map((node) => node.html)
        .slice(0, 3)
        .join(" ")}`,
  );
}

// Opens a filter, ticks one level and closes it again.
async function filter(page, factor, level) {
  const panel = page.locator("#filters details", { has: page.locator(`legend:text-is("${factor}")`) });
  await panel.locator("summary").click();
  await panel.getByLabel(level, { exact: true }).click();
  await page.keyboard.press("Escape");
}

describe("the report in a browser", { concurrency: 2 }, () => {
  before(async () => {
    made = pages();
    browser = await launch();
  });

  after(async () => {
    await browser?.close();
    made?.remove();
  });

  it("draws marks in every figure, and names the figures that it leaves out with the reason", () =>
    on("small", {}, async ({ page, complaints }) => {
      await drawAll(page);
      for (const [id, number] of Object.entries(await marks(page))) assert.ok(number > 1, `${id} has ${number} marks`);
      assert.equal((await ids(page)).length, 19);
      assert.equal(await page.locator("#missing").innerText(), "");
      assert.deepEqual(complaints, []);
    }));

  it("draws no figure that would have only one column of points, and no section without data", () =>
    on("tie", {}, async ({ page, complaints }) => {
      await drawAll(page);
      assert.deepEqual(await ids(page), ["decision", "forest", "latency-at-a-size", "order"]);
      await reads(page.locator("#missing"), /^Not drawn: .*Latency: round trip, .* \(a line needs several sizes, rates .*\)/);
      await reads(page.locator("#missing"), /Offered against received, Latency as the load rises \(no row is a stream/);
      assert.deepEqual(await page.locator("nav a").allInnerTexts(), [
        "Decide",
        "Comparisons",
        "All figures",
        "The experiment",
      ]);
      assert.deepEqual(await page.locator("#filters legend").allTextContents(), ["middleware"]);
      assert.deepEqual(complaints, []);
    }));

  const first = ["h1", "#winner .name", "#winner .figure", "#verdict", ".bars tbody tr:last-child"];
  for (const [width, height, places] of [
    [1280, 800, [...first, "#wins tbody", "#actions"]],
    [400, 860, first],
  ]) {
    it(`answers on its first screen, ${width} pixels wide`, () =>
      on("first", { width, height }, async ({ page }) => {
        for (const place of places) {
          const box = await page.locator(place).first().boundingBox();
          assert.ok(box.y >= 0 && box.y + box.height <= height, `${place} ends at ${box.y + box.height}`);
        }
        await reads(page.locator("h1"), /^Which middleware for 16.B to 64.KiB round trips\?$/);
        await reads(page.locator("#winner .name"), /^lyra shm$/);
        await reads(page.locator("#winner .figure"), /^8\.\d\d µs round trip\s+·\s+1\.\d\d × baseline$/);
        await reads(
          page.locator("#verdict"),
          /^significant The other 2 are slower\. deneb udp, the next, takes \d+ % longer\.$/,
        );
      }));
  }

  // For each kind of first screen: the question, the headline, the mark with its sentence, and the standings of its
  // bars.
  const screens = {
    race: [
      "Which middleware for 1 KiB messages at 1 kHz between two processes?",
      "lyra shm",
      /^significant Sure: vega shm, the next, takes 6\d % longer \(\d+ rounds\)\.$/,
      ["best", "significantly slower", /^eliminated after \d rounds$/, /^eliminated after \d rounds$/],
    ],
    tie: [
      "Which middleware for 64 B round trips between two processes?",
      "lyra udp and vega udp tie",
      /^tie A tie with vega udp, within 5 %; the other is slower\.$/,
      ["equivalent", "within 5 %", "significantly slower"],
    ],
    security: [
      "What does security cost for 64 B round trips between two processes?",
      "lyra udp",
      /^significant The other is slower\. vega udp, the next, takes 35 % longer\.$/,
      ["best", "significantly slower"],
    ],
    links: [
      "Which middleware for 64 B messages at 100 Hz between two processes over 3 links?",
      "lyra udp",
      /^significant The other is slower\./,
      ["best", "significantly slower"],
    ],
    imported: [
      "How fast is cyclonedds (ddsperf), measured by ddsperf?",
      "cyclonedds (ddsperf)",
      /^only candidate No other candidate was measured\.$/,
      ["only"],
    ],
    single: [
      "How fast is lyra udp for 64 B round trips between two processes?",
      "lyra udp",
      /^only candidate No other candidate was measured\.$/,
      ["only"],
    ],
  };
  for (const [name, [question, headline, verdict, standings]] of Object.entries(screens)) {
    it(`begins with the question and the answer: ${name}`, () =>
      on(name, {}, async ({ page, complaints }) => {
        assert.equal((await page.locator("h1").innerText()).replaceAll("\u00a0", " "), question);
        await reads(page.locator("#winner .name"), new RegExp(`^${headline.replace(/[()]/g, "\\$&")}$`));
        await reads(page.locator("#verdict"), verdict);
        const texts = await page.locator(".bars td.standing").allInnerTexts();
        assert.equal(texts.length, standings.length);
        standings.forEach((each, at) => assert.match(texts[at], each instanceof RegExp ? each : new RegExp(`^${each}$`)));
        assert.equal(await page.locator(".bars .bar").count(), standings.length);
        assert.deepEqual(complaints, []);
      }));
    it(`fits into 360 pixels, and axe-core finds nothing on the first screen: ${name}`, () =>
      on(name, { width: 360, scheme: "dark" }, async ({ page }) => {
        await page.locator(".bars tbody tr").first().waitFor();
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
        assert.deepEqual(await violations(page), []);
      }));
  }

  it("draws the baseline as a line through every bar, on the same scale", () =>
    on("tie", {}, async ({ page }) => {
      await reads(page.locator("#bars .line"), /baseline: udp 15\.0 µs$/);
      const widths = await page
        .locator(".bars .bar")
        .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().width));
      const line = await page
        .locator(".track")
        .first()
        .evaluate((track) => {
          return parseFloat(getComputedStyle(track, "::after").left) - parseFloat(getComputedStyle(track).paddingLeft);
        });
      assert.ok(Math.abs(widths[0] / line - 20 / 15) < 0.02, `${widths[0]} to ${line}`);
      assert.ok(Math.abs(widths[2] / widths[0] - 31 / 20) < 0.02);
    }));

  it("cuts off a bar that would make the others too short, and explains this", () =>
    on("race", {}, async ({ page }) => {
      assert.equal(await page.locator(".bar.cut").count(), 1);
      await reads(page.locator("#bars"), /Bars that fade are longer than 8 times the shortest/);
    }));

  it("gives a middleware one colour in the bars, the matrix and the figures", () =>
    on("race", {}, async ({ page }) => {
      await drawAll(page);
      const colour = (place, name) => place.evaluate((node, name) => node.getAttribute(name), name);
      const bar = /var\(--c\d+\)/.exec(await colour(page.locator(".bar").first(), "style"))[0];
      assert.ok((await colour(page.locator("#winner .name i"), "style")).includes(bar));
      const lines = await page
        .locator("#distribution-of-trials svg path[stroke]")
        .evaluateAll((all) => all.map((each) => each.getAttribute("stroke")));
      assert.ok(lines.includes(bar), `${bar} of ${lines}`);
    }));

  it("shows the winners in a matrix, and the experiment of the selected cell", () =>
    on("first", {}, async ({ page }) => {
      const before = await page.locator("#winner").innerText();
      const cells = page.locator("#wins > .wins tbody button");
      assert.equal(await cells.count(), 6);
      for (const each of await cells.allInnerTexts()) assert.match(each, /^(\S+( \S+)? [✓?]|tie of \d =)$/);
      assert.deepEqual(await page.locator("#wins > .wins thead th").allInnerTexts(), [
        "Who wins where",
        "16 B",
        "1 KiB",
        "64 KiB",
      ]);
      await page.locator("#wins > .wins tbody button[aria-pressed=false]").first().focus();
      await page.keyboard.press("Enter");
      assert.notEqual(await page.locator("#winner").innerText(), before);
      assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-pressed")), "true");
      await page.locator("#wins").getByRole("button", { name: "p99" }).click();
      await reads(page.locator("#winner .figure"), /p99 round trip/);
      await page.locator("#wins summary").click();
      assert.ok((await page.locator("#wins details tbody button").count()) > 3);
    }));

  it("lists the links as columns of the matrix", () =>
    on("links", {}, async ({ page }) => {
      const heads = await page.locator("#wins > .wins thead th").allInnerTexts();
      assert.deepEqual(heads, ["Who wins where", "link 1gbit,1ms", "link 100mbit,5ms", "link 10mbit,20ms"]);
      assert.deepEqual(await page.locator("#wins > .wins tbody button").allInnerTexts(), ["lyra ✓", "lyra ✓", "vega ?"]);
    }));

  it("begins with the cost of security", () =>
    on("security", {}, async ({ page }) => {
      await reads(page.locator("#security .name"), /^encrypted takes 2\.10 .* times .* as long as none; signed 1\.40\.$/);
      assert.equal(await page.locator("#security tbody tr").count(), 6);
    }));

  it("copies settings, the command, and the command that decides an undecided verdict", () =>
    on("small", {}, async ({ page }) => {
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      const copied = async (name) => {
        await page.getByRole("button", { name }).click();
        await reads(page.locator(".copier", { has: page.getByRole("button", { name }) }).locator("output"), /^copied$/);
        return page.evaluate(() => window.navigator.clipboard.readText());
      };
      const settings = "<!-- Eclipse Cyclone DDS 0.10.2: transport udp, block, reliable -->\n<CycloneDDS/>\n";
      assert.equal(await copied("copy settings"), settings);
      assert.equal(await copied("copy command"), "middlemark run first-look --seed 1");
      await page.locator("#wins > .wins tbody button", { hasText: "?" }).first().click();
      const decides = "middlemark run first-look --only size=1MiB --trials 24";
      assert.equal(await copied("copy the command that decides it (62 s)"), decides);
    }));

  it("makes a picture to share: SVG and PNG of 1200 × 630 with question, bars, verdict, machine and version", () =>
    on("first", {}, async ({ page }) => {
      await page.locator(".share summary").click();
      const saved = async (name) => {
        const [download] = await Promise.all([
          page.waitForEvent("download"),
          page.getByRole("button", { name, exact: true }).first().click(),
        ]);
        return readFileSync(await download.path());
      };
      const svg = (await saved("SVG")).toString();
      assert.match(svg, /^<svg [^>]*width="1200" height="630"/);
      for (const text of [
        "Which middleware for 16 B to 64 KiB",
        "lyra shm",
        "significant · The other 2 are slower",
        "A processor, 2 processors",
        "middlemark 0.2",
      ])
        assert.ok(svg.includes(text), text);
      assert.ok(svg.match(/<rect/g).length >= 4);
      assert.doesNotMatch(svg, /var\(--/);
      const png = await saved("PNG");
      assert.deepEqual([png.toString("latin1", 1, 4), png.readUInt32BE(16), png.readUInt32BE(20)], ["PNG", 1200, 630]);
      assert.ok(png.length > 20_000, `${png.length} bytes are an empty picture`);
    }));

  it("begins with the changes between two runs", () =>
    on("two", {}, async ({ page }) => {
      assert.equal((await ids(page))[0], "changes");
      await page.locator("#changes summary").click();
      await reads(page.locator("#changes tbody"), /slower/);
    }));

  it("scrolls to the target of each link", () =>
    on("small", {}, async ({ page }) => {
      const landed = (on, selector, from, until) =>
        on.waitForFunction(
          ([selector, from, until]) => {
            const { top } = document.querySelector(selector).getBoundingClientRect();
            return top >= from && top < until;
          },
          [selector, from, until],
        );
      const bar = await page.locator("#filters").evaluate((node) => node.offsetHeight);
      for (const place of ["cost", "decide", "comparisons", "time"]) {
        await page.evaluate(() => window.scrollTo(0, 0));
        await page.locator(`nav a[href="#${place}"]`).click();
        await page.waitForTimeout(400); // enough for figures that are drawn later to move the section
        await landed(page, `#${place}`, 0, bar + 60);
      }
      await on("small", { hash: "#at=percentile-curve" }, async ({ page: other }) => {
        await other.waitForTimeout(400);
        await landed(other, "#percentile-curve", 0, bar + 40);
      });
    }));

  it("gives each panel its own axis, and shows different names differently", () =>
    on("small", {}, async ({ page }) => {
      await drawAll(page);
      await page.locator("#throughput-by-size").getByLabel("Panels by").selectOption("transport");
      const panels = page.locator("#throughput-by-size .plot > svg > svg");
      assert.ok((await panels.count()) > 1);
      const label = "g[data-marks='y-axis tick label']";
      const ticks = await panels.evaluateAll(
        (all, label) => all.map((each) => each.querySelector(label)?.textContent),
        label,
      );
      assert.equal(new Set(ticks).size, ticks.length);
      const names = await page.locator("#latency-at-a-size .plot g[data-marks='y-axis tick label'] text").allTextContents();
      assert.equal(new Set(names).size, names.length);
    }));

  it("offers every numeric factor with several levels as the axis of a figure", () =>
    on("small", {}, async ({ page, complaints }) => {
      await drawAll(page);
      const figure = page.locator("#throughput-by-size");
      assert.equal(await figure.getByLabel("Along").inputValue(), "size");
      await figure.getByLabel("Along").selectOption("subscribers");
      await figure.locator("summary").click();
      await figure.locator("tbody tr").first().waitFor();
      const rows = await figure.locator("tbody tr").allInnerTexts();
      assert.deepEqual([...new Set(rows.map((each) => each.split("\t")[1]))].sort(), ["1", "4"]);
      assert.equal(await page.locator("#memory").getByLabel("Along").inputValue(), "subscribers");
      assert.deepEqual(complaints, []);
    }));

  it("changes every figure by a filter, and restores it without the filter", () =>
    on("small", {}, async ({ page }) => {
      await page.getByLabel("Transports").selectOption("all");
      const fixed = ["breakdown", "distribution-of-trials", "cost-of-each"]; // show the first screen's experiment only
      // over-time shows a single cell.
      const filtered = (await ids(page)).filter((id) => !fixed.includes(id) && id !== "over-time");
      await drawAll(page);
      const [whole, before] = [await pictures(page), await marks(page)];
      await filter(page, "adapter", "fastdds");
      await reads(page.locator("#filters output"), /^18 of 24 configurations$/); // with the raw transports
      await drawAll(page);
      const part = await pictures(page);
      for (const id of filtered) assert.ok(part[id] !== whole[id], id); // notEqual would print both pictures
      for (const id of fixed) assert.equal(part[id], whole[id]);
      assert.ok((await marks(page))["latency-by-size"] < before["latency-by-size"]);
      await page.getByRole("button", { name: "Show all" }).click();
      await drawAll(page);
      const again = await pictures(page);
      for (const id of filtered) assert.ok(again[id] === whole[id], id);
    }));

  it("restores filters, options and typed values from a link", () =>
    on("small", {}, async ({ page }) => {
      await filter(page, "adapter", "cyclonedds");
      await page.getByLabel("Deadline", { exact: true }).fill("60 µs");
      await drawAll(page);
      await page.locator("#latency-by-size").getByLabel("Figure").selectOption("p99");
      const link = await page.locator("#latency-by-size .link").getAttribute("href");
      const expected = (await pictures(page))["latency-by-size"];
      await on("small", { hash: link }, async ({ page: other }) => {
        await other.waitForSelector("#latency-by-size svg");
        assert.equal(await other.locator("#filters output").innerText(), await page.locator("#filters output").innerText());
        assert.equal(await other.locator("#latency-by-size").getByLabel("Figure").inputValue(), "p99");
        assert.equal(await other.getByLabel("Deadline", { exact: true }).inputValue(), "60 µs");
        assert.equal((await pictures(other))["latency-by-size"], expected);
        assert.equal(await other.evaluate(() => document.activeElement.id), "latency-by-size");
      });
    }));

  it("ignores a link with unknown contents", () =>
    on("small", { hash: "#at=nowhere&f.size=99-x&f.colour=1&o.=&f.adapter=" }, async ({ page, complaints }) => {
      await reads(page.locator("#filters output"), /^16 of 24 configurations$/); // each adapter's best transport
      assert.deepEqual(complaints, []);
    }));

  it("lists the configurations that meet a requirement, that miss it, and that were not measured near it", () =>
    on("small", {}, async ({ page }) => {
      const notes = page.locator("#decision .notes");
      await page.getByLabel("Transports").selectOption("all");
      await page.getByLabel("Message size").fill("4 KiB");
      await page.getByLabel("Deadline", { exact: true }).fill("70");
      await page.locator("#decision").scrollIntoViewIfNeeded();
      await reads(notes, /4 KiB, 1 subscriber, p99 within 70 µs: 1 hold, 2 do not, 0 were never measured/);
      await page.locator("#decision summary").click();
      await reads(page.locator("#decision table"), /interpolated between 1 KiB and 64 KiB/);
      await page.getByLabel("Message size").fill("8 MiB");
      await reads(
        notes,
        /0 hold, 0 do not, 3 were never measured .*: middlemark run --adapter cyclonedds,fastdds --size 8388608 --trials 10/,
      );
      await page.getByLabel("Message size").fill("1 KiB");
      await page.getByLabel("Messages a second").fill("100");
      await reads(notes, /3 were never measured .*: middlemark which --size 1024 --rate 100 --deadline 70000ns/);
      await reads(page.locator("#decision table"), /one at a time/); // the figures shown if none was measured near the rate
      await page.getByLabel("Message size").fill("huge");
      await reads(page.locator("#decide-size-problem"), /a size like/);
      assert.equal(await page.getByLabel("Message size").getAttribute("aria-invalid"), "true");
      await reads(page.locator("#decision .plot"), /Message size cannot be read: write a size like/);
      for (const name of [/^CSV/, /^SVG/]) {
        assert.equal(await page.locator("#decision").getByRole("button", { name }).isDisabled(), true);
      }
    }));

  it("gives each figure's table, CSV and SVG", () =>
    on("small", {}, async ({ page }) => {
      await drawAll(page);
      for (const id of await ids(page)) {
        const figure = page.locator(`[id="${id}"]`);
        await page.waitForTimeout(250); // Chromium silently drops downloads beyond some ten a second
        await figure.locator("summary").click();
        await figure.locator("tbody tr").first().waitFor();
        const rows = await figure.locator("tbody tr").count();
        const saved = async (name) => {
          const [download] = await Promise.all([
            page.waitForEvent("download"),
            figure.getByRole("button", { name }).click(),
          ]);
          return { name: download.suggestedFilename(), text: readFileSync(await download.path(), "utf8") };
        };
        const table = await saved(/^CSV/);
        assert.equal(table.name, `${id}.csv`);
        assert.equal(table.text.trim().split("\r\n").length, rows + 1, id);
        const picture = await saved(/^SVG/);
        assert.equal(picture.name, `${id}.svg`);
        assert.doesNotMatch(picture.text, /var\(--/);
        const error = await page.evaluate((text) => {
          return new window.DOMParser().parseFromString(text, "image/svg+xml").querySelector("parsererror");
        }, picture.text);
        assert.equal(error, null, id);
      }
    }));

  it("requests no other address, and the browser would refuse a request", () =>
    on("hostile", {}, async ({ page, requests }) => {
      await drawAll(page);
      assert.deepEqual(
        requests.filter((each) => !/^(file|blob|data):/.test(each)),
        [],
      );
      assert.equal(requests.filter((each) => each.startsWith("file:")).length, 1);
      const refused = await page.evaluate(async () => {
        const asked = await fetch("http://127.0.0.1:9/").then(
          () => "answered",
          () => "refused",
        );
        const image = await new Promise((settle) => {
          document.addEventListener("securitypolicyviolation", (event) => {
            if (event.effectiveDirective === "img-src") settle("img-src");
          });
          new window.Image().src = "http://127.0.0.1:9/x.png";
        });
        return [asked, image];
      });
      assert.deepEqual(refused, ["refused", "img-src"]);
    }));

  it("shows names and notes as text, never as markup", () =>
    on("hostile", {}, async ({ page, complaints }) => {
      await drawAll(page);
      for (const each of await page.locator("summary:not(#all > summary)").all())
        if (await each.isVisible()) await each.click();
      assert.equal(await page.title(), HOSTILE);
      assert.equal(await page.locator("h1").innerText(), HOSTILE);
      assert.equal(await page.locator("img").count(), 0);
      assert.equal(await page.locator("script").count(), 2);
      assert.ok((await page.locator("#latency-by-size").innerText()).includes("<script>"));
      assert.deepEqual(complaints, []);
    }));

  it("shows why every trial failed, and the advice", () =>
    on("failed", {}, async ({ page, complaints }) => {
      await reads(page.locator(".hero .name"), /^Nothing was measured: every trial failed$/);
      const whys = await page.locator(".hero li").allInnerTexts();
      assert.deepEqual(whys, [
        "deneb udp · 64 B: the worker crashed with signal 11",
        "lyra udp · 64 B, vega udp · 64 B, udp · 64 B: the workers did not match within 10 s → try --match-timeout 30s",
      ]);
      assert.equal(await page.locator("#decide, .bars, #filters:visible").count(), 0);
      assert.deepEqual(await violations(page), []);
      assert.deepEqual(complaints, []);
    }));

  for (const name of ["failed", "empty"]) {
    it(`explains why a run is ${name}`, () =>
      on(name, {}, async ({ page, complaints }) => {
        const shown = await page.locator("main").innerText();
        assert.match(shown, /interrupted: only the trials until then are shown/);
        assert.match(shown, /every trial failed|No trial ended/);
        assert.doesNotMatch(shown, /undefined|NaN|null|\[object/);
        assert.deepEqual(complaints, []);
      }));
  }

  it("names what contradicts itself in a pasted log, and lists a row of unknown size", () =>
    on("pasted", {}, async ({ page, complaints }) => {
      for (const each of await page.locator("details:not([open]) > summary:visible").all()) await each.click();
      const shown = (await page.locator("main").innerText()).replaceAll("\u00a0", " ");
      assert.match(shown, /count × median is 0\.49 s of each second, as for halves; it is read as halves/);
      assert.match(shown, /cyclonedds \(RoundtripPing\)[^\n]*size unknown/);
      assert.doesNotMatch(shown, /undefined|NaN|null|\[object/);
      assert.deepEqual(complaints, []);
    }));

  it("shows and filters a thousand cells", () =>
    on("large", {}, async ({ page, complaints }) => {
      await drawAll(page);
      await filter(page, "adapter", "zenoh");
      await reads(page.locator("#filters output"), /^200 of 1000 configurations$/); // including the raw transport's 100
      assert.deepEqual(complaints, []);
    }));

  it("shows two runs separately, and filters by run", () =>
    on("two", {}, async ({ page }) => {
      assert.equal(await page.locator("#answer .machine b").count(), 2);
      await drawAll(page); // otherwise a figure that is drawn now may move the filter before the click
      await filter(page, "run", "tuesday");
      await reads(page.locator("#filters output"), /^16 of 48 configurations$/);
      await page.locator("#latency-by-size summary").click();
      await page.locator("#latency-by-size tbody th").first().waitFor();
      for (const name of await page.locator("#latency-by-size tbody th").allInnerTexts()) assert.match(name, /tuesday/);
    }));

  it("has no control that the keyboard cannot reach", () =>
    on("small", {}, async ({ page }) => {
      await drawAll(page);
      const reachable = await page.evaluate(() => {
        const all = [
          ...document.querySelectorAll("a[href], button:not(:disabled), select, input, summary, [tabindex='0']"),
        ];
        const visible = all.filter((each) => each.checkVisibility());
        visible.forEach((each, index) => {
          each.dataset.place = index;
        });
        return visible.length;
      });
      const reached = new Set();
      for (let step = 0; step < reachable + 5; step++) {
        await page.keyboard.press("Tab");
        reached.add(await page.evaluate(() => document.activeElement.dataset.place));
      }
      reached.delete(undefined);
      assert.ok(reachable > 60);
      assert.equal(reached.size, reachable);
    }));

  it("can be filtered with the keyboard alone", () =>
    on("small", {}, async ({ page }) => {
      await page.locator("#filters summary").first().focus();
      for (const key of ["Enter", "Tab", "Space"]) await page.keyboard.press(key);
      await reads(page.locator("#filters output"), /^\d+ of 24 configurations$/);
      await page.keyboard.press("Escape");
      assert.equal(await page.evaluate(() => document.activeElement.localName), "summary");
    }));

  for (const [scheme, width] of [
    ["light", 1280],
    ["dark", 400],
  ]) {
    it(`fits its width, and axe-core finds nothing: ${scheme}, ${width} pixels wide`, () =>
      on("small", { scheme, width }, async ({ page }) => {
        await drawAll(page);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
        for (const each of ["#decision summary", "#forest summary", "article > details > summary"]) {
          await page.locator(each).first().click();
        }
        await page.locator("#filters summary").first().click();
        await page.getByLabel("Message size").fill("huge");
        assert.deepEqual(await violations(page), []);
      }));
  }

  it("draws a workload as a graph for each middleware, with its verdict and the edge that fails first", () =>
    on("robot", {}, async ({ page, complaints }) => {
      await reads(page.locator("#winner .name"), /^lyra shm, lyra udp and vega udp hold$/);
      await reads(page.locator("#winner .figure"), /^3 of 4 hold at scale 1$/);
      assert.equal(await page.locator(".robot svg").count(), 3);
      assert.deepEqual(await page.locator(".robot").first().locator("svg text").allTextContents(), [
        "camera",
        "detector",
        "recorder",
        "planner",
      ]);
      const colours = (at) =>
        page
          .locator(".robot")
          .nth(at)
          .locator("path")
          .evaluateAll((all) => all.map((each) => each.getAttribute("stroke")));
      assert.deepEqual([...new Set(await colours(0))].sort(), ["var(--quiet)", "var(--share-0)"]);
      await page.locator("#robot-0").getByRole("button", { name: "scale 4" }).click();
      await reads(page.locator("#winner .name"), /^lyra shm holds$/);
      assert.ok((await colours(2)).includes("var(--share-2)"));
      await reads(page.locator(".robot").nth(2), /^vega udp fails\s[^]*fails first: image → detector$/);
      await reads(page.locator(".bars tr", { hasText: "vega udp" }), /does not hold: image → detector/);
      assert.equal(await page.evaluate(() => document.activeElement.innerText), "scale 4");
      const link = await page.evaluate(() => location.hash);
      await on("robot", { hash: link }, ({ page: other }) => reads(other.locator("#winner .name"), /^lyra shm holds$/));
      assert.deepEqual(complaints, []);
    }));

  it("shows the loads of a workload as a table, with details of every edge, chain and node", () =>
    on("robot", {}, async ({ page, complaints }) => {
      await drawAll(page);
      await reads(page.locator("#verdict"), /robot: holds over all 3 at scale 1; .* not over vega udp \([^)]*\); .*\.$/);
      const table = page.locator(".workload table").first();
      assert.deepEqual(await table.locator("thead th").allInnerTexts(), ["over", "scale 1", "scale 2", "scale 4"]);
      assert.deepEqual(await table.locator("tbody th").allInnerTexts(), [
        "shm (raw transport)",
        "udp (raw transport)",
        "lyra shm",
        "lyra udp",
        "vega udp",
        "deneb udp",
      ]);
      await reads(
        table.locator("tbody tr").nth(4).locator("td").nth(1),
        /^✗ fails\s+1\.2\d? × deadline · .* processors · 60\.0 MB\s+first: image → detector$/,
      );
      await reads(table.locator("tbody tr").nth(5), /failed\s+–\s+–$/);
      await page.locator(".workload summary").first().click();
      await page.locator(".workload details details summary").first().click();
      await reads(page.locator(".workload details details").first(), /image → found → planner \(end to end\)/);
      await reads(page.locator(".workload details details").first(), /camera \(in perception\): .* processors/);
      assert.deepEqual(complaints, []);
    }));

  for (const [scheme, width] of [
    ["light", 1280],
    ["dark", 400],
  ]) {
    it(`shows workloads within the width, and axe-core finds nothing: ${scheme}, ${width} pixels wide`, () =>
      on("robot", { scheme, width }, async ({ page }) => {
        await drawAll(page);
        for (const each of [".workload summary", ".workload details details summary"])
          await page.locator(each).first().click();
        const wide = page.locator(".workload .wide");
        for (let at = 0; at < 2; at++) {
          const box = await wide.nth(at).boundingBox();
          assert.ok(box.height > 0 && box.x >= 0 && box.x + box.width <= width, `table ${at} ends at ${box.x + box.width}`);
        }
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
        assert.deepEqual(await violations(page), []);
      }));
  }

  it("shows the protection of a row, and its proofs", () =>
    on("small", {}, async ({ page }) => {
      assert.equal(await page.locator("#protection + ul li").count(), 1);
      await reads(
        page.locator("#protection + ul li"),
        /: TLSv1\.3: TLS_AES_256_GCM_SHA384\. PAYLOAD SEEN, stranger refused; permissions: there are none$/,
      );
    }));

  it("prints every figure on white, also figures that were never scrolled into view", () =>
    on("small", { scheme: "dark" }, async ({ page }) => {
      assert.ok(Object.values(await marks(page)).some((number) => number === 0));
      await page.evaluate(() => {
        const count = () => {
          const figures = [...document.querySelectorAll("figure")].filter((each) => each.querySelector(".plot svg"));
          document.body.dataset.printed = String(figures.length);
        };
        window.addEventListener("afterprint", count, { capture: true });
      });
      assert.ok((await page.pdf({ format: "A4" })).length > 50_000);
      assert.equal(await page.evaluate(() => document.body.dataset.printed), "19");
      await page.emulateMedia({ media: "print", colorScheme: "dark" });
      const surface = await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--surface"));
      assert.equal(surface.trim(), "#fff");
    }));
});
