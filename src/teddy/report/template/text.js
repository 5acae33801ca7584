"use strict";
// Numbers and names as texts. The numbers themselves come from Python: nothing is computed here.

const MINUS = "\u2212";

function number(value, digits = 2) {
  return value === null || value === undefined ? "" : value.toFixed(digits).replace("-", MINUS);
}

function signed(value, digits = 2) {
  if (value === null || value === undefined) return "";
  const text = value.toFixed(digits);
  if (Number(text) === 0) return (0).toFixed(digits);
  return value > 0 ? `+${text}` : text.replace("-", MINUS);
}

function interval(difference) {
  if (!difference) return "";
  const mean = signed(difference.mean);
  if (difference.low === null || difference.high === null) return mean;
  return `${mean} [${signed(difference.low)}, ${signed(difference.high)}]`;
}

// Plotly reads a few tags and %{...} in its texts: escape the user's names.
function plain(text) {
  return String(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll("%{", "%\u200b{");
}

// Write a method's options below its name, for the narrow margin of a chart.
function broken(name) {
  const longest = narrow() ? 14 : 28;
  const lines = String(name).split(/(?=:)/).flatMap((part) => part.match(new RegExp(`.{1,${longest}}`, "gsu")) || [""]);
  return lines.map(plain).join("<br>");
}

// Pixels of a row of a chart, by the lines of its labels.
function rowHeight(labels) {
  return Math.max(42, ...labels.map((label) => 10 + 17 * label.split("<br>").length));
}

function meanText(part, seeds) {
  return seeds > 1 ? `${number(part.mean)} \u00b1 ${number(part.deviation)}` : number(part.mean);
}

// Elements are made with text, never with HTML.
function element(tag, text = "", attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}
