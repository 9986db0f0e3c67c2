// Events: a list by a filter, page by page, and actions on all that it chooses.

import { call } from "./api.js";
import { choices, decideMany } from "./actions.js";
import { badge, el, eventLink, listAddress, moment, table } from "./dom.js";

const page = 50;

/** events lists what the filter in the address chooses. */
export async function events({ query, again }) {
  const { cursor, ...filter } = query;
  const { events: rows, next } = await call("events", { query: { ...filter, cursor, limit: page } });
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
  ["Type", (e) => e.type, "text"],
  ["Status", (e) => badge(e.status)],
  ["Outcome", (e) => e.outcome],
  ["Code", (e) => e.error_code],
  ["Error", (e) => e.error, "text"],
];

const statuses = ["", "Review", "Received", "Retryable", "Applied", "Completed"];

function filterForm(filter) {
  const status = el("select", { name: "status" }, known(filter.status).map((s) =>
    el("option", { value: s, selected: s === (filter.status ?? "") }, s || "any")));
  const field = (name, title, type = "text") =>
    el("label", {}, title, el("input", { name, type, value: filter[name] ?? "", spellcheck: "false" }));
  return el("form", { class: "filter", role: "search", "aria-label": "Filter", onsubmit: (submitted) => {
    submitted.preventDefault();
    location.hash = listAddress(chosen(new FormData(submitted.target)));
  } },
  el("label", {}, "Status", status), field("source", "Source"), field("type", "Type"), field("object", "Provider's object"),
  field("code", "Code"), field("since", "Since"), field("until", "Until"),
  el("button", { class: "main" }, "Filter"), el("a", { class: "button", href: "#/events" }, "Clear"));
}

// known are the choices of a status, with one that the address brings.
function known(status) {
  return statuses.includes(status ?? "") ? statuses : [...statuses, status];
}

// chosen reads the form. A time without a zone is one of the reader's clock.
function chosen(form) {
  const filter = Object.fromEntries([...form].map(([name, value]) => [name, value.trim()]));
  for (const name of ["since", "until"]) {
    const at = new Date(filter[name]);
    if (filter[name] && !Number.isNaN(at.getTime())) {
      filter[name] = at.toISOString();
    }
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
