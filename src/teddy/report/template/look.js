// Colours of the theme and of the methods, the same as in the plots.

function themed(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function faded(colour, share) {
  const part = (at) => parseInt(colour.slice(at, at + 2), 16);
  return `rgba(${part(1)},${part(3)},${part(5)},${share})`;
}

function dark() {
  return document.documentElement.dataset.theme === "dark";
}

function mixed(colour, other, share) {
  const part = (of, at) => parseInt(of.slice(at, at + 2), 16);
  const mix = (at) => Math.round((1 - share) * part(colour, at) + share * part(other, at));
  return `#${[1, 3, 5].map((at) => mix(at).toString(16).padStart(2, "0")).join("")}`;
}

// The colours of the plots; lighter on the dark ground, so that thin lines are visible.
function tinted(colour) {
  return dark() ? mixed(colour, "#ffffff", 0.2) : colour;
}

// An end of the heat map's scale, on which the theme's ink can be read.
function softened(colour) {
  return mixed(colour, themed("surface"), dark() ? 0.35 : 0.4);
}

function symbol(look) {
  return look.hollow ? `${look.marker}-open` : look.marker;
}

function narrow() {
  return innerWidth < 640;
}

function baseLayout(more = {}) {
  const axis = {
    gridcolor: themed("rule"),
    linecolor: themed("rule"),
    zeroline: false,
    automargin: true,
  };
  const layout = {
    font: { family: themed("sans"), size: 13, color: themed("ink") },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    margin: { l: 48, r: 16, t: 12, b: 48 },
    showlegend: false,
    hovermode: "closest",
    hoverlabel: {
      bgcolor: themed("surface"),
      bordercolor: themed("muted"),
      font: { family: themed("sans"), size: 13, color: themed("ink") },
      align: "left",
    },
    // A finger scrolls the page; a mouse may zoom.
    dragmode: matchMedia("(pointer: fine)").matches ? "zoom" : false,
    ...more,
  };
  const title = (text) => ({ text: text || "", standoff: 10, font: { size: 13, color: themed("muted") } });
  layout.xaxis = { ...axis, ...more.xaxis, title: title(more.xaxis?.title) };
  layout.yaxis = { ...axis, ...more.yaxis, title: title(more.yaxis?.title) };
  return layout;
}

// The line and marker of a method beside its name.
function swatch(look) {
  const make = (tag, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  };
  const dashes = { solid: "", dash: "6 3", dot: "1.5 2.5", dashdot: "6 2.5 1.5 2.5", longdash: "9 3" };
  const shapes = {
    circle: "M15 3a4 4 0 1 0 .01 0z",
    square: "M11.5 3.5h7v7h-7z",
    diamond: "M15 2.2l4.8 4.8-4.8 4.8-4.8-4.8z",
    "triangle-up": "M15 2.5l4.5 8h-9z",
    "triangle-down": "M15 11.5l4.5-8h-9z",
    "triangle-left": "M10.5 7l8-4.5v9z",
    "triangle-right": "M19.5 7l-8-4.5v9z",
    cross: "M13.5 3h3v2.5h2.5v3h-2.5v2.5h-3v-2.5h-2.5v-3h2.5z",
    x: "M12 2.8l3 3 3-3 1.4 1.4-2.9 2.8 2.9 2.8-1.4 1.4-3-3-3 3-1.4-1.4 2.9-2.8-2.9-2.8z",
    star: "M15 2l1.3 3.6 3.9.1-3.1 2.4 1.1 3.7-3.2-2.2-3.2 2.2 1.1-3.7-3.1-2.4 3.9-.1z",
  };
  const drawing = make("svg", { viewBox: "0 0 30 14", "aria-hidden": "true" });
  drawing.append(make("path", {
    d: "M1 7h28", stroke: look.colour, "stroke-width": 2, "stroke-dasharray": dashes[look.dash] || "",
  }));
  if (look.marker) {
    drawing.append(make("path", {
      d: shapes[look.marker] || shapes.circle,
      fill: look.hollow ? "var(--surface)" : look.colour,
      stroke: look.colour,
      "stroke-width": look.hollow ? 1.5 : 0,
    }));
  }
  return drawing;
}
