// What is behind a point: all columns of all its seeds.

const UNITS = [
  ["seed", "seed"], ["test", `test ${page.metric} (%)`], ["val", `validation ${page.metric} (%)`],
  ["best_epoch", "best epoch"], ["last_test", `test ${page.metric}, last epoch (%)`],
  ["dense_test", `dense: test ${page.metric} (%)`], ["dense_val", `dense: validation ${page.metric} (%)`],
  ["dense_best_epoch", "dense: best epoch"], ["dense_last_test", `dense: test ${page.metric}, last epoch (%)`],
  ...(page.hits ? [["hits", `test ${page.hits} (%)`], ["dense_hits", `dense: test ${page.hits} (%)`]] : []),
  ["distill", "lambda (distillation)"], ["split", "split"],
];
const TITLED = new Set(["dataset", "model", "method", "simulation", "graph_sparsity", "weight_sparsity"]);
// Columns of link prediction, which are empty for other tasks.
const OF_LINKS = new Set(["hits_at", "hits", "dense_hits"]);

function written(value) {
  if (value === null || value === undefined) return "\u2013";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value)) return value.toLocaleString("en");
  return Math.abs(value) < 0.01 ? value.toPrecision(3) : String(Number(value.toFixed(3)));
}

function showDetails(position) {
  const cell = page.cells[position];
  document.getElementById("details-title").textContent = `${cell.method}, simulation ${cell.simulation}`;
  document.getElementById("details-note").textContent =
    `${cell.model} on ${cell.dataset}: ${number(cell.graph, 1)}% of the edges and ${number(cell.weight, 1)}% of the weights ` +
    `removed; ${meanText(cell.best, cell.seeds)}% against ${number(cell.dense)}% dense` +
    (cell.verdict === "dense" ? "" : `, ${interval(cell.best.difference)}: ${cell.verdict}`) + ".";
  const named = new Map(UNITS);
  const names = [...named.keys(), ...page.columns.filter((name) => !named.has(name) && !TITLED.has(name) && !OF_LINKS.has(name))];
  const table = document.getElementById("details-table");
  table.replaceChildren();
  const body = table.createTBody();
  for (const name of names) {
    const at = page.columns.indexOf(name);
    if (at < 0) continue;
    const line = body.insertRow();
    line.append(element("th", named.get(name) || name.replaceAll("_", " "), { scope: "row" }));
    const values = cell.rows.map((row) => written(page.rows[row][at]));
    // What all seeds share is said once.
    const shared = values.length > 1 && values.every((value) => value === values[0]);
    for (const value of shared ? [values[0]] : values) {
      line.append(element("td", value, shared ? { class: "shared", colspan: values.length } : { class: "number" }));
    }
  }
  const dialog = document.getElementById("details");
  if (!dialog.open) dialog.showModal();
}
