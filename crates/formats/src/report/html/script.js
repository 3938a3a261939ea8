"use strict";
// What both kinds of pages need.
const page = {
  all: (selector, root = document) => [...root.querySelectorAll(selector)],
  // A page that is part of another one has no address of its own.
  isFramed: location.protocol === "about:",
  // The state in the address: `#c12`, or `#q=words&kind=call&at=c12`.
  state() {
    const hash = location.hash.slice(1);
    if (hash.includes("=")) return new URLSearchParams(hash);
    try {
      return new URLSearchParams({ at: decodeURI(hash) });
    } catch {
      // Not an address that a page of ours wrote.
      return new URLSearchParams({ at: hash });
    }
  },
  remember(state) {
    const text = [...state].length === 1 && state.get("at") ? state.get("at") : state.toString();
    if (text !== location.hash.slice(1) && !page.isFramed) history.replaceState(null, "", "#" + text);
  },
  chips(form, changed) {
    for (const chip of page.all(".chips button", form)) {
      chip.addEventListener("click", () => {
        chip.ariaPressed = chip.ariaPressed === "true" ? "false" : "true";
        changed();
      });
    }
  },
  pressed: (form) => page.all('.chips [aria-pressed="true"]', form),
  press(form, state) {
    for (const chip of page.all(".chips button", form)) {
      chip.ariaPressed = String(state.getAll(chip.name).includes(chip.value));
    }
  },
};

