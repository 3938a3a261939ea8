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

export function size(bytes: number): string {
  if (bytes < 1_000) return `${bytes} byte${bytes === 1 ? "" : "s"}`;
  const [by, unit] = bytes < 1_000_000 ? [1_000, "kB"] : [1_000_000, "MB"];
  return `${(Math.floor((bytes * 10) / by) / 10).toFixed(1)} ${unit}`;
}

/** With three digits or so: `230 ms`, `2.31 s`, `40.1 s`, `12 m 05 s`, `1 h 02 m`, `12 d 03 h`. */
export function duration(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  const two = (number: number) => String(Math.floor(number)).padStart(2, "0");
  if (ms < 1_000) return `${Math.floor(ms)} ms`;
  if (ms < 10_000) return `${seconds}.${two((ms % 1_000) / 10)} s`;
  if (ms < 60_000) return `${seconds}.${Math.floor((ms % 1_000) / 100)} s`;
  if (ms < 3_600_000) return `${Math.floor(seconds / 60)} m ${two(seconds % 60)} s`;
  if (ms <= 172_800_000) return `${Math.floor(seconds / 3_600)} h ${two((seconds % 3_600) / 60)} m`;
  return `${Math.floor(seconds / 86_400)} d ${two((seconds % 86_400) / 3_600)} h`;
}
