// Switches, theme and downloads.

function prepareMethods() {
  const holder = document.getElementById("methods");
  for (const method of page.methods) {
    const chip = element("label", "", { class: "chip" });
    const box = element("input", "", { type: "checkbox", value: method.name });
    box.checked = true;
    box.addEventListener("change", () => {
      state.hidden[box.checked ? "delete" : "add"](method.name);
      drawAll();
    });
    chip.append(box, element("i"), element("span", method.name));
    holder.append(chip);
  }
  const dense = element("span", "", { class: "chip fixed" });
  dense.append(swatch({ colour: "currentColor", dash: "dash" }), element("span", "dense"));
  holder.append(dense);
  colourMethods();
}

// The chips are the legend of all charts.
function colourMethods() {
  page.methods.forEach((method, index) => {
    const holder = document.querySelectorAll("#methods .chip i")[index];
    holder.replaceChildren(swatch({ ...method, colour: tinted(method.colour) }));
  });
}

// One switch for each heat map of this data set and model, if there are several.
function prepareMaps() {
  const holder = document.getElementById("maps");
  const maps = page.problems[state.problem].heatmaps;
  state.map = 0;
  holder.replaceChildren();
  holder.hidden = maps.length < 2;
  if (holder.hidden) return;
  const set = element("fieldset", "", { class: "segments" });
  set.append(element("legend", "Rows and columns"));
  maps.forEach((map, index) => {
    const label = element("label");
    const button = element("input", "", { type: "radio", name: "map", value: index });
    button.checked = index === 0;
    button.addEventListener("change", () => { state.map = index; drawHeat(); });
    label.append(button, element("span", index === 0 ? "methods \u00d7 levels" : map.name));
    set.append(label);
  });
  holder.append(set);
}

function setTheme(isDark) {
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  const button = document.getElementById("theme");
  button.textContent = isDark ? "Light" : "Dark";
  button.setAttribute("aria-label", isDark ? "Light colours" : "Dark colours");
}

function changeTheme(isDark) {
  setTheme(isDark);
  colourMethods();
  drawAll();
}

function download(name, kind, text) {
  const link = element("a", "", { download: name, href: URL.createObjectURL(new Blob([text], { type: kind })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function asCsv() {
  const field = (value) => {
    const text = value === null ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [page.columns, ...page.rows].map((row) => row.map(field).join(",")).join("\r\n") + "\r\n";
}

function asJson() {
  const rows = page.rows.map((row) => Object.fromEntries(page.columns.map((name, at) => [name, row[at]])));
  return JSON.stringify({ ...page.metadata, rows, cells: page.cells }, null, 1);
}

function prepare() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  setTheme(system.matches);
  prepareMethods();
  prepareMaps();
  prepareTable();
  prepareForest();
  drawAll();
  const on = (id, kind, action) => document.getElementById(id)?.addEventListener(kind, action);
  system.addEventListener("change", () => changeTheme(system.matches));
  on("theme", "click", () => changeTheme(!dark()));
  on("problem", "change", (event) => {
    state.problem = Number(event.target.value);
    prepareMaps();
    narrowTable();
    drawAll();
  });
  on("axis", "change", (event) => { state.axis = event.target.value; drawMetric(); });
  on("epoch", "change", (event) => { state.epoch = event.target.value; drawMetric(); drawHeat(); });
  on("which", "change", narrowTable);
  on("csv", "click", () => download("results.csv", "text/csv", asCsv()));
  on("json", "click", () => download("results.json", "application/json", asJson()));
  on("close", "click", () => document.getElementById("details").close());
  // A click beside the dialog closes it.
  on("details", "click", (event) => { if (event.target.id === "details") event.target.close(); });
  // On paper, dark ink on white.
  let before;
  addEventListener("beforeprint", () => {
    before = dark();
    changeTheme(false);
  });
  addEventListener("afterprint", () => changeTheme(before));
}

prepare();
