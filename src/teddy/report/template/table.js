// The table of verdicts: sorted by its headings, filtered by the selection.

function sortTable(table, column, direction) {
  const body = table.tBodies[0];
  const key = (row) => row.cells[column].dataset.sort;
  const numbers = [...body.rows].every((row) => key(row) === "" || !Number.isNaN(Number(key(row))));
  const compare = (a, b) => {
    const [one, two] = [key(a), key(b)];
    // Unknown values come last in both directions.
    if (one === "" || two === "") return (one === "") - (two === "");
    return direction * (numbers ? one - two : one.localeCompare(two, "en", { numeric: true }));
  };
  body.append(...[...body.rows].sort(compare));
}

function prepareTable() {
  const table = document.getElementById("verdicts");
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    heading.querySelector("button").addEventListener("click", () => {
      const up = heading.getAttribute("aria-sort") !== "ascending";
      for (const other of headings) other.setAttribute("aria-sort", "none");
      heading.setAttribute("aria-sort", up ? "ascending" : "descending");
      sortTable(table, column, up ? 1 : -1);
    });
  });
  table.tBodies[0].addEventListener("click", (event) => {
    const row = event.target.closest("tr");
    if (row) showDetails(Number(row.dataset.cell));
  });
}

function narrowTable() {
  const chosen = document.querySelector("input[name=which]:checked");
  const all = !chosen || chosen.value === "all";
  for (const row of document.getElementById("verdicts").tBodies[0].rows) {
    row.hidden = !all && Number(row.dataset.problem) !== state.problem;
  }
}
