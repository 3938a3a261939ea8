// The page in Chromium. CHROMIUM names the program.
import assert from "node:assert/strict";
import { createWriteStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { convert } from "ndjson-check";
import { chromium } from "playwright-core";
import { hostile } from "./hostile.mjs";
import { inPieces, load, PAGE, ROOT } from "./modules.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const examples = JSON.parse(readFileSync(join(ROOT, "playground/examples.json"), "utf8"));
const bytesOf = (example) => readFileSync(join(ROOT, "fixtures", example.file));
const { read } = await load("read");
const { visible } = await load("words");
const folder = mkdtempSync(join(tmpdir(), "playground-"));

/** A server that knows the page alone, and what was asked of it. */
const asked = [];
const server = createServer((request, response) => {
  asked.push(request.url);
  response.writeHead(request.url === "/" ? 200 : 404, { "content-type": "text/html" });
  response.end(request.url === "/" ? readFileSync(PAGE) : "");
});
let browser;
let address;

before(async () => {
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  address = `http://127.0.0.1:${server.address().port}/`;
  const executablePath = process.env.CHROMIUM;
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
});

after(async () => {
  await browser?.close();
  server.close();
  rmSync(folder, { recursive: true });
});

/** A page whose complaints and requests are collected. */
async function visit(start, options = {}) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const complaints = [];
  const requests = [];
  page.on("console", (said) => complaints.push(said.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", (dialog) => complaints.push(dialog.message()));
  context.on("request", (request) => requests.push(request.url()));
  await page.goto(start);
  return { context, page, complaints, requests };
}

const pane = (page, at = 0) => page.locator("#panes > div").nth(at);
const shown = (page, at) => pane(page, at).locator("pre:not([hidden]), iframe:not([hidden])").waitFor();
const choose = (page, form, at) => pane(page, at).locator("select").selectOption(form);
const sentence = (page) => page.locator("#headline").innerText();

async function hasNoViolation(page, where) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  assert.deepEqual(violations.map((it) => [it.id, it.nodes.map((node) => node.html)]), [], where);
  const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  assert.equal(isWide, false, `${where}: the page is wider than the window`);
}

test("all examples, from a server and from a file, without a request", async () => {
  for (const start of [address, pathToFileURL(PAGE).href]) {
    const { context, page, complaints, requests } = await visit(start);
    for (const example of examples) {
      await page.goto(`${start}#example=${example.name}`);
      await page.locator("#name", { hasText: `${example.name}.ndjson` }).waitFor();
      const bytes = bytesOf(example);
      const { stream, words } = await read(() => inPieces(bytes, 1_000), bytes.length, {});
      const plain = visible(stream.headline).replaceAll("`", "");
      assert.equal(await sentence(page), words.mark + plain, example.name);
      assert.equal(await page.locator("#figures").innerText(), visible(words.figures), example.name);
    }
    await choose(page, "html");
    await shown(page);
    const frame = page.frameLocator("#panes iframe >> nth=0");
    await frame.locator("h1").click();
    await page.keyboard.press("j");
    await frame.locator("#log > .on").waitFor();
    assert.deepEqual(complaints, []);
    assert.deepEqual(requests.filter((it) => !/^(blob|data|about):/.test(it)), [start]);
    await context.close();
  }
  assert.deepEqual(asked, ["/"]);
});

test("three widths, light and dark: nothing for axe, and nothing too wide", async () => {
  for (const width of [380, 800, 1400]) {
    for (const colorScheme of ["light", "dark"]) {
      const viewport = { width, height: 900 };
      const { context, page } = await visit(address, { viewport, colorScheme });
      await hasNoViolation(page, `start ${width} ${colorScheme}`);
      await page.goto(`${address}#example=refused`);
      await shown(page);
      await page.locator("#findings .line").first().click();
      await page.locator("#calls .line").first().click();
      await page.locator("#demands summary").click();
      await hasNoViolation(page, `result ${width} ${colorScheme}`);
      await page.goto(address);
      await page.locator("#text").fill('{"hello":1}\n');
      await page.locator("#paste button").click();
      await page.locator("#failed").waitFor();
      await hasNoViolation(page, `not checked ${width} ${colorScheme}`);
      await context.close();
    }
  }
});

test("with the keyboard alone: an example, a line, another form, and back", async () => {
  const { context, page } = await visit(address);
  const focused = () => page.evaluate(() => document.activeElement.textContent);
  const tabTo = async (text) => {
    for (let at = 0; at < 60; at++) {
      await page.keyboard.press("Tab");
      if ((await focused()) === text) return;
    }
    assert.fail(`no Tab leads to ${text}`);
  };
  await tabTo("Standard error in between");
  await page.keyboard.press("Enter");
  await shown(page);
  await tabTo("line 4");
  await page.keyboard.press("Enter");
  const line = page.locator("#findings pre");
  await line.waitFor();
  const fourth = bytesOf(examples.find((it) => it.name === "stderr")).toString().split("\n")[3];
  await page.waitForFunction(() => document.querySelector("#findings pre").textContent !== "");
  assert.equal(await line.innerText(), fourth);
  await pane(page).locator("select").focus();
  await page.keyboard.press("ArrowDown");
  await pane(page).locator("pre", { hasText: /^\s*Four packages were updated\.\s*$/ }).waitFor();
  await page.goBack();
  await page.locator("#open").waitFor();
  await context.close();
});

/** Drops files of these names, with the bytes of examples. */
async function drop(page, files) {
  const all = files.map(([name, bytes]) => [name, Buffer.from(bytes).toString("base64")]);
  await page.evaluate((files) => {
    const dataTransfer = new DataTransfer();
    for (const [name, text] of files) {
      const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
      dataTransfer.items.add(new File([bytes], name));
    }
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
  }, all);
}

test("code in a finding is no text with backticks, and of two runs in a file only the first finding is told", async () => {
  const { context, page } = await visit(`${address}#example=refused`);
  const finding = page.locator("#findings li").filter({ hasText: "shell" }).first();
  assert.match(await finding.locator("code").first().innerText(), /^shell$/);
  assert.ok(!(await page.locator("#findings").innerText()).includes("`"));
  await drop(page, [["twice.ndjson", readFileSync(join(ROOT, "fixtures/rules/event-after-terminal/two-runs.ndjson"))]]);
  await page.locator("#name", { hasText: "twice.ndjson" }).waitFor();
  assert.match(await sentence(page), /^.more than one run: split the recording, and open each run$/);
  assert.equal(await page.locator("#findings li").count(), 1);
  assert.match(await page.locator("#found small").innerText(), /^1; \d+ more are about the next run$/);
  await context.close();
});

test("a chosen agent is that of one recording", async () => {
  const { context, page } = await visit(`${address}#example=codex`);
  const headline = (text) => page.locator("#headline", { hasText: text }).waitFor();
  const chosen = () => page.locator("#profile").inputValue();
  await headline("succeeded");
  // The sentence is the same again: without it, the page has to write it anew.
  await page.locator("#headline").evaluate((it) => it.replaceChildren());
  await page.locator("#profile").selectOption("codex");
  await headline("succeeded");
  assert.equal(await chosen(), "codex");
  const claude = bytesOf(examples.find((it) => it.name === "sub-agent"));
  await drop(page, [["mine.ndjson", claude]]);
  await page.locator("#name", { hasText: "mine.ndjson" }).waitFor();
  assert.equal(await chosen(), "");
  assert.match(await sentence(page), /succeeded/);
  await page.locator("#profile").selectOption("codex");
  await headline(/profile/);
  await page.goto(`${address}#example=sub-agent`);
  await page.locator("#name", { hasText: "sub-agent.ndjson" }).waitFor();
  assert.equal(await chosen(), "");
  assert.match(await sentence(page), /succeeded/);
  await context.close();
});

test("several files are dropped, gzip or not, and the way back leads to the start", async () => {
  const { context, page, complaints } = await visit(address);
  const name = (text) => page.locator("#name", { hasText: text }).waitFor();
  const bytes = bytesOf(examples.find((it) => it.name === "codex"));
  await drop(page, [["one.ndjson", bytes], ["two.ndjson", bytes]]);
  await name("one.ndjson");
  assert.match(await page.locator("#name").innerText(), /the first of 2 files/);
  await drop(page, [["packed.ndjson.gz", gzipSync(bytes)]]);
  await name(/^packed\.ndjson, [^;]*$/);
  assert.match(await sentence(page), /succeeded/);
  assert.match(await page.title(), /succeeded.*packed\.ndjson$/);
  await drop(page, [["cut.ndjson.gz", gzipSync(bytes).subarray(0, 99)]]);
  await page.locator("#failed", { hasText: "damaged, not complete" }).waitFor();
  assert.doesNotMatch(await page.title(), /succeeded/);
  await page.evaluate(() => {
    const defect = new DOMException("it cannot be read", "NotReadableError");
    Blob.prototype.stream = () => new ReadableStream({ pull: (its) => its.error(defect) });
  });
  await drop(page, [["gone.ndjson.gz", gzipSync(bytes)]]);
  await page.locator("#failed", { hasText: "it cannot be read" }).waitFor();
  await page.goBack();
  await page.locator("#failed").waitFor({ state: "hidden" });
  await page.locator("#open").waitFor();
  assert.equal(await page.evaluate(() => location.hash), "");
  await page.goto(`${address}#example=nope`);
  await page.locator("#failed", { hasText: "there is no example nope" }).waitFor();
  assert.deepEqual(complaints, []);
  await context.close();
});

test("a recording is dropped, checked as another agent's, and goes through a link", async () => {
  const { context, page, complaints } = await visit(address);
  await page.evaluate(() => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(['{"hello":1}\n'], "mine.ndjson"));
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
  });
  await page.locator("#failed", { hasText: "no known agent writes these events" }).waitFor();
  await page.locator("#profile").selectOption("jsonl");
  await page.locator("#figures", { hasText: "1 event" }).waitFor();
  assert.match(await page.locator("#name").innerText(), /mine.ndjson/);
  await page.goto(`${address}#example=cut`);
  await page.locator("#name", { hasText: "cut.ndjson" }).waitFor();
  const expected = await sentence(page);
  await page.locator("#link").click();
  await page.locator("#name", { hasText: "recording.ndjson" }).waitFor();
  assert.equal(await sentence(page), expected);
  assert.match(page.url(), /#recording=[\w-]+$/);
  await page.goto(`${address}#recording=%E0%A4`);
  await page.locator("#failed", { hasText: "damaged" }).waitFor();
  assert.deepEqual(complaints, []);
  await context.close();
});

