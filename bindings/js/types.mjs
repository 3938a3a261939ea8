// Writes ts/types.ts from the schema of the events: `node types.mjs`.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const SCHEMA = new URL("../../crates/core/src/profile/builtin/events/schema.json", import.meta.url);
const FILE = new URL("ts/types.ts", import.meta.url);

const pascal = (name) => name.replace(/(^|[_-])([a-z])/g, (_, __, letter) => letter.toUpperCase());
const referred = (schema) => schema.$ref.replace("#/$defs/", "");

function comment(text, indent) {
  return text === undefined ? "" : `${indent}/** ${text} */\n`;
}

function object(schema, indent) {
  const inner = `${indent}  `;
  const members = Object.entries(schema.properties).map(([name, member]) => {
    const mark = schema.required?.includes(name) ? "" : "?";
    return `${comment(member.description, inner)}${inner}${name}${mark}: ${type(member, inner)};\n`;
  });
  return `{\n${members.join("")}${indent}}`;
}

function type(schema, indent) {
  if (schema.$ref !== undefined) return pascal(names.get(referred(schema)) ?? referred(schema));
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (Array.isArray(schema.type)) return schema.type.map((it) => type({ type: it }, indent)).join(" | ");
  if (schema.enum !== undefined) return schema.enum.map((it) => JSON.stringify(it)).join(" | ");
  switch (schema.type) {
    case "object":
      return object(schema, indent);
    case "array": {
      const item = type(schema.items, indent);
      return item.includes(" | ") ? `(${item})[]` : `${item}[]`;
    }
    case "integer":
    case "number":
      return "number";
    case "boolean":
    case "string":
      return schema.type;
    case undefined:
      return "unknown";
    default:
      throw new Error(`no type for ${JSON.stringify(schema)}`);
  }
}

// Names that say what the bare word does not.
const names = new Map([
  ["kind", "call_kind"],
  ["rule", "rule_name"],
  ["reason", "end_reason"],
  ["change", "file_change"],
]);

export function types() {
  const schema = JSON.parse(readFileSync(SCHEMA, "utf8"));
  const kinds = schema.oneOf.map(referred);
  let text = "// Made by types.mjs from the schema of `--to events`. Do not edit.\n\n";
  text += "/** One thing that happened in a run; `type` says what. */\nexport type AgentEvent =\n";
  text += `${kinds.map((kind) => `  | ${pascal(kind)}Event`).join("\n")};\n`;
  for (const [name, definition] of Object.entries(schema.$defs)) {
    const is_event = kinds.includes(name);
    const title = is_event ? `${pascal(name)}Event` : pascal(names.get(name) ?? name);
    const head = `\n${comment(definition.description, "")}`;
    text += is_event || definition.type === "object"
      ? `${head}export interface ${title} ${object(definition, "")}\n`
      : `${head}export type ${title} = ${type(definition, "")};\n`;
  }
  return text;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(FILE, types());
