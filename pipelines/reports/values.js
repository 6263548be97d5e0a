// Below a picture stands what is drawn where somebody points. The values are beside the drawing; nothing is computed here but their place.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const written = value => value === null ? "not known" : value.toLocaleString("en", { maximumSignificantDigits: 4 });

  function prepare(figure, told) {
    const svg = figure.querySelector("svg"), words = document.createElement("p"), mark = document.createElementNS(SVG, "rect");
    words.className = "values";
    words.setAttribute("aria-live", "polite");
    words.textContent = "\u00a0";
    figure.append(words);
    const place = Object.fromEntries(["left", "right", "top", "bottom", "begin", "end"].map(each => [each, Number(figure.dataset[each])]));
    mark.setAttribute("visibility", "hidden");
    mark.setAttribute("fill", "none");
    mark.setAttribute("stroke", "#d55e00");
    mark.setAttribute("pointer-events", "none");
    svg.append(mark);
    const put = (x, y, width, height) => {
      for (const [name, value] of Object.entries({ x, y, width, height })) mark.setAttribute(name, value);
      mark.setAttribute("visibility", "visible");
    };
    const hide = () => {
      mark.setAttribute("visibility", "hidden");
      words.textContent = "\u00a0";
    };

    // What is drawn at a share of the width: the step that holds there, of what is shown just now.
    const times = [];
    for (const each of told.edges ?? []) times.push((times.at(-1) ?? 0) + each);
    function overTime(x) {
      const [from, to] = figure.shown ?? [place.begin, place.end], time = from + x * (to - from);
      let low = 0, high = times.length - 1;
      if (time < times[low] || time > times[high]) return hide();
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (times[middle] <= time) low = middle; else high = middle;
      }
      const moment = each => clock(each, figure.dataset.zone);
      const values = told.series.map(each => `${each.name || told.what} ${written(each.values[low])}`);
      const unit = told.series.some(each => each.name) ? ` (${told.what})` : "";
      words.textContent = `${moment(times[low])} to ${moment(times[low + 1])}: ${values.join(", ")}${unit}`;
      put(place.left + x * (place.right - place.left), place.top, 0, place.bottom - place.top);
    }
    function cell(x, y) {
      const row = Math.min(Math.floor(y * told.rows.length), told.rows.length - 1);
      const column = Math.min(Math.floor(x * told.columns.length), told.columns.length - 1);
      const width = (place.right - place.left) / told.columns.length, height = (place.bottom - place.top) / told.rows.length;
      words.textContent = `${told.rows[row]} ${told.columns[column]}: ${told.cells[row][column]}`;
      put(place.left + column * width, place.top + row * height, width, height);
    }
    svg.addEventListener("pointermove", event => {
      const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      const x = (point.x - place.left) / (place.right - place.left), y = (point.y - place.top) / (place.bottom - place.top);
      if (x < 0 || x > 1 || y < 0 || y > 1) hide();
      else if (told.cells) cell(x, y);
      else overTime(x);
    });
    svg.addEventListener("pointerleave", hide);
  }

  for (const figure of document.querySelectorAll("figure[data-left]")) {
    const told = figure.querySelector('script[type="application/json"]');
    if (told) prepare(figure, JSON.parse(told.textContent));
  }
})();
