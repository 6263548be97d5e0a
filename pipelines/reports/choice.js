// Parts that are about one partition stand behind those about all; with scripts a reader chooses which are shown.
(() => {
  const parts = [...document.querySelectorAll("section[data-only]")], main = document.querySelector("main");
  if (!parts.length) return;
  const names = [...new Set(parts.map(each => each.dataset.only))];
  const choice = document.createElement("p"), label = document.createElement("label"), select = document.createElement("select");
  const others = [...main.querySelectorAll("section:not([data-only]):not([data-always])")];
  choice.className = "choice";
  label.append("Jobs of ", select);
  choice.append(label);
  for (const name of ["all", ...names]) select.append(new Option(name));
  const show = () => {
    for (const each of parts) each.hidden = each.dataset.only !== select.value;
    for (const each of others) each.hidden = select.value !== "all";
    dispatchEvent(new Event("resize"));  // which columns lie beyond the edge is said anew
  };
  select.addEventListener("change", show);
  // Where a browser goes back, it may have kept what was chosen.
  addEventListener("pageshow", show);
  main.before(choice);
  show();
})();
