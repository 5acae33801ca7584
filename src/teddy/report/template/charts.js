// The charts: each draws the selection in `state`, or shows why it is empty.

const page = JSON.parse(document.getElementById("data").textContent);
const state = { problem: 0, hidden: new Set(), axis: "graph", epoch: "best", map: 0 };
const AXES = {
  graph: "edges removed (%)",
  weight: "weights removed (%)",
  level: "level of the schedule",
};

function shownMethods() {
  return page.methods
    .filter((method) => !state.hidden.has(method.name))
    .map((method) => ({ ...method, colour: tinted(method.colour) }));
}

function cellsHere(method) {
  return page.cells
    .map((cell, position) => ({ ...cell, position }))
    .filter((cell) => cell.problem === state.problem && cell.method === method.name)
    .sort((a, b) => a.level - b.level);
}

// Draw into an element, or show its section's reason instead.
function show(id, traces, layout, some = traces.length > 0) {
  const chart = document.getElementById(id);
  const holder = chart.closest("section");
  chart.hidden = !some;
  if (id.startsWith("health")) chart.closest("figure").hidden = !some;
  const charts = [...holder.querySelectorAll(".chart")];
  holder.querySelector(".missing").hidden = charts.some((other) => !other.hidden);
  if (!some) {
    if (chart.data) Plotly.purge(chart);
    return;
  }
  const fresh = !chart.data;
  Plotly.react(chart, traces, layout, { displayModeBar: false, responsive: true });
  if (fresh) {
    chart.on("plotly_click", (event) => {
      const position = event.points[0].customdata;
      if (position !== null && position !== undefined) showDetails(position);
    });
  }
}

function marks(look, size = 8) {
  return { color: look.colour, symbol: symbol(look), size, line: { color: look.colour, width: look.hollow ? 1.6 : 0 } };
}

function about(cell) {
  return `<b>${plain(cell.method)}</b>, level ${cell.level}<br>` +
    `${number(cell.graph, 1)}% of edges, ${number(cell.weight, 1)}% of weights removed`;
}

function band(x, low, high, colour) {
  return {
    x: [...x, ...[...x].reverse()], y: [...high, ...[...low].reverse()], fill: "toself",
    fillcolor: faded(colour, 0.12), line: { width: 0 }, mode: "lines", hoverinfo: "skip",
  };
}

function drawMetric() {
  const bands = [], lines = [];
  let far = 0;
  for (const look of shownMethods()) {
    const cells = cellsHere(look).filter((cell) => cell[state.epoch]);
    if (!cells.length) continue;
    cells.sort((a, b) => a[state.axis] - b[state.axis]);
    const x = cells.map((cell) => cell[state.axis]);
    const parts = cells.map((cell) => cell[state.epoch]);
    far = Math.max(far, ...x);
    if (cells.some((cell) => cell.seeds > 1)) {
      const low = parts.map((part) => part.mean - part.deviation);
      const high = parts.map((part) => part.mean + part.deviation);
      bands.push({ ...band(x, low, high, look.colour), name: `${plain(look.name)} band` });
    }
    lines.push({
      x, y: parts.map((part) => part.mean), name: plain(look.name), mode: "lines+markers",
      line: { color: look.colour, dash: look.dash, width: 2 }, marker: marks(look),
      customdata: cells.map((cell) => cell.position), hoverinfo: "text",
      text: cells.map((cell) => `${about(cell)}<br>${meanText(cell[state.epoch], cell.seeds)}% ` +
        `(${cell.seeds} seed${cell.seeds > 1 ? "s" : ""}), ${interval(cell[state.epoch].difference)} against dense`),
    });
  }
  const dense = page.problems[state.problem].dense[state.epoch];
  const edge = far || 1;
  const range = [-0.03 * edge, 1.03 * edge];
  if (lines.length && dense) {
    const ink = themed("ink");
    if (dense.seeds > 1) {
      const ends = [dense.mean - dense.deviation, dense.mean + dense.deviation];
      bands.unshift({ ...band(range, [ends[0], ends[0]], [ends[1], ends[1]], ink), name: "dense band" });
    }
    lines.unshift({
      x: [range[0], edge / 2, range[1]], y: [dense.mean, dense.mean, dense.mean], name: "dense",
      mode: "lines", line: { color: ink, dash: "dash", width: 1.5 }, hoverinfo: "text",
      text: Array(3).fill(`<b>dense</b><br>${meanText(dense, dense.seeds)}%`),
    });
  }
  show("metric", [...bands, ...lines], baseLayout({
    xaxis: { title: AXES[state.axis], range },
    yaxis: { title: `test ${plain(page.metric)} (%)` },
  }));
}

