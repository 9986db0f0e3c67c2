// Building blocks of the page. Everything that comes from the API is put in as
// text; nothing on this page is ever made of markup in a string.

import { Digits, format } from "./json.js";
import { utc } from "./when.js";

/** el makes an element; children are elements or text, empty ones are left out. */
export function el(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (key.startsWith("on")) {
      element.addEventListener(key.slice(2), value);
    } else if (typeof value === "boolean") {
      element.toggleAttribute(key, value);
    } else if (value !== undefined && value !== null) {
      element.setAttribute(key, value);
    }
  }
  element.append(...children.flat().filter((c) => c !== undefined && c !== null && c !== "").map(node));
  return element;
}

function node(child) {
  return child instanceof Node ? child : text(child);
}

/** text is a value for people. */
export function text(value) {
  return value instanceof Digits ? value.text : String(value);
}

/**
 * table makes a table; a column is [title, cell of a row, class]. On a narrow
 * page a row is a card, whose values have their titles beside them; the roles
 * keep it a table for those who only hear it.
 */
export function table(caption, columns, rows) {
  if (rows.length === 0) {
    return el("p", { class: "soft" }, "None.");
  }
  const head = columns.map(([title, , kind]) => el("th", { scope: "col", role: "columnheader", class: kind }, title));
  const body = rows.map((row) => el("tr", { role: "row" },
    columns.map(([title, cell, kind]) => el("td", { role: "cell", class: kind, "data-title": title }, cell(row)))));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el("table", { role: "table" }, el("caption", { class: "unseen" }, caption),
      el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, head)), el("tbody", { role: "rowgroup" }, body)));
}

/** whole keeps a name or an address on one line, while it is not longer than any should be. */
export function whole(value) {
  return value ? el("span", { class: "whole" }, value) : "";
}

/** facts is a list of names and values; absent values are left out. */
export function facts(pairs) {
  const given = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return el("dl", { class: "facts" }, given.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

const moods = {
  Received: "", Retryable: "warn", Applied: "warn", Review: "bad", Completed: "good", Ready: "warn", Done: "good",
};

/** badge shows a state. */
export function badge(state) {
  return el("span", { class: "badge " + (moods[state] ?? "") }, state);
}

/** moment shows a time; its title is the same in the reader's own zone. */
export function moment(stamp) {
  if (!stamp) {
    return "";
  }
  const own = new Date(stamp).toLocaleString([], { dateStyle: "medium", timeStyle: "long" });
  return el("time", { datetime: stamp, title: own }, utc(stamp) + " UTC");
}

/** span writes seconds as people say them. */
export function span(seconds) {
  if (seconds < 60) {
    return `${Math.round(seconds)} s`;
  }
  const units = [["d", 86400], ["h", 3600], ["min", 60]];
  const at = units.findIndex(([, size]) => seconds >= size);
  const [unit, size] = units[at];
  const rest = units[at + 1] && Math.floor((seconds % size) / units[at + 1][1]);
  return `${Math.floor(seconds / size)} ${unit}` + (rest ? ` ${rest} ${units[at + 1][0]}` : "");
}

/** eventLink leads to the story of an event. */
export function eventLink(id) {
  return el("a", { href: eventAddress(id) }, id);
}

export function eventAddress(id) {
  return "#/event/" + encodeURIComponent(id);
}

/** listAddress leads to the events that a filter chooses. */
export function listAddress(filter) {
  const given = Object.entries(filter).filter(([, value]) => value);
  return "#/events" + (given.length ? "?" + new URLSearchParams(given) : "");
}

/** json shows a value as JSON, plain text as it is. */
export function json(value) {
  return el("pre", { tabindex: "0" }, typeof value === "string" ? value : format(value));
}

/** say tells the reader something, also one who only hears it. */
export function say(message, isBad) {
  const status = document.getElementById("status");
  status.className = isBad ? "bad" : "";
  status.textContent = message;
}
