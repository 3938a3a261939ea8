"use strict";
{
  const form = document.getElementById("filter");
  const items = [...document.querySelectorAll("#log > li")];
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

  const reveal = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (target?.hidden) {
      form.reset();
      filter();
    }
    const details = target?.querySelector("details");
    if (details) details.open = true;
    target?.scrollIntoView({ block: "nearest" });
  };

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
    filter();
    reveal();
  }
}
