// Makes the npm packages from the archives of a release:
//
//   node npm/pack.mjs FOLDER VERSION OUT [LIBRARY]
//
// FOLDER has ndjson-check-VERSION-TARGET.tar.gz for some or all targets. OUT gets one package for each
// of them, and `ndjson-check`, which depends on them. Publish `ndjson-check` last. LIBRARY is bindings/js
// after its build: with it `ndjson-check` can be imported, too.
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

// The static binaries for Linux run with glibc and musl.
const TARGETS = {
  "aarch64-apple-darwin": ["darwin", "arm64"],
  "aarch64-unknown-linux-musl": ["linux", "arm64"],
  "x86_64-apple-darwin": ["darwin", "x64"],
  "x86_64-pc-windows-msvc": ["win32", "x64"],
  "x86_64-unknown-linux-musl": ["linux", "x64"],
};

const [folder, version, out, library] = process.argv.slice(2);
if (!folder || !/^\d+\.\d+\.\d+/.test(version ?? "") || !out) {
  console.error("usage: node npm/pack.mjs FOLDER VERSION OUT [LIBRARY]");
  process.exit(2);
}

const here = dirname(fileURLToPath(import.meta.url));
const launcher = JSON.parse(readFileSync(join(here, "ndjson-check/package.json"), "utf8"));
const { license, repository } = launcher;

rmSync(out, { recursive: true, force: true });
for (const [target, [os, cpu]] of Object.entries(TARGETS)) {
  const archive = join(folder, `ndjson-check-${version}-${target}.tar.gz`);
  if (!existsSync(archive)) continue;
  const name = `@ndjson-check/${os}-${cpu}`;
  write(join(out, `${os}-${cpu}`), {
    name,
    version,
    description: `The binary of ndjson-check for ${os}-${cpu}`,
    license,
    repository,
    os: [os],
    cpu: [cpu],
    files: [program(os)],
    preferUnplugged: true,
  });
  extract(archive, program(os), join(out, `${os}-${cpu}`));
  launcher.optionalDependencies[name] = version;
}
if (Object.keys(launcher.optionalDependencies).length === 0) {
  console.error(`there is no archive of version ${version} in ${folder}`);
  process.exit(1);
}
cpSync(join(here, "ndjson-check"), join(out, "ndjson-check"), { recursive: true });
write(join(out, "ndjson-check"), { ...launcher, ...(library && ofLibrary()), version });

/** Copies what is imported, and returns how: what the launcher does not say. */
function ofLibrary() {
  const manifest = JSON.parse(readFileSync(join(library, "package.json"), "utf8"));
  const { description, keywords, type, sideEffects, exports, files, engines } = manifest;
  const { peerDependencies, peerDependenciesMeta } = manifest;
  for (const file of [...files, "README.md"]) {
    cpSync(join(library, file), join(out, "ndjson-check", file), { recursive: true });
  }
  const all = [...launcher.files, ...files];
  const ours = { description, keywords, type, sideEffects, exports, files: all, engines };
  return { ...ours, peerDependencies, peerDependenciesMeta };
}

function program(os) {
  return os === "win32" ? "ndjson-check.exe" : "ndjson-check";
}

function write(folder, manifest) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  cpSync(join(here, "../LICENSE"), join(folder, "LICENSE"));
}

function extract(archive, file, folder) {
  const temporary = mkdtempSync(join(tmpdir(), "ndjson-check-"));
  execFileSync("tar", ["-xzf", archive, "-C", temporary, "--strip-components", "1"]);
  cpSync(join(temporary, file), join(folder, file));
  chmodSync(join(folder, file), 0o755);
  rmSync(temporary, { recursive: true });
}