function drawHeat() {
  const maps = page.problems[state.problem].heatmaps;
  const map = maps[Math.min(state.map, maps.length - 1)];
  const shown = new Set(shownMethods().map((method) => method.name));
  const rows = map ? map.rows.map((name, index) => ({ name, cells: map.cells[index] }))
    .filter((row) => !map.methods || shown.has(row.name)).reverse() : [];
  const value = (position) => (position === null ? null : page.cells[position][state.epoch]?.difference);
  const z = rows.map((row) => row.cells.map((position) => value(position)?.mean ?? null));
  const known = z.flat().filter((part) => part !== null);
  if (!known.length) return show("heat", [], {});
  const reach = Math.max(...known.map(Math.abs)) || 1;
  const label = (name) => (map.methods ? broken(name) : name);
  const trace = {
    type: "heatmap", name: "difference", x: map.columns, y: rows.map((row) => label(row.name)), z, xgap: 2, ygap: 2,
    zmin: -reach, zmax: reach, showscale: false, hoverongaps: false, hoverinfo: "text",
    colorscale: [[0, softened(page.below)], [0.5, themed("unknown")], [1, softened(page.above)]],
    customdata: rows.map((row) => row.cells),
    texttemplate: "%{text}", textfont: { color: themed("ink") }, text: z.map((row) => row.map((part) => signed(part, 1))),
    hovertext: rows.map((row) => row.cells.map((position) => (position === null ? "" :
      `${about(page.cells[position])}<br>${interval(value(position))} points`))),
  };
  const chart = document.getElementById("heat");
  const longest = Math.max(...rows.flatMap((row) => label(row.name).split("<br>").map((part) => part.length)));
  const left = 20 + 8 * longest + (map.ylabel ? 26 : 0);
  chart.style.minWidth = `${left + map.columns.length * 48}px`;
  show("heat", [trace], baseLayout({
    height: rows.length * rowHeight(rows.map((row) => label(row.name))) + 70, margin: { l: left, r: 8, t: 6, b: 54 },
    xaxis: { type: "category", title: map.xlabel, showgrid: false, ticks: "" },
    yaxis: { type: "category", title: map.ylabel, showgrid: false, ticks: "" },
  }));
}

function drawTiming() {
  const shown = new Map(shownMethods().map((method) => [method.name, method]));
  const rows = page.problems[state.problem].timing.filter((row) => shown.has(row.method)).reverse();
  const bar = (part, name, opacity) => ({
    type: "bar", orientation: "h", name, y: rows.map((row) => broken(row.method)), hoverinfo: "text",
    x: rows.map((row) => row[part].relative),
    marker: { color: rows.map((row) => faded(shown.get(row.method).colour, opacity)), line: { width: 0 } },
    text: rows.map((row) => `<b>${plain(row.method)}</b><br>${name} ${number(row[part].seconds)} s`), textposition: "none",
  });
  const far = Math.max(1, ...rows.map((row) => row.relative));
  const dense = page.problems[state.problem].dense.seconds;
  // Totals are in a separate column at the right, clear of the bars and the dense line.
  const totals = rows.map((row) => ({
    xref: "paper", x: 1, xanchor: "right", y: broken(row.method), showarrow: false,
    text: `${number(row.relative)}\u00d7  ${number(row.seconds)} s`,
  }));
  show("timing", rows.length ? [bar("training", "training of the ticket", 0.95), bar("masks", "last round of masks", 0.5)] : [], baseLayout({
    height: rows.length * rowHeight(rows.map((row) => broken(row.method))) + 96, barmode: "stack", bargap: 0.35, margin: { l: 48, r: 8, t: 26, b: 48 },
    xaxis: { title: "dense trainings", range: [0, far * (narrow() ? 1.9 : 1.22)], rangemode: "tozero" },
    yaxis: { type: "category", showgrid: false, ticks: "" },
    shapes: [{ type: "line", x0: 1, x1: 1, yref: "paper", y0: 0, y1: 1, line: { color: themed("ink"), dash: "dash", width: 1.5 } }],
    annotations: [...totals, { x: 1, y: 1, yref: "paper", yanchor: "bottom", showarrow: false, text: `dense${dense === null ? "" : `, ${number(dense)} s`}` }],
  }));
}

