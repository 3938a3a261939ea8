// The modules of the page, for Node, and where things are.
import { build } from "esbuild";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));
export const PAGE = fileURLToPath(new URL("../dist/index.html", import.meta.url));

/** Without types, next to the page, so that `ndjson-check` is found. */
export async function load(name) {
  const outfile = fileURLToPath(new URL(`../dist/test/${name}.mjs`, import.meta.url));
  const entry = fileURLToPath(new URL(`../src/${name}.ts`, import.meta.url));
  await build({ entryPoints: [entry], outfile, bundle: true, format: "esm", packages: "external" });
  return import(outfile);
}

export async function* inPieces(bytes, size) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
