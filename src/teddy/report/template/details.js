// Details of a ticket: all columns of its seeds, its command and its settings.

const UNITS = [
  ["seed", "seed"], ["test", `test ${page.metric} (%)`], ["val", `validation ${page.metric} (%)`],
  ["best_epoch", "best epoch"], ["last_test", `test ${page.metric}, last epoch (%)`],
  ["dense_test", `dense: test ${page.metric} (%)`], ["dense_val", `dense: validation ${page.metric} (%)`],
  ["dense_best_epoch", "dense: best epoch"], ["dense_last_test", `dense: test ${page.metric}, last epoch (%)`],
  ...(page.hits ? [["hits", `test ${page.hits} (%)`], ["dense_hits", `dense: test ${page.hits} (%)`]] : []),
  ["distill", "lambda (distillation)"], ["split", "split"],
];
const TITLED = new Set(["dataset", "model", "method", "simulation", "graph_sparsity", "weight_sparsity"]);
// Columns of link prediction; empty for other tasks.
const LINK_COLUMNS = new Set(["hits_at", "hits", "dense_hits"]);

function written(value) {
  if (value === null || value === undefined) return "\u2013";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value)) return value.toLocaleString("en");
  return Math.abs(value) < 0.01 ? value.toPrecision(3) : String(Number(value.toFixed(3)));
}

function showCommand(cell) {
  const command = document.getElementById("details-command");
  command.hidden = !cell.command;
  command.querySelector("code").textContent = cell.command || "";
  const holder = document.getElementById("details-settings");
  const known = page.settings.find((one) => ["dataset", "model", "method"].every((name) => one[name] === cell[name]));
  holder.hidden = !known;
  holder.querySelector("dl").replaceChildren(...Object.entries(known?.settings || {}).map(([name, value]) => {
    const line = element("div");
    line.append(element("dt", name.replaceAll("_", " ")), element("dd", typeof value === "object" ? JSON.stringify(value) : String(value)));
    return line;
  }));
}

function showDetails(position) {
  const cell = page.cells[position];
  document.getElementById("details-title").textContent = `${cell.method}, level ${cell.level}`;
  document.getElementById("details-note").textContent =
    `${cell.model} on ${cell.dataset}: ${number(cell.graph, 1)}% of the edges and ${number(cell.weight, 1)}% of the weights ` +
    `removed; ${meanText(cell.best, cell.seeds)}% against ${number(cell.dense)}% dense` +
    (cell.verdict === "dense" ? "" : `, ${interval(cell.best.difference)}: ${cell.verdict}`) + ".";
  const named = new Map(UNITS);
  const names = [...named.keys(), ...page.columns.filter((name) => !named.has(name) && !TITLED.has(name) && !LINK_COLUMNS.has(name))];
  const table = document.getElementById("details-table");
  table.replaceChildren();
  const body = table.createTBody();
  for (const name of names) {
    const at = page.columns.indexOf(name);
    if (at < 0) continue;
    const line = body.insertRow();
    line.append(element("th", named.get(name) || name.replaceAll("_", " "), { scope: "row" }));
    const values = cell.rows.map((row) => written(page.rows[row][at]));
    // A value that all seeds share is written once.
    const shared = values.length > 1 && values.every((value) => value === values[0]);
    for (const value of shared ? [values[0]] : values) {
      line.append(element("td", value, shared ? { class: "shared", colspan: values.length } : { class: "number" }));
    }
  }
  showCommand(cell);
  const dialog = document.getElementById("details");
  if (!dialog.open) dialog.showModal();
}
