// Opens HTML reports in Chromium and checks what a reader meets: nothing is fetched, no text of a
// stream executes, filters, links, search and keyboard work, without the script everything is
// readable, nothing is missing on paper, and axe-core finds no violation.
//
//   npm install --prefix /tmp/page playwright-core axe-core
//   NODE_PATH=/tmp/page/node_modules node tests/page/check.mjs REPORT.html...
//
// CHROMIUM names the browser [default: /usr/bin/chromium]. Pages in the folder of an index are
// checked, too. Prints one line for each page that fails, and the sum.
//
// Last run, with Playwright and axe-core of November 2026: the pages of 165 recordings, their index,
// a page of 134 MB of calls and five invented streams: 0 failures. It takes seconds for each page.

import { createRequire } from "node:module";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(join(process.env.NODE_PATH ?? ".", "page.cjs"));
const { chromium } = require("playwright-core");
const axe = require("axe-core").source;

const failures = [];
const counts = { pages: 0, links: 0, filtered: 0, searched: 0, keys: 0, printed: 0 };

function fail(file, what) {
  failures.push(`${file}: ${what}`);
  console.log(failures.at(-1));
}

/// The reports, and the pages in their folders.
function pages(reports) {
  return reports.flatMap((report) => {
    const folder = report.replace(/\.html$/, ".pages");
    const more = existsSync(folder) ? readdirSync(folder).sort() : [];
    return [report, ...more.map((name) => join(folder, name))];
  });
}

/// A page that notes each request, script and message.
async function open(context, file, what) {
  const page = await context.newPage();
  const url = pathToFileURL(resolve(file)).href;
  page.on("request", (request) => {
    if (request.url().split("#")[0] !== url) fail(file, `${what}: fetches ${request.url()}`);
  });
  page.on("console", (message) => fail(file, `${what}: ${message.text().slice(0, 200)}`));
  page.on("pageerror", (error) => fail(file, `${what}: ${error}`));
  page.on("dialog", async (dialog) => {
    fail(file, `${what}: a dialog opens`);
    await dialog.dismiss();
  });
  await page.goto(url);
  return page;
}

/// The page as it is when it is opened, without a place in it.
async function again(page) {
  await page.goto(page.url().split("#")[0]);
}

