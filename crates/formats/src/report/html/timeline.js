// The timeline: keys, zoom, cards, and the place of the transcript.
page.timeline = (svg) => {
  const section = svg.closest("section");
  const box = svg.parentElement;
  const bars = page.all("a[id]", svg);
  const links = page.all("a[href]", svg);
  const reset = section.querySelector(".reset");
  const height = Number(svg.getAttribute("height"));
  const element = (name, attributes) => {
    const it = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) it.setAttribute(key, value);
    return it;
  };

  // A card instead of the browser's own tooltip.
  for (const link of links) {
    const title = link.querySelector("title");
    if (title && link.id) link.setAttribute("aria-label", title.textContent);
    title?.remove();
  }

  // All bars are one stop of the Tab key; arrow keys go from one to the next.
  let stop = bars[0];
  for (const bar of bars) bar.tabIndex = bar === stop ? 0 : -1;
  const keys = section.querySelector(".keys");
  const goTo = (bar) => {
    if (!bar) return;
    stop.tabIndex = -1;
    stop = bar;
    stop.tabIndex = 0;
    stop.focus();
  };
  section.addEventListener("focusin", ({ target }) => {
    keys.hidden = !bars.includes(target);
    if (target !== stop && bars.includes(target)) goTo(target);
    const rect = bars.includes(target) && target.querySelector("rect").getBoundingClientRect();
    if (rect) show(target, rect.left, rect.bottom);
  });
  section.addEventListener("focusout", () => {
    keys.hidden = true;
    card.hidden = true;
  });
  section.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || !bars.includes(event.target)) return;
    const shown = bars.filter((bar) => bar === stop || !bar.classList.contains("off"));
    const at = shown.indexOf(stop);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: shown.length - 1 };
    const middle = parseFloat(stop.querySelector("rect").getAttribute("x"));
    if (event.key === "+" || event.key === "-") zoomTo(event.key === "+" ? zoom * 2 : zoom / 2, middle);
    else if (event.key in to) goTo(shown[to[event.key]]);
    else return;
    event.preventDefault();
  });

  // Places in percent, and the times or events there.
  const points = svg.dataset.axis.split(" ").map(Number);
  const between = (value, from, to) => {
    let at = 0;
    while (at + 4 < points.length && points[at + 2 + from] <= value) at += 2;
    const [a, b] = [points[at + from], points[at + 2 + from]];
    const [c, d] = [points[at + to], points[at + 2 + to]];
    return c + (b > a ? (value - a) / (b - a) : 0) * (d - c);
  };
  const clock = (ms) => {
    if (svg.dataset.times === undefined) return String(Math.round(ms));
    const tenths = Math.round(Math.abs(ms) / 100);
    const two = (number) => String(number).padStart(2, "0");
    const [hours, minutes, seconds] = [Math.floor(tenths / 36000), Math.floor(tenths / 600) % 60, Math.floor(tenths / 10) % 60];
    const text = (hours ? hours + ":" + two(minutes) : minutes) + ":" + two(seconds) + "." + (tenths % 10);
    return ms <= -100 ? "−" + text : text;
  };

  let zoom = 1;
  const ticks = svg.querySelector(".ticks");
  const original = [...ticks.childNodes];
  const drawTicks = () => {
    if (zoom === 1) return ticks.replaceChildren(...original);
    const [first, last] = [points[1], points.at(-1)];
    const least = (last - first) / (6 * zoom);
    const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
    const nice = svg.dataset.times === undefined ? [] : [3e4, 6e4, 12e4, 3e5, 6e5, 18e5, 36e5, 72e5];
    const plain = [1, 2, 5, 10].map((it) => it * power);
    const size = (least >= 1e4 && nice.find((it) => it >= least)) || plain.find((it) => it >= least);
    const drawn = [];
    for (let at = Math.ceil(first / size) * size, free = 0; at <= last && drawn.length < 2000; at += size) {
      const x = between(at, 1, 0);
      if (x < free) continue;
      free = x + 8 / zoom;
      const bottom = height - 20;
      drawn.push(element("line", { x1: x + "%", x2: x + "%", y1: 0, y2: bottom + 5 }));
      const text = element("text", { x: x + "%", y: bottom + 15 });
      text.textContent = clock(at);
      drawn.push(text);
    }
    ticks.replaceChildren(...drawn);
  };
  const zoomTo = (size, middle) => {
    zoom = Math.min(Math.max(size, 1), 200);
    svg.setAttribute("width", zoom * 100 + "%");
    box.classList.toggle("zoomed", zoom > 1);
    box.scrollLeft = (box.scrollWidth * middle) / 100 - box.clientWidth / 2;
    reset.hidden = zoom === 1;
    drawTicks();
  };
  reset.addEventListener("click", () => zoomTo(1, 0));

  let from = null;
  let area = null;
  let wasDragged = false;
  const place = (event) => event.clientX - svg.getBoundingClientRect().left;
  svg.addEventListener("dragstart", (event) => event.preventDefault());
  svg.addEventListener("pointerdown", (event) => {
    wasDragged = false;
    if (event.button === 0 && event.pointerType !== "touch") from = place(event);
  });
  addEventListener("pointermove", (event) => {
    if (from === null) return;
    const to = place(event);
    if (!area && Math.abs(to - from) < 5) return;
    if (!area) svg.append((area = element("rect", { class: "drag", y: 0, height })));
    wasDragged = true;
    card.hidden = true;
    area.setAttribute("x", Math.min(from, to));
    area.setAttribute("width", Math.abs(to - from));
  });
  addEventListener("pointerup", (event) => {
    if (area) {
      const [to, width] = [place(event), svg.getBoundingClientRect().width];
      const size = (zoom * box.clientWidth) / Math.max(Math.abs(to - from), 1);
      zoomTo(size, ((from + to) / 2 / width) * 100);
      area.remove();
    }
    from = area = null;
  });
  svg.addEventListener("click", (event) => wasDragged && event.preventDefault(), true);

  const card = document.createElement("div");
  card.className = "card";
  card.hidden = true;
  document.body.append(card);
  const show = (link, x, y) => {
    const item = document.getElementById(link.getAttribute("href").slice(1));
    const line = (it) => (it ? it.textContent.replace(/\s+/g, " ").trim().slice(0, 300) : "");
    const head = item?.querySelector("summary") ?? item?.lastElementChild;
    card.textContent = item?.id === "omitted" || !item?.querySelector(".at")
      ? link.getAttribute("aria-label")
      : line(head) + "\n" + line(item.querySelector("time")) + " line " + line(item.querySelector(".line"));
    if (!card.textContent) return;
    card.hidden = false;
    const left = Math.min(x + 10, innerWidth - card.offsetWidth - 20);
    card.style.left = Math.max(left, 8) + scrollX + "px";
    card.style.top = y + scrollY + 14 + "px";
  };
  svg.addEventListener("pointermove", (event) => {
    const link = event.target.closest?.("a[href]");
    if (link && from === null) show(link, event.clientX, event.clientY);
    else card.hidden = true;
  });
  svg.addEventListener("pointerleave", () => (card.hidden = true));
  addEventListener("keydown", ({ key }) => key === "Escape" && (card.hidden = true));

  // Where the reader is in the transcript.
  const places = new Map();
  for (const link of links) {
    const shape = link.querySelector("[x], [cx]");
    const at = link.getAttribute("href").slice(1);
    if (!places.has(at)) places.set(at, shape.getAttribute("x") ?? shape.getAttribute("cx"));
  }
  const here = element("line", { class: "here", y1: 0, y2: height - 16 });
  svg.append(here);
  const log = document.getElementById("log");
  const follow = () => {
    const bounds = log.getBoundingClientRect();
    const y = Math.max(bounds.top + 4, (section.classList.contains("stay") ? section.offsetHeight : 0) + 40);
    let item = document.elementFromPoint(bounds.left + 20, y)?.closest("#log > li");
    while (item && !places.has(item.id)) item = item.previousElementSibling;
    here.style.display = item && bounds.top < innerHeight / 2 ? "" : "none";
    const x = item ? places.get(item.id) : "0";
    here.setAttribute("x1", x);
    here.setAttribute("x2", x);
  };
  let isAsked = false;
  addEventListener("scroll", () => {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => {
      isAsked = false;
      follow();
    });
  });
  // A low timeline stays in view.
  const fit = () => {
    const stays = section.offsetHeight <= innerHeight * 0.3;
    section.classList.toggle("stay", stays);
    document.documentElement.style.setProperty("--top", stays ? section.offsetHeight + "px" : "0px");
    follow();
  };
  addEventListener("resize", fit);
  fit();
};

{
  const svg = document.getElementById("run");
  if (svg) page.timeline(svg);
}