test("a download is what the package writes", async () => {
  const { context, page } = await visit(`${address}#example=sub-agent`);
  await choose(page, "events");
  await pane(page).locator("pre", { hasText: '"type":"session"' }).waitFor();
  const link = pane(page).locator("a:not([hidden])");
  const [file] = await Promise.all([page.waitForEvent("download"), link.click()]);
  assert.equal(file.suggestedFilename(), "sub-agent.events.ndjson");
  const bytes = bytesOf(examples.find((it) => it.name === "sub-agent"));
  assert.equal(readFileSync(await file.path(), "utf8"), await convert(bytes, "events"));
  await context.close();
});

test("two forms side by side, and one below the other in a narrow window", async () => {
  const { context, page, complaints } = await visit(`${address}#example=codex`, { viewport: { width: 1400, height: 900 } });
  await choose(page, "events", 1);
  await pane(page, 1).locator("pre", { hasText: '"type":"session"' }).waitFor();
  await shown(page);
  const boxes = () => Promise.all([0, 1].map((at) => pane(page, at).boundingBox()));
  const [left, right] = await boxes();
  assert.ok(left.y === right.y && left.x + left.width <= right.x);
  await page.setViewportSize({ width: 800, height: 900 });
  const [first, second] = await boxes();
  assert.ok(first.x === second.x && first.y + first.height <= second.y);
  await choose(page, "events");
  await pane(page, 0).locator("pre", { hasText: '"type":"session"' }).waitFor();
  assert.equal(await pane(page, 0).locator("pre").textContent(), await pane(page, 1).locator("pre").textContent());
  assert.deepEqual(complaints, []);
  await context.close();
});