/// Every link leads to something in the page, a page beside it, or the page of a rule.
async function links(page, file) {
  const bad = await page.evaluate(() => {
    const links = [...document.querySelectorAll("a")];
    const targets = links.map((link) => link.getAttribute("href")).filter((it) => it !== null);
    const here = targets.filter((it) => it.startsWith("#"));
    const ofTexts = links.filter((it) => it.rel === "noreferrer nofollow").map((it) => it.href);
    return {
      count: targets.length,
      broken: here.filter((it) => !document.getElementById(it.slice(1))),
      ofTexts,
      others: links
        .filter((it) => it.rel !== "noreferrer nofollow")
        .map((it) => it.getAttribute("href"))
        .filter((it) => it !== null && !it.startsWith("#")),
      ids: [...document.querySelectorAll("[id]")].map((it) => it.id),
    };
  });
  counts.links += bad.count;
  for (const link of bad.broken) fail(file, `nothing has the id of ${link}`);
  if (new Set(bad.ids).size !== bad.ids.length) fail(file, "two elements share an id");
  for (const link of bad.ofTexts) {
    if (!/^https?:\/\//.test(link)) fail(file, `a text leads to ${link}`);
  }
  for (const link of bad.others) {
    const isRule = /^https:\/\/github\.com\/[^?#]*\/src\/rules\/[a-z0-9-]+\.md$/.test(link);
    const path = join(resolve(file), "..", decodeURIComponent(link));
    if (!isRule && !existsSync(path)) fail(file, `leads to ${link}`);
  }
}

/// Each chip shows as many entries as it says.
async function filters(page, file) {
  const shown = () => page.locator("#log > li:visible").count();
  const all = await shown();
  for (const chip of await page.locator("#filter .chips button").all()) {
    const count = Number(await chip.locator("small").textContent());
    await chip.click();
    const now = await shown();
    if (now !== count) fail(file, `${await chip.textContent()}: shows ${now}`);
    await chip.click();
    counts.filtered += 1;
  }
  if ((await shown()) !== all) fail(file, "the chips hide entries for good");
}

/// The search counts and marks its hits, unfolds where one is, and is in the address.
async function searches(page, file) {
  const search = page.locator("#filter input");
  const output = page.locator("#filter output");
  const says = async (wanted) => {
    await page.waitForFunction(
      (it) => document.querySelector("#filter output").value.includes(it), wanted, { timeout: 5000 },
    ).catch(async () => fail(file, `the search says ${await output.textContent()}, not ${wanted}`));
  };
  await search.fill("no text has this \u{1f9ea}");
  await says("no hit");
  const word = await page.evaluate(() => {
    const texts = [...document.querySelectorAll("#log pre, #log p")].map((it) => it.textContent);
    return texts.flatMap((it) => it.match(/[a-z]{5,}/g) ?? [])[0];
  });
  if (word) {
    await search.fill(word);
    await says("1 of ");
    await search.press("Enter");
    const state = await page.evaluate(() => ({
      marked: CSS.highlights.get("hit")?.size,
      at: [...(CSS.highlights.get("at") ?? [])].map((it) => ({
        text: it.toString().toLowerCase(),
        isFolded: it.startContainer.parentElement.closest("details:not([open])") !== null,
        isInView: it.getBoundingClientRect().top >= 0 && it.getBoundingClientRect().top < innerHeight,
      })),
      hash: location.hash,
    }));
    const [at] = state.at;
    if (!state.marked || at?.text !== word || at.isFolded || !at.isInView) {
      fail(file, `the search for ${word} leads to ${JSON.stringify(state)}`);
    }
    if (!state.hash.includes(`q=${word}`)) fail(file, `${state.hash} has no search`);
    await page.reload();
    if ((await page.locator("#filter input").inputValue()) !== word) fail(file, "the address forgets");
    await says(" of ");
  }
  await again(page);
  counts.searched += 1;
}

/// Keys go from entry to entry and to the next failure; the address has where the reader is.
async function keys(page, file) {
  await again(page);
  const on = () => page.evaluate(() => document.querySelector("#log > .on")?.id);
  await page.keyboard.press("j");
  const first = await on();
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  if (!first || (await on()) !== first) fail(file, `j and k lead to ${first} and ${await on()}`);
  if (!page.url().endsWith(`#${first}`)) fail(file, `the address is ${page.url()}`);
  await page.keyboard.press("/");
  if (!(await page.evaluate(() => document.activeElement.name === "search"))) fail(file, "no /");
  await page.keyboard.press("Escape");
  // Text that is written somewhere in a page that has this one in it.
  const written = await page.evaluate(() => {
    const field = document.createElement("div");
    field.contentEditable = "true";
    document.body.append(field);
    const event = new KeyboardEvent("keydown", { key: "j", bubbles: true, cancelable: true });
    const isLeft = field.dispatchEvent(event);
    field.remove();
    return isLeft;
  });
  if (!written) fail(file, "takes the j of a text that is edited");
  const bad = ".failed, .refused, .open, .finding.error, .notice.error";
  if ((await page.locator(`#log > :is(${bad})`).count()) > 0) {
    await page.keyboard.press("f");
    if ((await page.locator(`#log > .on:is(${bad})`).count()) !== 1) fail(file, "f finds no failure");
  }
  await again(page);
}

/// Dragging zooms in, a bar has a card, and the button shows all again.
async function zooms(page, file) {
  const svg = page.locator("#run");
  if ((await svg.count()) === 0) return;
  await svg.scrollIntoViewIfNeeded();
  const box = await svg.boundingBox();
  await page.mouse.move(box.x + box.width * 0.25, box.y + 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 4, { steps: 4 });
  await page.mouse.up();
  const wide = await svg.boundingBox();
  if (Math.abs(wide.width / box.width - 4) > 0.2) fail(file, `zooms ${wide.width / box.width} times`);
  await page.locator(".reset").click();
  if ((await svg.boundingBox()).width !== box.width) fail(file, "no way back from the zoom");
  const bar = page.locator("svg a[id^=b]").first();
  if ((await bar.count()) === 0) return;
  await bar.locator("rect").hover();
  if (!(await page.locator(".card").isVisible())) fail(file, "a bar has no card");
  await page.mouse.move(1, 1);
}

/// From a bar to its call, which unfolds, and back.
async function bothWays(page, file) {
  const bar = page.locator("svg a[id^=b]").first();
  if ((await bar.count()) === 0) return;
  const id = (await bar.getAttribute("id")).replace("b", "c");
  await bar.evaluate((it) => it.dispatchEvent(new MouseEvent("click", { bubbles: true })));
  const call = page.locator(`#${id}`);
  await page.waitForFunction((hash) => location.hash === hash, `#${id}`);
  await page.waitForTimeout(20);
  if (!(await call.locator("> details").evaluate((it) => it.open))) {
    fail(file, "a call stays folded");
  }
  await call.locator("a[href^='#b']").click();
  if (!(await page.url()).endsWith(`#${id.replace("c", "b")}`)) fail(file, "no way back");
}

/// The keyboard alone skips to the transcript, reaches the filter and every fold, and opens one.
async function keyboard(page, file) {
  const focused = (what) => page.evaluate(`document.activeElement.${what}`);
  await again(page);
  await page.keyboard.press("Tab");
  const box = await page.locator(".skip").boundingBox();
  await page.keyboard.press("Enter");
  await page.waitForTimeout(20);
  if (!(box?.x >= 0) || (await focused("id")) !== "transcript") fail(file, "nothing to skip with");
  await again(page);
  const seen = new Set();
  for (let step = 0; step < 150 && !seen.has("fold"); step += 1) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      const it = document.activeElement;
      if (it.matches("#log > li > details > summary")) return "fold";
      return it.closest("#filter") ? "filter" : it.closest("svg") ? "bar" : it.localName;
    });
    if (at === "bar" && seen.has("bar")) fail(file, "more than one stop in the timeline");
    seen.add(at);
  }
  const hasFolds = (await page.locator("#log > li > details > summary").count()) > 0;
  const before = await focused("parentElement.open");
  if (hasFolds) await page.keyboard.press("Enter");
  const hasOpened = !hasFolds || (await focused("parentElement.open")) !== before;
  if (!seen.has("filter") || !hasOpened) fail(file, `the keyboard reaches ${[...seen]}`);
  await bars(page, file);
  counts.keys += 1;
}

