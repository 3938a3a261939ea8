// One of the two panes that show a recording in some form, side by side.

import type { Shown } from "./messages.js";
import { size, visible } from "./words.js";

/** The recording as it came, or in another form. */
export type Choice = Shown | "recording";

const CHOICES: readonly (readonly [Choice, string])[] = [
  ["transcript", "transcript"],
  ["answer", "answer"],
  ["text", "log"],
  ["html", "page"],
  ["human", "report"],
  ["markdown", "report in Markdown"],
  ["events", "events"],
  ["json", "json"],
  ["stream-json", "stream-json"],
  ["chrome-trace", "chrome-trace"],
  ["otlp-json", "otlp-json"],
  ["atif", "atif"],
  ["recording", "the recording"],
];
const ENDINGS: Partial<Record<Choice, string>> = {
  "chrome-trace": "json",
  "otlp-json": "json",
  "stream-json": "ndjson",
  atif: "json",
  events: "ndjson",
  html: "html",
  json: "json",
  markdown: "md",
  recording: "ndjson",
};

/** Longest part of a form that is shown, and longest page, in bytes. */
const SHOWN_MAX = 200_000;
const PAGE_MAX = 20_000_000;

export class Pane {
  readonly #select: HTMLSelectElement;
  readonly #size: HTMLElement;
  readonly #download: HTMLAnchorElement;
  readonly #written: HTMLPreElement;
  readonly #page: HTMLIFrameElement;
  #address: string | undefined;
  #isWaiting = false;

  /** `want` is called when another form is chosen. */
  constructor(root: Element, first: Choice, want: (pane: Pane) => void) {
    const part = <T extends Element>(name: string): T => {
      const found = root.querySelector<T>(name);
      if (found === null) throw new Error(`a pane has no ${name}`);
      return found;
    };
    this.#select = part("select");
    this.#size = part(".size");
    this.#download = part("a");
    this.#written = part("pre");
    this.#page = part("iframe");
    for (const [choice, name] of CHOICES) this.#select.append(new Option(name, choice));
    this.#select.value = first;
    this.#select.addEventListener("change", () => want(this));
  }

  get choice(): Choice {
    return this.#select.value as Choice;
  }

  /** Shows nothing until the form is there. */
  wait(): void {
    this.#isWaiting = true;
    this.#written.hidden = this.#page.hidden = this.#download.hidden = true;
    this.#size.textContent = "";
  }

  /** Says something in place of a form that is not there. */
  say(text: string): void {
    if (this.#isWaiting) this.#size.textContent = text;
  }

  async show(choice: Choice, blob: Blob, name: string): Promise<void> {
    if (this.choice !== choice) return;
    const isPage = choice === "html";
    const isWhole = blob.size <= (isPage ? PAGE_MAX : SHOWN_MAX);
    const part = isPage && !isWhole ? "" : await blob.slice(0, isPage ? PAGE_MAX : SHOWN_MAX).text();
    if (this.choice !== choice) return;
    this.#isWaiting = false;
    // The program has made its own texts visible.
    const text = choice === "recording" ? part.split("\n").map(visible).join("\n") : part;
    const what = isPage ? "too long to show here" : `the first ${size(SHOWN_MAX)} are shown`;
    const nothing = blob.size === 0 ? "Nothing." : size(blob.size);
    this.#size.textContent = isWhole ? nothing : `${size(blob.size)}; ${what}`;
    this.#offer(choice, blob, name);
    this.#page.hidden = !isPage || !isWhole;
    if (isPage) this.#page.srcdoc = text;
    this.#written.hidden = isPage || blob.size === 0;
    this.#written.textContent = isPage ? "" : text;
  }

  #offer(choice: Choice, blob: Blob, name: string): void {
    if (this.#address !== undefined) URL.revokeObjectURL(this.#address);
    this.#address = URL.createObjectURL(new Blob([blob], { type: "application/octet-stream" }));
    this.#download.href = this.#address;
    this.#download.download = `${name.replace(/\.[a-z]+$/i, "")}.${choice}.${ENDINGS[choice] ?? "txt"}`;
    this.#download.hidden = blob.size === 0;
  }
}
