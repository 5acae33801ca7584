// The forest plots are in the page as tables: show those of the selected data set and baseline.

function showForest() {
  const baseline = document.getElementById("baseline").value;
  for (const plot of document.querySelectorAll(".forest")) {
    plot.hidden = Number(plot.dataset.problem) !== state.problem || plot.dataset.baseline !== baseline;
    for (const group of plot.querySelectorAll("tbody")) group.hidden = state.hidden.has(group.dataset.method);
  }
}

function prepareForest() {
  document.getElementById("baseline").addEventListener("change", showForest);
  for (const plot of document.querySelectorAll(".forest")) {
    plot.addEventListener("click", (event) => {
      const row = event.target.closest("tr[data-cell]");
      if (row) showDetails(Number(row.dataset.cell));
    });
  }
}
