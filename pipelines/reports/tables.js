// A table is sorted by a column whose heading is clicked, and can be taken along as CSV; without scripts it stands as it is.
(() => {
  const text = cell => [...cell.childNodes].filter(each => !(each.className === "what")).map(each => each.textContent).join("").trim();
  // What a word means is said where somebody rests on it, too.
  for (const link of document.querySelectorAll("a.what")) link.title = document.querySelector(link.hash)?.cells[1].textContent ?? "";

  const quoted = value => /[",\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
  const csv = table => [
    [...table.tHead.rows[0].cells].map(cell => text(cell) + (cell.dataset.unit ? `, ${cell.dataset.unit}` : "")),
    ...[...table.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.dataset.value ?? text(cell))),
  ].map(row => row.map(quoted).join(",")).join("\r\n") + "\r\n";

  for (const table of document.querySelectorAll("table.sorts")) {
    const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
    heads.forEach((head, place) => {
      head.setAttribute("aria-sort", "none");
      head.addEventListener("click", event => {
        if (event.target.closest("a")) return;  // it leads to what the word means
        const up = head.getAttribute("aria-sort") !== "ascending", sign = up ? 1 : -1;
        heads.forEach(each => each.setAttribute("aria-sort", "none"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const number = row => row.cells[place].dataset.value, words = row => row.cells[place].textContent;
        const order = (a, b) => number(a) && number(b) ? number(a) - number(b) : words(a).localeCompare(words(b), "en");
        body.append(...[...body.rows].sort((a, b) => sign * order(a, b)));
      });
    });
    const tools = document.createElement("p"), button = document.createElement("button");
    const heading = table.closest("section").querySelector("h2"), caption = table.caption;
    const name = [heading, caption].filter(Boolean).map(text).join(" ").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60);
    tools.className = "tools";
    button.textContent = "CSV";
    button.title = "Save this table as CSV";
    button.addEventListener("click", () => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([csv(table)], { type: "text/csv" }));
      link.download = `${name}.csv`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href));
    });
    tools.append(button);
    table.closest(".wide").after(tools);
  }

  // Where columns, or parts of a picture, lie beyond the edge of a phone it is said so.
  function sayMore() {
    for (const each of document.querySelectorAll(".more")) each.remove();
    for (const wide of document.querySelectorAll(".wide")) {
      if (wide.scrollWidth <= wide.clientWidth + 1) continue;
      const more = document.createElement("p");
      more.className = "more";
      const what = wide.closest("figure") ? "The picture goes on" : "There are more columns";
      more.textContent = `${what} to the right \u2192`;
      wide.before(more);
    }
  }
  sayMore();
  addEventListener("resize", sayMore);
})();
