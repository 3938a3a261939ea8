// Builds the package into dist/: the WebAssembly core, the types of events, and the modules.
//
//   node build.mjs           needs Rust with the target wasm32-unknown-unknown, and npm
//
// If wasm-opt is installed, it makes the core smaller and faster.
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const target = process.env.CARGO_TARGET_DIR ?? join(here, "target");
const wasm = join(here, "dist/ndjson_check.wasm");

function call(command, args) {
  execFileSync(command, args, { cwd: here, stdio: "inherit" });
}

rmSync(join(here, "dist"), { recursive: true, force: true });
mkdirSync(join(here, "dist"), { recursive: true });
call("cargo", ["build", "--locked", "--release", "--target", "wasm32-unknown-unknown"]);
cpSync(join(target, "wasm32-unknown-unknown/release/ndjson_check_js.wasm"), wasm);
if (spawnSync("wasm-opt", ["--version"]).status === 0) {
  // What Rust uses, and no more: older engines refuse what other features allow.
  const features = [
    "bulk-memory",
    "multivalue",
    "mutable-globals",
    "nontrapping-float-to-int",
    "reference-types",
    "sign-ext",
    "simd",
  ];
  call("wasm-opt", ["-O3", ...features.map((name) => `--enable-${name}`), wasm, "-o", wasm]);
}

if (!existsSync(join(here, "node_modules/typescript"))) {
  call("npm", ["ci", "--no-audit", "--no-fund"]);
}
call(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.json"]);
cpSync(join(here, "../../LICENSE"), join(here, "LICENSE"));

const bytes = readFileSync(wasm);
const kb = (size) => `${Math.round(size / 1000)} kB`;
console.log(`ndjson_check.wasm: ${kb(bytes.length)}, ${kb(gzipSync(bytes, { level: 9 }).length)} gzip`);
