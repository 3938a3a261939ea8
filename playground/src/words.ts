// Texts of a recording, and figures, as the program writes them.

/** Characters that could mislead a reader; the program makes the same ones visible. */
const MISLEADS =
  /[\0-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
const SHORT: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** A text on one line, with what misleads shown as `\n`, `\x1b` or `\u{202e}`. */
export function visible(text: string): string {
  return text.replace(MISLEADS, (found) => {
    const code = found.codePointAt(0) ?? 0;
    const hex = code.toString(16);
    return SHORT[found] ?? (code < 0x80 ? `\\x${hex.padStart(2, "0")}` : `\\u{${hex}}`);
  });
}

/** 20 244: groups of three, with a space that does not break. */
export function whole(number: number): string {
  return String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, "\u00a0");
}

export function counted(number: number, noun: string): string {
  return `${whole(number)} ${noun}${number === 1 ? "" : "s"}`;
}

export function size(bytes: number): string {
  if (bytes < 1_000) return counted(bytes, "byte");
  const [by, unit] = bytes < 1_000_000 ? [1_000, "kB"] : [1_000_000, "MB"];
  return `${(Math.floor((bytes * 10) / by) / 10).toFixed(1)} ${unit}`;
}

export function duration(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 60) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  const two = (number: number) => String(number).padStart(2, "0");
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} m ${two(seconds % 60)} s`;
  return `${Math.floor(seconds / 3_600)} h ${two(Math.floor(seconds / 60) % 60)} m`;
}
