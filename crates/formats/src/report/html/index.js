// The index: search, order, and reasons.
page.index = (form) => {
  const table = document.querySelector(".streams");
  const groups = page.all("tbody", table);
  const rows = groups.flatMap((group) => page.all("tr:not(.group)", group).map((row) => ({ row, group })));
  const { search, order } = form.elements;
  const value = ({ row }) => Number(row.querySelector(`[data-name="${order.value}"]`)?.dataset.value ?? -1);
  const name = ({ row }) => row.querySelector("a").textContent;
  const texts = new Map(rows.map(({ row }) => [row, row.textContent.toLowerCase()]));

  const apply = () => {
    const term = search.value.trim().toLowerCase();
    const reasons = page.pressed(form).map((chip) => chip.value);
    let shown = 0;
    for (const { row, group } of rows) {
      row.hidden =
        !texts.get(row).includes(term) || (reasons.length > 0 && !reasons.includes(group.dataset.reason));
      shown += !row.hidden;
    }
    const flat = order.value !== "";
    const compare = (a, b) =>
      order.value === "name" ? name(a).localeCompare(name(b)) : value(b) - value(a);
    table.classList.toggle("flat", flat);
    for (const { row, group } of flat ? [...rows].sort(compare) : rows) (flat ? groups[0] : group).append(row);
    for (const group of groups) {
      const head = group.querySelector(".group");
      const count = page.all("tr:not(.group)", group).filter((row) => !row.hidden).length;
      head.hidden = flat || count === 0;
      head.querySelector("small").textContent = count;
    }
    form.querySelector("output").value = shown < rows.length ? shown + " of " + rows.length + " streams" : "";
    const state = new URLSearchParams();
    if (term) state.set("q", search.value.trim());
    if (flat) state.set("order", order.value);
    for (const reason of reasons) state.append("reason", reason);
    if (location.hash || [...state].length > 0) page.remember(state);
  };

  const state = page.state();
  search.value = state.get("q") ?? "";
  order.value = state.get("order") ?? "";
  if (order.selectedIndex < 0) order.value = "";
  page.press(form, state);
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  page.chips(form, apply);
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.matches?.("input, select")) return;
    event.preventDefault();
    search.focus();
  });
  form.hidden = false;
  apply();
};

{
  const form = document.getElementById("streams");
  if (form && document.querySelector(".streams")) page.index(form);
}