test("a configuration states demands; a wrong one says where", async () => {
  const { context, page } = await visit(`${address}#example=codex`);
  await page.locator("#headline", { hasText: "succeeded" }).waitFor();
  await page.locator("#demands summary").click();
  const check = async (text) => {
    await page.locator("#config").fill(text);
    await page.locator("#demands button").click();
  };
  await check('limits.calls = 0\nexpect.answer = { matches = "^never" }\n');
  await page.locator("#findings", { hasText: "limit-exceeded" }).waitFor();
  assert.match(await page.locator("#findings").innerText(), /expectation-failed: .*ndjson-check\.toml:2:29/);
  assert.match(await page.locator("#figures").innerText(), /Codex/);
  assert.match(await page.locator("#notes").innerText(), /configured by ndjson-check\.toml/);
  await check("limits.trns = 40");
  await page.locator("#failed", { hasText: "ndjson-check.toml:1:8: unknown key `trns`" }).waitFor();
  assert.match(await page.title(), /^ndjson-check: check a recording/);
  await check("");
  await page.locator("#headline", { hasText: "succeeded" }).waitFor();
  assert.equal(await page.locator("#findings li").count(), 0);
  await context.close();
});

test("a hostile recording is text, in every form", async () => {
  const { context, page, complaints, requests } = await visit(address);
  const file = join(folder, "<img src=x onerror=alert(1)>.ndjson");
  writeFileSync(file, hostile());
  await page.locator("#file").setInputFiles(file);
  await shown(page);
  for (const more of await page.locator("#findings .line, #calls .line").all()) await more.click();
  for (const option of await pane(page).locator("option").all()) {
    await choose(page, await option.getAttribute("value"));
    await pane(page).locator("a:not([hidden]), .size:has-text('Nothing'), .size:has-text('no single')").waitFor();
  }
  assert.equal(await page.evaluate(() => globalThis.hacked), undefined);
  assert.equal(await page.locator("main img, main script, main b b").count(), 0);
  const text = await page.locator("main").innerText();
  assert.match(text, /<img src=x/);
  assert.doesNotMatch(text, /[\u001b\u202e\u200b]/);
  assert.deepEqual(complaints, []);
  assert.equal(requests.filter((it) => !/^(blob|data|about):/.test(it)).length, 1);
  await context.close();
});

