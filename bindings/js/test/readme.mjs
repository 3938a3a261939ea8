// Writes the blocks of TypeScript in README.md, which `npm run lint` compiles, to readme/.
import { readFileSync, writeFileSync } from "node:fs";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const blocks = [...readme.matchAll(/^```ts\n(.*?)^```/gms)].map(([, block]) => block);
for (const [number, block] of blocks.entries()) {
  // The reader's own.
  const given = block.includes("(recording)") ? "declare const recording: string;\n" : "";
  writeFileSync(new URL(`readme/block-${number}.ts`, import.meta.url), `${given}${block}export {};\n`);
}
