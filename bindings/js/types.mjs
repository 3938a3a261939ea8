// Writes ts/types.ts from the schemas of the events and of the JSON report: `node types.mjs`.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const SCHEMA = new URL("../../crates/core/src/profile/builtin/events/schema.json", import.meta.url);
const REPORT = new URL("../../crates/formats/src/report.schema.json", import.meta.url);
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
  if (schema.$ref !== undefined) {
    const definition = inlined[referred(schema)];
    if (definition !== undefined) return type(definition, indent);
    return pascal(names.get(referred(schema)) ?? referred(schema));
  }
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (Array.isArray(schema.type)) return schema.type.map((it) => type({ type: it }, indent)).join(" | ");
  if (schema.enum !== undefined) return schema.enum.map((it) => JSON.stringify(it)).join(" | ");
  switch (schema.type) {
    case "object":
      return schema.properties === undefined
        ? `Record<string, ${type(schema.additionalProperties, indent)}>`
        : object(schema, indent);
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

// Definitions that have no name of their own.
let inlined = {};

// Members of a line of the report that a summary does not have.
const LEFT_OUT = ["type", "report_version", "tool_version", "sha256", "known", "stats"];

/** The result of a stream, as `Reader.summary` has it. */
function summaryOf({ stream, ...others }) {
  const properties = {
    passed: { ...stream.properties.passed, description: "Whether the stream conforms and its run succeeded." },
    headline: { ...stream.properties.headline, description: "How the run ended, in one sentence for a reader." },
    answer: { type: "string", description: "The answer: the last message of the agent, or its value as JSON; empty unless the run succeeded." },
    last_message: { type: "string", description: "The last message of the agent, whether or not the run succeeded." },
    structured: { description: "The answer as a value, where the agent was asked for one." },
  };
  for (const [name, member] of Object.entries(stream.properties)) {
    if (!LEFT_OUT.includes(name)) properties[name] ??= member;
  }
  // The types of the events have names for them.
  for (const name of ["reason", "retryable", "retry_after"]) {
    properties[name] = { $ref: `#/$defs/${name}`, description: properties[name].description };
  }
  const required = [...stream.required, "passed", "headline", "answer", "last_message"];
  const { usage, tool_call, tool_call_counts, note, unknown, count, path, line } = others;
  inlined = { count, path, line, unknown };
  let text = "\n/** The result of one stream, with the names of the JSON report. What is not known is absent. */\n";
  text += `export interface Summary ${object({ properties, required }, "")}\n`;
  for (const [name, definition] of Object.entries({ tool_call, tool_call_counts, usage, note })) {
    text += `\n${comment(definition.description, "")}export interface ${pascal(name)} ${object(definition, "")}\n`;
  }
  inlined = {};
  return text;
}

export function types() {
  const schema = JSON.parse(readFileSync(SCHEMA, "utf8"));
  const kinds = schema.oneOf.map(referred);
  let text = "// Made by types.mjs from the schemas of `--to events` and of the JSON report. Do not edit.\n\n";
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
  return text + summaryOf(JSON.parse(readFileSync(REPORT, "utf8")).$defs);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(FILE, types());
