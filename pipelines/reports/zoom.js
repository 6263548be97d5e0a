// Pictures over time can be looked at more closely: what is drawn is stretched along the axis of time, and words stay as they are.
// Drag over a span to see it, double-click to see all; where a picture has the focus, + and - zoom, arrows move, 0 shows all.
// Without scripts the picture stands there whole. Nothing is changed but for the time that somebody looks closer.

// How far the clock of a zone is ahead of UTC at a time, s; a zone is "UTC", "UTC-08:00" or "Europe/Rome".
function ahead(time, zone) {
  const fixed = /^UTC([+-])(\d\d):(\d\d)$/.exec(zone);
  if (fixed) return (fixed[1] === "-" ? -60 : 60) * (60 * Number(fixed[2]) + Number(fixed[3]));
  if (!zone || zone === "UTC") return 0;
  const parts = new Intl.DateTimeFormat("en", { timeZone: zone, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric",
    hour: "numeric", minute: "numeric", second: "numeric" }).formatToParts(new Date(time * 1000));
  const { year, month, day, hour, minute, second } = Object.fromEntries(parts.map(each => [each.type, Number(each.value)]));
  return Date.UTC(year, month - 1, day, hour, minute, second) / 1000 - Math.floor(time);
}

// A time as people write it, by the clock of a zone; days from the start of the log where no date is known.
function clock(time, zone) {
  if (!zone) return `day ${(time / 86400).toFixed(3)}`;
  const local = new Date((time + ahead(time, zone)) * 1000).toISOString();
  return local.slice(0, local.slice(17, 19) === "00" ? 16 : 19).replace("T", " ");
}