test("100 MB: progress, and a page that stays awake", async () => {
  const file = join(folder, "long.ndjson");
  const one = bytesOf(examples.find((it) => it.name === "sub-agent"));
  const out = createWriteStream(file);
  for (let bytes = 0; bytes < 100_000_000; bytes += one.length) {
    if (!out.write(one)) await new Promise((done) => out.once("drain", done));
  }
  await new Promise((done) => out.end(done));
  const { context, page } = await visit(address);
  await page.evaluate(() => {
    const seen = (globalThis.seen = { values: new Set(), longest: 0 });
    let last = performance.now();
    const look = () => {
      const now = performance.now();
      seen.longest = Math.max(seen.longest, now - last);
      last = now;
      if (document.getElementById("result").hidden) seen.values.add(document.getElementById("progress").value);
      requestAnimationFrame(look);
    };
    look();
  });
  await page.locator("#file").setInputFiles(file);
  await page.locator("#stop").click();
  await page.locator("#open").waitFor();
  const began = Date.now();
  await page.locator("#file").setInputFiles(file);
  await page.locator("#result").waitFor({ timeout: 300_000 });
  const took = Date.now() - began;
  const seen = await page.evaluate(() => ({ steps: globalThis.seen.values.size, longest: globalThis.seen.longest }));
  console.log(`100 MB: ${took} ms, ${seen.steps} steps of progress, longest pause ${Math.round(seen.longest)} ms`);
  assert.ok(seen.steps >= 10);
  assert.ok(seen.longest < 2_000);
  assert.match(await page.locator("#name").innerText(), /, 100\.0 MB/);
  assert.match(await page.locator("#called small").innerText(), /of which 5\s000 are here/);
  await context.close();
});