// The transcript: search, filter, keys, links and copies.
page.transcript = (form) => {
  const items = page.all("#log > li");
  const { search, previous, next, failure, fold, copy } = form.elements;
  const output = form.querySelector("output");
  const bad = ".failed, .refused, .open, .finding.error, .notice.error";
  let sought = "";
  let hits = [];
  let hit = -1;
  let on = null;
  let left = items.length;

  const remember = () => {
    const state = new URLSearchParams();
    if (search.value.trim()) state.set("q", search.value.trim());
    for (const chip of page.pressed(form)) state.append(chip.name, chip.value);
    if (on) state.set("at", on.id);
    page.remember(state);
  };
  const say = (shown) => {
    const words = [];
    if (search.value.trim()) {
      const count = hits.length + (hits.length === 1 ? " hit" : " hits");
      words.push(hits.length === 0 ? "no hit" : hits.length === 1 ? count : Math.max(hit + 1, 1) + " of " + count);
    }
    if (shown !== undefined) left = shown;
    if (left < items.length) words.push(left + " of " + items.length + " entries");
    output.value = words.join(", ");
  };

  // An entry passes if it fits one chip of each group that has a pressed one.
  const filter = () => {
    const wanted = {};
    for (const { name, value } of page.pressed(form)) (wanted[name] ??= []).push(value);
    let shown = 0;
    for (const item of items) {
      item.hidden = Object.entries(wanted).some(([key, values]) => !values.includes(item.dataset[key]));
      shown += !item.hidden;
      const bar = item.id && document.getElementById(item.id.replace(/^c/, "b"));
      if (bar && bar !== item) bar.classList.toggle("off", item.hidden);
    }
    find();
    say(shown);
  };

  // All places of the text, also those that are folded.
  const find = () => {
    const term = search.value.trim().toLowerCase();
    [sought, hits, hit] = [search.value, [], -1];
    globalThis.CSS?.highlights?.clear();
    for (const item of term ? items : []) {
      if (item.hidden) continue;
      const walker = document.createTreeWalker(item, NodeFilter.SHOW_TEXT);
      const nodes = [];
      let text = "";
      while (walker.nextNode()) {
        if (walker.currentNode.parentElement.localName === "button") continue;
        nodes.push([text.length, walker.currentNode]);
        text += walker.currentNode.data;
      }
      const lower = text.toLowerCase();
      if (lower.length === text.length) text = lower;
      let node = 0;
      const place = (at, isEnd) => {
        while (nodes[node + 1] && nodes[node + 1][0] + (isEnd ? 1 : 0) <= at) node += 1;
        return [nodes[node][1], at - nodes[node][0]];
      };
      for (let at = text.indexOf(term); at >= 0 && hits.length < 5000; ) {
        const range = document.createRange();
        range.setStart(...place(at, false));
        range.setEnd(...place(at + term.length, true));
        hits.push(range);
        at = text.indexOf(term, at + term.length);
      }
    }
    if (hits.length > 0 && globalThis.Highlight) CSS.highlights.set("hit", new Highlight(...hits));
    say();
  };

  const mark = (item) => {
    on?.classList.remove("on");
    on = item;
    on?.classList.add("on");
  };
  const unfold = (node) => {
    for (let it = node.parentElement; it; it = it.parentElement) if (it.localName === "details") it.open = true;
  };
  const toHit = (step) => {
    if (hits.length === 0) return;
    hit = hit < 0 && step < 0 ? hits.length - 1 : (hit + step + hits.length) % hits.length;
    const range = hits[hit];
    const parent = range.startContainer.parentElement;
    unfold(range.startContainer);
    mark(parent.closest("#log > li"));
    if (globalThis.Highlight) CSS.highlights.set("at", new Highlight(range));
    parent.scrollIntoView({ block: "center" });
    const { top } = range.getBoundingClientRect();
    if (top < 0 || top > innerHeight - 40) scrollBy(0, top - innerHeight / 2);
    say();
    remember();
  };

  const goTo = (item, unfolds) => {
    if (!item) return;
    mark(item);
    const details = item.querySelector("details");
    if (details && unfolds) details.open = true;
    item.scrollIntoView({ block: "nearest" });
    item.querySelector("summary, a")?.focus({ preventScroll: true });
    remember();
  };
  const step = (by, wanted = "li") => {
    const shown = items.filter((it) => !it.hidden && (it === on || (it.id && it.matches(wanted))));
    if (shown.length === 0) return;
    const top = document.getElementById("log").getBoundingClientRect().top;
    const first = () => shown.findIndex((it) => top > 0 || it.getBoundingClientRect().bottom > 120);
    const at = shown.indexOf(on);
    const to = at >= 0 ? at + by : by > 0 ? Math.max(first(), 0) : first() - 1;
    goTo(shown[(to + shown.length) % shown.length], wanted !== "li");
  };

  // Shows the target of a link, and gives it the focus.
  const reveal = (id = page.state().get("at")) => {
    const target = document.getElementById(id);
    if (!target) return;
    if (target.hidden) {
      page.press(form, new URLSearchParams());
      filter();
    }
    if (items.includes(target)) return goTo(target, true);
    target.scrollIntoView({ block: "nearest" });
    target.querySelector("summary, a")?.focus({ preventScroll: true });
  };

  const toClipboard = async (text, button) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    const words = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = words), 1200);
  };
  const contents = (element) => page.all("pre", element).map((it) => it.textContent).join("");
  const command = (item) => {
    const detail = item.querySelector(".detail").textContent;
    const begin = detail.slice(0, 40).split("\\n")[0];
    const whole = page.all("dd", item).map(contents).find((text) => text.startsWith(begin));
    return begin && whole ? whole : detail;
  };
  const addCopies = (about) => {
    if (!about || about.querySelector("button")) return;
    const item = about.closest("li");
    const add = (words, text) => {
      const button = document.createElement("button");
      [button.type, button.textContent] = ["button", words];
      button.addEventListener("click", () => toClipboard(text(), button));
      about.append(button);
    };
    if (item.dataset.command !== undefined) add("Copy command", () => command(item));
    const result = item.querySelector(".result");
    if (result) add("Copy result", () => contents(result));
  };
  const asText = (item) => {
    const line = (element) => (element ? element.textContent.replace(/\s+/g, " ").trim() : "");
    const call = item.querySelector(".tool");
    if (!call) return [...item.children].map(line).join("  ");
    const parts = page.all("dt, .label, .file, pre", item).map((it) =>
      it.localName === "pre" ? it.textContent.replace(/^/gm, "      ").trimEnd() : "    " + line(it),
    );
    return [line(item.querySelector(".at")) + "  " + line(item.querySelector("summary")), ...parts].join("\n");
  };

  let timer;
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => (find(), remember()), 120);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  page.chips(form, () => (filter(), remember()));
  previous.addEventListener("click", () => toHit(-1));
  next.addEventListener("click", () => toHit(1));
  failure?.addEventListener("click", () => step(1, bad));
  fold.addEventListener("click", () => {
    const folds = page.all("#log > li > details");
    const opens = folds.some((it) => !it.open);
    for (const it of folds) it.open = opens;
    fold.textContent = opens ? "Fold all" : "Unfold all";
  });
  copy.addEventListener("click", () => {
    const shown = items.filter((it) => !it.hidden);
    toClipboard(shown.map(asText).join("\n") + "\n", copy);
  });
  addEventListener("toggle", ({ target }) => target.open && addCopies(page.all(".about", target)[0]), true);
  for (const about of page.all("#log [open] > .about")) addCopies(about);
  addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const isInput = target.isContentEditable || target.matches?.("input, select, textarea");
    if (target === search && key === "Enter") {
      clearTimeout(timer);
      if (hits.length === 0 || search.value !== sought) find();
      toHit(event.shiftKey ? -1 : 1);
    } else if (target === search && key === "Escape") {
      search.value = "";
      find();
      remember();
      search.blur();
    } else if (!isInput) {
      const keys = {
        "/": () => (search.focus(), search.select()),
        j: () => step(1), k: () => step(-1),
        n: () => toHit(1), N: () => toHit(-1),
        f: () => failure && step(1, bad), F: () => failure && step(-1, bad),
      };
      if (!keys[key]) return;
      keys[key]();
    } else return;
    event.preventDefault();
  });
  addEventListener("hashchange", () => reveal());
  addEventListener("click", (event) => {
    const link = event.target.closest?.("a")?.getAttribute("href");
    if (!link?.startsWith("#")) return;
    if (page.isFramed) event.preventDefault();
    // A link to where the reader already is changes nothing that the browser reports.
    if (page.isFramed || link === location.hash) reveal(link.slice(1));
  });
  form.hidden = false;
  const state = page.state();
  search.value = state.get("q") ?? "";
  page.press(form, state);
  filter();
  reveal();
};

{
  const form = document.getElementById("filter");
  if (form) page.transcript(form);
}