/// Arrow keys go from bar to bar, in the order of time, and Enter leads to the call.
async function bars(page, file) {
  const all = await page.locator("svg a[id]").evaluateAll((bars) => bars.map((it) => it.id));
  if (all.length === 0) return;
  await page.locator("svg a[id]").first().focus();
  const seen = [];
  for (const key of ["Home", "ArrowRight", "ArrowLeft", "ArrowLeft", "End"]) {
    await page.keyboard.press(key);
    seen.push(await page.evaluate(() => document.activeElement.id));
  }
  const expected = [all[0], all[1] ?? all[0], all[0], all[0], all.at(-1)];
  if (seen.join() !== expected.join()) fail(file, `arrow keys lead to ${seen}`);
  const bar = page.locator(`#${all.at(-1)}`);
  const isMarked = await bar.locator("rect").evaluate((it) => getComputedStyle(it).strokeWidth);
  if (isMarked !== "3px") fail(file, "no bar shows that it has the focus");
  if (!(await page.locator(".timeline .keys").isVisible())) fail(file, "nothing names the keys");
  const target = await bar.getAttribute("href");
  await page.keyboard.press("Enter");
  await page.waitForFunction((hash) => location.hash === hash, target);
  await page.waitForTimeout(20);
  const isThere = await page.evaluate(
    (hash) => document.activeElement.closest(hash) !== null || hash === "#omitted", target,
  );
  if (!isThere) fail(file, `Enter on a bar does not lead to ${target}`);
}

/// In a frame of another page, such as a notebook: keys and links work without an address.
async function framed(browser, file) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const outer = await context.newPage();
  outer.on("pageerror", (error) => fail(file, `in a frame: ${error}`));
  await outer.setContent('<iframe sandbox="allow-scripts" style="width: 100%; height: 800px"></iframe>');
  await outer.locator("iframe").evaluate((it, text) => (it.srcdoc = text), readFileSync(file, "utf8"));
  const frame = outer.frameLocator("iframe");
  await frame.locator("h1").click();
  await outer.keyboard.press("j");
  if ((await frame.locator("#log > .on").count()) !== 1) fail(file, "in a frame: j leads nowhere");
  const bar = frame.locator("svg a[id^=b]").last();
  if ((await bar.count()) > 0) {
    const id = (await bar.getAttribute("href")).slice(1);
    await bar.press("Enter");
    const isOn = frame.locator(`[id="${id}"]:is(.on, :focus-within)`);
    await isOn.waitFor({ timeout: 5_000 }).catch(() => fail(file, `in a frame: no way to ${id}`));
  }
  await context.close();
}

