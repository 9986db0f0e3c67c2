// Events: a list by a filter, page by page, and actions on all that it chooses.

import { call, Problem } from "./api.js";
import { choices, decideMany } from "./actions.js";
import { badge, el, eventLink, listAddress, moment, table, whole } from "./dom.js";
import { instant, utc } from "./when.js";

const page = 50;

/** events lists what the filter in the address chooses. */
export async function events({ query, again }) {
  const { cursor, ...filter } = query;
  let rows, next;
  try {
    ({ events: rows, next } = await call("events", { query: { ...filter, cursor, limit: page } }));
  } catch (problem) {
    if (problem instanceof Problem && problem.status === 400) {
      return { title: "Events", parts: [filterForm(filter), el("p", { class: "bad" }, problem.message)] };
    }
    throw problem;
  }
  return {
    title: "Events",
    parts: [
      filterForm(filter),
      actionBar(filter, again),
      table("Events, newest first", columns, rows),
      el("p", { class: "row" },
        cursor ? el("a", { class: "button", href: listAddress(filter) }, "Newest") : null,
        next ? el("a", { class: "button", href: listAddress({ ...filter, cursor: next }) }, "Older") : null),
    ],
  };
}

export const columns = [
  ["Received", (e) => moment(e.received_at)],
  ["Event", (e) => eventLink(e.event_id), "id"],
  ["Status", (e) => badge(e.status)],
  ["Type", (e) => whole(e.type)],
  ["Outcome", (e) => e.outcome],
  ["Code", (e) => e.error_code],
  ["Error", (e) => e.error, "text"],
];

const statuses = ["", "Review", "Received", "Retryable", "Applied", "Completed"];

function filterForm(filter) {
  const status = el("select", { name: "status" }, known(filter.status).map((s) =>
    el("option", { value: s, selected: s === (filter.status ?? "") }, s || "any")));
  const field = (name, title) => el("label", {}, title, el("input", { name, value: filter[name] ?? "", spellcheck: "false" }));
  const time = (name, title) => el("label", {}, title, el("input", { name, class: "time", spellcheck: "false",
    value: shownTime(filter[name]), placeholder: "2h or " + utc(Date.now()).slice(0, 10), oninput: ({ target }) => target.setCustomValidity("") }));
  return el("form", { class: "filter", role: "search", "aria-label": "Filter", onsubmit: (submitted) => {
    submitted.preventDefault();
    const found = chosen(submitted.target);
    if (found) {
      location.hash = listAddress(found);
    }
  } },
  el("label", {}, "Status", status), field("source", "Source"), field("type", "Type"), field("object", "Provider's object"),
  field("code", "Code"), time("since", "Since (UTC)"), time("until", "Until (UTC)"),
  el("button", { class: "main" }, "Filter"), el("a", { class: "button", href: "#/events" }, "Clear"));
}

// known are the choices of a status, with one that the address brings.
function known(status) {
  return statuses.includes(status ?? "") ? statuses : [...statuses, status];
}

// shownTime is a time of the address as the form takes it, or what stands there.
function shownTime(text) {
  const at = text && instant(text);
  return at ? utc(at) : text ?? "";
}

// chosen reads the form; null while a time in it can't be read.
function chosen(form) {
  const filter = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, value.trim()]));
  for (const name of ["since", "until"].filter((n) => filter[n])) {
    const at = instant(filter[name]);
    if (!at) {
      const input = form.elements[name];
      input.setCustomValidity("Write a time like 2026-11-30 12:00, a day like 2026-11-30, or how long ago like 2h or 3d.");
      input.reportValidity();
      return null;
    }
    filter[name] = at;
  }
  return filter;
}

function actionBar(filter, again) {
  if (!Object.values(filter).some(Boolean)) {
    return el("p", { class: "soft" }, "Filter to act on many events at once.");
  }
  return el("p", { class: "row" }, el("span", { class: "soft" }, "All that the filter chooses:"),
    choices.map(({ action, title }) =>
      el("button", { type: "button", onclick: () => decideMany(action, filter, again) }, `${title}…`)));
}