function drawMacs() {
  const traces = [];
  const all = [];
  for (const look of shownMethods()) {
    const cells = cellsHere(look).filter((cell) => cell.macs && cell.speedup && cell.verdict !== "dense");
    if (!cells.length) continue;
    all.push(...cells.flatMap((cell) => [cell.macs, cell.speedup]));
    traces.push({
      x: cells.map((cell) => cell.macs), y: cells.map((cell) => cell.speedup), name: plain(look.name),
      mode: "markers", marker: marks(look, 10), customdata: cells.map((cell) => cell.position), hoverinfo: "text",
      text: cells.map((cell) => `${about(cell)}<br>${number(cell.macs)}\u00d7 fewer MACs, ${number(cell.speedup)}\u00d7 faster`),
    });
  }
  const some = traces.length > 0;
  const low = Math.min(1, ...all) / 1.2, high = Math.max(1.5, ...all) * 1.2;
  const line = (y, dash, name) => ({
    x: [low, high], y, name, mode: "lines", hoverinfo: "skip", line: { color: themed("muted"), dash, width: 1.2 },
  });
  if (some) traces.unshift(line([1, 1], "dot", "as fast as dense"), line([low, high], "dash", "identity"));
  const coarse = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256];
  const fine = [0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5];
  // Neither the ticks nor the note at the diagonal's end may touch what is beside them.
  const chart = document.getElementById("macs");
  const [wide, tall] = [(chart.clientWidth || innerWidth) - 70, 360];
  const ticks = [1];
  const gap = (one, other) => Math.abs(Math.log(one / other)) / Math.log(high / low) * Math.min(wide, tall);
  for (const tick of (high / low < 5 ? fine : coarse).filter((one) => one >= low && one <= high)) {
    if (ticks.every((other) => gap(tick, other) > 38)) ticks.push(tick);
  }
  const axis = {
    type: "log", range: [Math.log10(low), Math.log10(high)],
    tickvals: ticks, ticktext: ticks.map((tick) => `${tick}\u00d7`),
  };
  const note = (x, y, text, more) => ({ xref: "x", yref: "y", x: Math.log10(x), y: Math.log10(y), text, showarrow: false, font: { size: 12, color: themed("muted") }, ...more });
  show("macs", traces, baseLayout({
    xaxis: { ...axis, title: narrow() ? "MACs, dense / ticket" : "multiply-accumulates (dense / ticket)" },
    yaxis: { ...axis, title: narrow() ? "measured speed-up" : "measured speed-up of prediction" },
    annotations: [
      note(high, high, "as fast as MACs suggest", { xanchor: "right", yanchor: "top", xshift: -Math.ceil(24 * wide / tall) }),
      note(high, 1, "no faster than dense", { xanchor: "right", yanchor: "top" }),
    ],
  }), some);
}

function drawHealth() {
  for (const name of ["isolated", "components", "pruned_degree", "homophily"]) {
    const scale = name === "homophily" ? 100 : 1;
    const traces = [];
    for (const look of shownMethods()) {
      const cells = cellsHere(look).filter((cell) => cell[name] !== null);
      if (!cells.some((cell) => cell.verdict !== "dense")) continue;
      cells.sort((a, b) => a.graph - b.graph);
      traces.push({
        x: cells.map((cell) => cell.graph), y: cells.map((cell) => scale * cell[name]), name: plain(look.name),
        mode: "lines+markers", line: { color: look.colour, dash: look.dash, width: 2 }, marker: marks(look, 7),
        customdata: cells.map((cell) => cell.position), hoverinfo: "text",
        text: cells.map((cell) => `${about(cell)}<br>${number(scale * cell[name], 1)}`),
      });
    }
    show(`health-${name}`, traces, baseLayout({
      margin: { l: 60, r: 16, t: 8, b: 44 },
      xaxis: { title: AXES.graph, automargin: false },
      yaxis: { automargin: false, rangemode: name === "homophily" ? "normal" : "tozero", tickformat: name === "homophily" ? "" : ",~r" },
    }));
  }
}

function drawAll() {
  for (const draw of [showForest, drawMetric, drawHeat, drawTiming, drawMacs, drawHealth]) draw();
}
