"use strict";
{
  const form = document.getElementById("filter");
  const items = [...document.querySelectorAll("#log > li")];
  const bars = [...document.querySelectorAll(".timeline a[id]")];
  const texts = new Map();
  const textOf = (item) => {
    if (!texts.has(item)) texts.set(item, item.textContent.replace(/\s+/g, " ").toLowerCase());
    return texts.get(item);
  };

  const filter = () => {
    const { search, show, outcome } = form.elements;
    const term = search.value.trim().toLowerCase();
    let shown = 0;
    for (const item of items) {
      const { kind, tool, outcome: how } = item.dataset;
      const fits =
        (!show.value || show.value === kind || show.value === "tool:" + tool) &&
        (!outcome?.value || outcome.value === how) &&
        (!term || textOf(item).includes(term));
      item.hidden = !fits;
      shown += fits;
      const bar = document.getElementById(item.id.replace(/^c/, "b"));
      if (bar && bar !== item) bar.classList.toggle("off", !fits);
    }
    const all = shown === items.length;
    form.querySelector("output").value = all ? "" : shown + " of " + items.length + " entries";
  };

  // Shows the target of a link, and gives it the focus.
  const reveal = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (target?.hidden) {
      form.reset();
      filter();
    }
    const details = target?.querySelector("details");
    if (details) details.open = true;
    target?.scrollIntoView({ block: "nearest" });
    target?.querySelector("summary, a")?.focus({ preventScroll: true });
  };

  // All bars are one stop of the Tab key; arrow keys go from one to the next.
  let stop = bars[0];
  for (const bar of bars) bar.tabIndex = bar === stop ? 0 : -1;
  const keys = document.querySelector(".keys");
  const timeline = stop?.closest("section");
  const goTo = (bar) => {
    if (!bar) return;
    stop.tabIndex = -1;
    stop = bar;
    stop.tabIndex = 0;
    stop.focus();
  };
  timeline?.addEventListener("focusin", ({ target }) => {
    keys.hidden = false;
    if (target !== stop && bars.includes(target)) goTo(target);
  });
  timeline?.addEventListener("focusout", () => (keys.hidden = true));
  timeline?.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const shown = bars.filter((bar) => bar === stop || !bar.classList.contains("off"));
    const at = shown.indexOf(stop);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: shown.length - 1 };
    if (!(event.key in to)) return;
    event.preventDefault();
    goTo(shown[to[event.key]]);
  });

  if (form) {
    form.hidden = false;
    form.addEventListener("input", filter);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.elements.fold?.addEventListener("click", ({ target }) => {
      const folds = document.querySelectorAll("#log details");
      const opens = [...folds].some((fold) => !fold.open);
      for (const fold of folds) fold.open = opens;
      target.textContent = opens ? "Fold all" : "Unfold all";
    });
    addEventListener("hashchange", reveal);
    // A link to where the reader already is changes nothing that the browser reports.
    addEventListener("click", ({ target }) => {
      if (target.closest("a")?.getAttribute("href") === location.hash && location.hash) reveal();
    });
    filter();
    reveal();
  }
}
