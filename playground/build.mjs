// Writes dist/index.html: the page with its style, its script, the worker, the core and the examples.
// It needs the npm package in ../bindings/js, built.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { init, report } from "ndjson-check";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "..");
const text = (...names) => readFileSync(join(...names), "utf8");

async function script(file, define = {}) {
  const { outputFiles } = await build({
    entryPoints: [join(here, "src", file)],
    bundle: true,
    write: false,
    minify: true,
    format: "iife",
    target: "es2022",
    charset: "ascii",
    // The core is in the page: nothing is fetched from an address next to the script.
    define: { "import.meta.url": '""', ...define },
  });
  return outputFiles[0].text.trim();
}

const worker = await script("worker.ts");
const page = await script("page.ts", { WORKER: JSON.stringify(worker) });
// In a script an end tag would end it.
if (/<\/script|<!--/i.test(page)) throw new Error("the script has an end tag in it");
const style = text(here, "src/style.css");

const examples = JSON.parse(text(here, "examples.json")).map(({ name, title, file }) => {
  return { name, title, text: text(root, "fixtures", file) };
});
const builtin = join(root, "crates/core/src/profile/builtin");
const profiles = readdirSync(builtin).map((name) => {
  const { title, command } = JSON.parse(text(builtin, name, "profile.json"));
  return [name, [title ?? name, command].filter(Boolean).join(": ")];
});
const data = JSON.stringify({ examples, profiles }).replace(/</g, "\\u003c");

// The page of a run is shown in a frame, which this policy rules, too: it has one style and one
// script, whatever the run.
await init();
const run = await report(examples[0].text, "html");
const ofRun = (kind) => {
  const hash = new RegExp(`${kind}-src '(sha256-[^']+)'`).exec(run)?.[1];
  if (hash === undefined) throw new Error(`the page of a run has no ${kind}-src`);
  return `'${hash}'`;
};
const own = (part) => `'sha256-${createHash("sha256").update(part).digest("base64")}'`;
const policy = [
  "default-src 'none'",
  "connect-src 'none'",
  `script-src ${own(page)} ${ofRun("script")} 'wasm-unsafe-eval'`,
  `style-src ${own(style)} ${ofRun("style")}`,
  "worker-src blob:",
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

const core = gzipSync(readFileSync(fileURLToPath(import.meta.resolve("ndjson-check/ndjson_check.wasm"))), { level: 9 });
const placeholder = `[limits]
calls = 200

[expect]
answer = { matches = "DONE$" }
calls = [{ kind = "command", matches = "npm test", last = "succeeded" }]`.replace(/"/g, "&quot;").replace(/\n/g, "&#10;");
const parts = { policy, style, core: core.toString("base64"), data, script: page, placeholder };
const html = text(here, "src/page.html").replace(/\{\{(\w+)\}\}/g, (_, name) => parts[name]);
mkdirSync(join(here, "dist"), { recursive: true });
writeFileSync(join(here, "dist/index.html"), html);
console.log(`index.html: ${Math.round(html.length / 1000)} kB, ${Math.round(gzipSync(html, { level: 9 }).length / 1000)} kB gzip`);