(() => {
  const SVG = "http://www.w3.org/2000/svg", DAY = 86400;
  const STEPS = [1, 5, 15, 30, 60, 300, 900, 1800, 3600, 3 * 3600, 6 * 3600, 12 * 3600, DAY, 2 * DAY, 7 * DAY, 14 * DAY];
  const made = (name, attributes, into) => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return into.appendChild(element);
  };

  // Times (s) at which an axis from begin to end is labelled, about six, and what is written there.
  function ticks(begin, end, zone) {
    const least = (end - begin) / 6, found = [];
    if (!zone) {
      const power = 10 ** Math.floor(Math.log10(least / DAY)), step = power * [1, 2, 5, 10].find(each => each * power >= least / DAY);
      const digits = Math.max(0, -Math.floor(Math.log10(step)));
      for (let place = Math.ceil(begin / DAY / step); place * step <= end / DAY; place++)
        found.push([place * step * DAY, (place * step).toFixed(digits)]);
      return found;
    }
    // Ticks are round by the clock of the zone, whose distance from UTC may change on the way.
    const first = begin + ahead(begin, zone), last = end + ahead(end, zone);
    const put = (local, from, to) => {
      const time = local - ahead(local - ahead(local, zone), zone);
      if (time >= begin && time <= end) found.push([time, new Date(local * 1000).toISOString().slice(from, to).replace("T", " ")]);
    };
    const step = STEPS.find(each => each >= least);
    if (step) {
      const [from, to] = step >= DAY ? [0, 10] : step >= 60 ? [5, 16] : [11, 19];
      for (let local = Math.ceil(first / step) * step; local <= last; local += step) put(local, from, to);
      return found;
    }
    const months = [1, 3, 6, 12, 24, 60, 120].find(each => each * 30.4 * DAY >= least) || 240, date = new Date(first * 1000);
    let place = Math.ceil((date.getUTCFullYear() * 12 + date.getUTCMonth()) / months) * months;
    for (let local; (local = Date.UTC(Math.floor(place / 12), place % 12) / 1000) <= last; place += months) put(local, 0, 7);
    return found;
  }

  // Dots and rounds would become egg-shaped.
  const isDot = each => each.matches("use") || /C/.test(each.getAttribute("d"));

  function prepare(figure) {
    const svg = figure.querySelector("svg"), axes = svg.querySelector('g[id$="over-time"]');
    const { left, right, bottom, begin, end } = Object.fromEntries(
      Object.entries(figure.dataset).map(([key, value]) => [key, Number(value)]));
    const zone = figure.dataset.zone, own = axes.querySelector('g[id$="matplotlib.axis_1"]');
    const moved = [...axes.querySelectorAll("[clip-path]")].filter(each => !each.closest('g[id*="matplotlib.axis"]'));
    if (!own || !moved.length || moved.some(each => isDot(each) || [...each.children].some(isDot))) return;
    const layers = moved.map(each => {
      const frame = document.createElementNS(SVG, "g");
      frame.setAttribute("clip-path", each.getAttribute("clip-path"));
      each.removeAttribute("clip-path");
      each.replaceWith(frame);
      const layer = made("g", {}, frame);
      layer.append(each);
      return layer;
    });
    const words = made("g", {}, axes), text = own.querySelector("text"), ownTicks = own.querySelectorAll('g[id*="xtick_"], text[id*="offset"]');
    const offset = [...own.children].filter(each => each.id.includes("text_")).slice(1);  // behind the label: the date of them all
    const choice = made("rect", { y: 0, height: bottom, fill: "#0072B2", "fill-opacity": 0.15, visibility: "hidden" }, svg);
    let from = begin, to = end;

    function show(low, high) {
      const span = Math.min(Math.max(high - low, 10), end - begin);
      from = Math.min(Math.max(low, begin), end - span), to = from + span;
      figure.shown = [from, to];
      const isWhole = span >= end - begin, scale = (end - begin) / span;
      const place = time => left + (time - from) / span * (right - left);
      for (const layer of layers)
        if (isWhole) layer.removeAttribute("transform");
        else layer.setAttribute("transform", `matrix(${scale} 0 0 1 ${place(begin) - scale * left} 0)`);
      for (const each of [...ownTicks, ...offset]) each.style.display = isWhole ? "" : "none";
      words.replaceChildren();
      if (!isWhole)
        for (const [time, label] of ticks(from, to, zone)) {
          made("path", { d: `M${place(time)} ${bottom}v3.5`, stroke: "#000" }, words);
          const written = made("text", { x: place(time), y: text.getAttribute("y"), style: text.getAttribute("style") }, words);
          written.style.textAnchor = "middle";
          written.textContent = label;
        }
      figure.classList.toggle("zoomed", !isWhole);
    }

    const at = event => {
      const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      return Math.min(Math.max(point.x, left), right);
    };
    const time = x => from + (x - left) / (right - left) * (to - from);
    const zoom = (factor, middle) => show(middle - (middle - from) * factor, middle + (to - middle) * factor);
    let start = null;
    svg.addEventListener("pointerdown", event => {
      if (event.button === 0) start = at(event);
    });
    svg.addEventListener("pointermove", event => {
      if (start === null) return;
      if (!svg.hasPointerCapture(event.pointerId)) svg.setPointerCapture(event.pointerId);
      const x = at(event);
      choice.setAttribute("x", Math.min(start, x));
      choice.setAttribute("width", Math.abs(x - start));
      choice.setAttribute("visibility", "visible");
    });
    const ended = isMeant => event => {
      const x = at(event), before = start;
      choice.setAttribute("visibility", "hidden");
      start = null;
      if (isMeant && before !== null && Math.abs(x - before) > 5) show(time(Math.min(before, x)), time(Math.max(before, x)));
    };
    svg.addEventListener("pointerup", ended(true));
    svg.addEventListener("pointercancel", ended(false));
    svg.addEventListener("dblclick", () => show(begin, end));
    svg.addEventListener("wheel", event => {
      if (!event.ctrlKey) return;  // a wheel alone moves the page
      event.preventDefault();
      zoom(event.deltaY < 0 ? 0.8 : 1.25, time(at(event)));
    }, { passive: false });
    figure.addEventListener("keydown", event => {
      const middle = (from + to) / 2, step = (to - from) / 4;
      const acts = { "+": () => zoom(0.5, middle), "=": () => zoom(0.5, middle), "-": () => zoom(2, middle), "0": () => show(begin, end),
        Escape: () => show(begin, end), ArrowLeft: () => show(from - step, to - step), ArrowRight: () => show(from + step, to + step) };
      if (!acts[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      acts[event.key]();
    });
    figure.tabIndex = 0;
    figure.classList.add("zooms");
    const hint = document.createElement("p");
    hint.className = "hint";
    hint.textContent = "Drag over a span to look closer, double-click for all; by keys: + \u2212 \u2190 \u2192 0.";
    figure.append(hint);
    addEventListener("beforeprint", () => show(begin, end));
  }

  document.querySelectorAll("figure[data-begin]").forEach(prepare);
})();