/// On paper: no controls, nothing beyond the edge or cut short, colours, and the contents of calls
/// that did not succeed, even if a reader folded them.
async function paper(page, file) {
  await again(page);
  await page.setViewportSize({ width: 680, height: 960 });
  await page.emulateMedia({ media: "print" });
  const bad = await page.evaluate(() => {
    const bad = [];
    const all = (selector) => [...document.querySelectorAll(selector)];
    const isShown = (it) => it.checkVisibility() && it.getBoundingClientRect().height > 0;
    for (const fold of all("details")) fold.open = false;
    for (const it of all("#filter, .skip, .back")) {
      if (isShown(it)) bad.push(`${it.className || it.id} is printed`);
    }
    const contents = ":is(.failed, .refused, .open) > details > .about, .stats > :not(summary)";
    for (const it of all(contents)) {
      if (!isShown(it)) bad.push(`${it.closest("[id]")?.id} is not printed`);
    }
    for (const it of all(".good > details > .about")) {
      if (it.checkVisibility({ contentVisibilityAuto: true })) bad.push("all calls are printed");
    }
    const root = document.documentElement;
    if (root.scrollWidth > root.clientWidth) bad.push("wider than the paper");
    for (const it of all(".detail, pre, table, .wide, aside")) {
      if (it.scrollWidth > it.clientWidth + 1) bad.push(`cut: ${it.textContent.slice(0, 40)}`);
    }
    for (const it of all("svg rect, pre").slice(0, 20)) {
      if (getComputedStyle(it).printColorAdjust !== "exact") bad.push("no colours");
    }
    return bad;
  });
  for (const what of bad.slice(0, 3)) fail(file, `on paper: ${what}`);
  await page.emulateMedia({ media: null });
  counts.printed += 1;
}

async function check(browser, file) {
  const settings = { viewport: { width: 1280, height: 900 } };
  const context = await browser.newContext({ ...settings, bypassCSP: false });
  const page = await open(context, file, "page");
  await links(page, file);
  if ((await page.locator("#filter").count()) > 0) {
    if (!(await page.locator("#filter").isVisible())) fail(file, "the script does not run");
    await filters(page, file);
    await searches(page, file);
    await keys(page, file);
    await zooms(page, file);
    await bothWays(page, file);
    await keyboard(page, file);
    await framed(browser, file);
  }
  await paper(page, file);
  await context.close();
  await accessible(browser, file);
  const blocked = await browser.newContext({ ...settings, javaScriptEnabled: false });
  const plain = await open(blocked, file, "without the script");
  if (await plain.locator("#filter").isVisible()) fail(file, "a filter without a script");
  if (!(await plain.locator("h1").isVisible())) fail(file, "nothing without the script");
  await blocked.close();
  counts.pages += 1;
}

/// axe-core needs a script of its own, so the policy is off: for it alone.
async function accessible(browser, file) {
  for (const [colorScheme, width] of [["light", 390], ["dark", 1280]]) {
    const viewport = { width, height: 900 };
    const context = await browser.newContext({ viewport, colorScheme, bypassCSP: true });
    const page = await open(context, file, `axe ${colorScheme}`);
    await page.addStyleTag({ content: "#log > li { content-visibility: visible !important }" });
    await page.evaluate(() => {
      for (const fold of document.querySelectorAll("details")) fold.open = true;
    });
    await page.evaluate(axe);
    const result = await page.evaluate(() => globalThis.axe.run({ resultTypes: ["violations"] }));
    for (const { id, nodes } of result.violations) {
      fail(file, `axe ${colorScheme} ${width}: ${id} ${nodes[0].html.slice(0, 160)}`);
    }
    const wide = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    if (wide > 0) fail(file, `${width}: ${wide} pixels too wide`);
    await context.close();
  }
}

const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const files = pages(process.argv.slice(2));
const worker = async () => {
  for (let file = files.shift(); file; file = files.shift()) await check(browser, file);
};
await Promise.all([worker(), worker(), worker()]);
await browser.close();
console.log(
  `${counts.pages} pages, ${counts.links} links, ${counts.filtered} filters, ` +
    `${counts.searched} searches, ${counts.keys} by keyboard, ${counts.printed} printed: ` +
    `${failures.length} failures`,
);
process.exitCode = failures.length > 0 || counts.pages === 0 ? 1 : 0;
