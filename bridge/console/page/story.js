// One event: what came, what was decided, what it caused.

import { call } from "./api.js";
import { choices, decideOne } from "./actions.js";
import { badge, el, eventLink, facts, json, listAddress, moment, table } from "./dom.js";
import { columns } from "./events.js";
import { format } from "./json.js";
import { reason } from "./reasons.js";

const refresh = 15_000; // ms, while the event is on its way

/** story tells of the event that the address names. */
export async function story({ about, again }) {
  const event = await call("event", { id: about });
  return {
    title: event.event_id,
    every: ["Received", "Retryable", "Applied"].includes(event.status) ? refresh : 0,
    parts: [
      el("p", { class: "row" }, badge(event.status), event.outcome, event.error_code ? el("code", {}, event.error_code) : null),
      buttons(event, again),
      problem(event),
      el("div", { class: "sheet" }, summary(event)),
      ...versions(event),
      ...(event.original ? conflicts("More deliveries under the same id with other content", event) : []),
      ...section("Timeline", event.history.length ? timeline(event.history) : el("p", { class: "soft" }, "Cleared by retention.")),
      ...section("Side effects", effects(event.effects)),
      ...(event.original ? [] : conflicts("Deliveries under the same id with other content", event)),
      ...(event.original ? [] : section("Payload", payload(event))),
      ...section("Kept of the delivery", event.context === null ? el("p", { class: "soft" }, "Nothing.") : json(event.context)),
    ],
  };
}

function payload(version) {
  return version.payload === null ? el("p", { class: "soft" }, "Gone: cleared by retention, or a part of it is missing.") : json(version.payload);
}

function conflicts(title, event) {
  return section(title, table("Conflicts", columns, event.conflicts));
}

function section(title, content) {
  return [el("h2", {}, title), content];
}

// buttons are the actions that the state of the event allows.
function buttons(event, again) {
  const isConflict = event.event_id.includes("#conflict:");
  const isOpenConflict = isConflict && (event.status === "Review" || event.outcome === "Discarded");
  const allowed = {
    replay: ["Review", "Completed"].includes(event.status) && !isOpenConflict,
    discard: event.status === "Review",
    accept: event.status === "Review" && isConflict,
  };
  return el("p", { class: "row" }, choices.filter(({ action }) => allowed[action]).map(({ action, title }) =>
    el("button", { type: "button", onclick: () => decideOne(action, event, again) }, `${title}…`)));
}

function problem(event) {
  if (!event.error_code) {
    return "";
  }
  return el("div", { class: "sheet" }, event.error ? el("p", { class: "bad" }, event.error) : null,
    el("p", { class: "soft" }, event.status === "Review" ? reason(event.error_code) : ""));
}

function summary(event) {
  const entity = { source: event.source, object: event.object_id };
  const duplicates = event.duplicates ? [`${event.duplicates}, the last `, moment(event.last_duplicate_at)] : "none";
  return facts([
    ["Source", event.source],
    ["Type", event.type],
    ["Provider's object", event.object_id ? el("a", { href: listAddress(entity) }, event.object_id) : ""],
    ["Order", event.order],
    ["Received", [moment(event.received_at), ` ${event.trust ?? ""}`]],
    ["Delivery", event.delivery_id],
    ["Duplicates", duplicates],
    ["Record", [event.target_object, event.target_id, event.business_key].filter(Boolean).join("  ")],
    ["Processed", moment(event.processed_at)],
    ["Next attempt", moment(event.next_attempt_at)],
    ["Failed attempts", event.attempts],
    ["Replays", event.replays],
    ["Mapping", event.mapping_version],
    ["Row", event.row_id],
  ]);
}

// versions compares a conflict row with the event whose id it came under.
function versions(event) {
  const { original, changes, changes_cut: cut } = event;
  if (!original) {
    return [];
  }
  const side = (title, version) => el("section", {}, el("h3", {}, title), el("p", {}, eventLink(version.event_id)), payload(version));
  return [
    el("h2", {}, "Both versions"),
    changes === null
      ? el("p", { class: "soft" }, "The payload of one of the two is gone, so they can't be compared.")
      : table("What differs", [
        ["Path", (c) => el("code", {}, c.path), "text"],
        ["Accepted first", (c) => (c.kind === "added" ? "" : el("del", {}, format(c.from))), "text"],
        ["This one", (c) => (c.kind === "removed" ? "" : el("ins", {}, format(c.to))), "text"],
      ], changes),
    cut ? el("p", { class: "bad" }, `${cut} more differences are not shown: compare the payloads.`) : "",
    el("div", { class: "two" }, side("Accepted first", original), side("This one", event)),
  ];
}

const line = /^(\S+) (\S+) -> (\S+) by (.+?): (.*)$/;

function timeline(history) {
  return el("ol", { class: "line" }, history.map((text) => {
    const [, at, from, to, who, why] = line.exec(text) ?? [];
    if (!at) {
      return el("li", {}, text);
    }
    return el("li", {}, moment(at), " ", el("b", {}, from === to ? to : `${from} → ${to}`), ` by ${who}`, el("span", { class: "why" }, why));
  }));
}

function effects(list) {
  return table("Side effects", [
    ["Name", (e) => e.name],
    ["Status", (e) => badge(e.status)],
    ["Attempts", (e) => e.attempts, "number"],
    ["Answer", (e) => [e.response_code, e.response].filter(Boolean).join(" "), "text"],
    ["Sent", (e) => (e.request === null ? "" : json(e.request)), "text"],
    ["History", (e) => timeline(e.history), "text"],
    ["Key", (e) => el("code", {}, e.key), "text"],
  ], list);
}
