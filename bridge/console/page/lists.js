// Effects, drift and sources.

import { call } from "./api.js";
import { badge, el, eventLink, moment, table, whole } from "./dom.js";
import { format } from "./json.js";

const open = "Ready,Retryable,Review";

/** effects lists the outbox: by default what is not done. */
export async function effects({ query }) {
  const status = query.status ?? open;
  const { effects: list } = await call("effects", { query: { status: status === "any" ? "" : status, limit: 200 } });
  const link = (to, title) => el("a", { class: "button", href: "#/effects?status=" + to, "aria-current": to === status ? "true" : null }, title);
  return {
    title: "Side effects",
    parts: [
      el("p", { class: "row" }, link(open, "Not done"), link("Review", "Failed"), link("Done", "Done"), link("any", "All")),
      table("Side effects, newest first", [
        ["Event", (e) => (e.event_id ? eventLink(e.event_id) : ""), "id"],
        ["Name", (e) => whole(e.name)],
        ["Status", (e) => badge(e.status)],
        ["Attempts", (e) => e.attempts, "number"],
        ["Next attempt", (e) => moment(e.next_attempt_at)],
        ["Answer", (e) => [e.response_code, e.response].filter(Boolean).join(" "), "text"],
      ], list),
    ],
  };
}

/** drift shows the last comparison of each source. */
export async function drift() {
  const { drift: sweeps } = await call("drift");
  return {
    title: "Drift",
    parts: sweeps.length === 0 ? [el("p", {}, "No source is compared with its provider: no mapping has a reconcile key.")] : [
      table("The last comparison of each source", [
        ["Source", (s) => s.source],
        ["Type", (s) => whole(s.type)],
        ["Begun", (s) => moment(s.started_at)],
        ["Objects", (s) => s.objects, "number"],
        ["Missing", (s) => s.missing, "number"],
        ["Different", (s) => s.different, "number"],
        ["Extra", (s) => s.extra, "number"],
        ["Unmapped", (s) => s.unmapped, "number"],
        ["Repaired", (s) => s.repaired, "number"],
        ["", (s) => s.problem || (s.finished ? "" : "not finished"), "text"],
      ], sweeps),
      ...sweeps.filter((s) => s.drift?.length).flatMap(found),
    ],
  };
}

function found(sweep) {
  const title = `${sweep.source} ${sweep.type}`;
  return [el("h2", {}, title), table(title, [
    ["Kind", (d) => d.kind],
    ["Record", (d) => [d.object, d.key, d.object_id].filter(Boolean).join(" "), "text"],
    ["Differs", (d) => (d.fields ?? []).map(difference), "text"],
    ["Repair", (d) => (d.repair ? eventLink(d.repair) : d.reason), "id"],
  ], sweep.drift)];
}

function difference({ field, salesforce, provider }) {
  return el("div", {}, el("code", {}, field), el("del", {}, format(salesforce)), el("ins", {}, format(provider)));
}

/** sources lists what is configured. */
export async function sources() {
  const { sources: list } = await call("sources");
  return {
    title: "Sources",
    parts: [table("Sources", [
      ["Source", (s) => s.source],
      ["Provider", (s) => s.title || s.provider],
      ["Address for the provider", (s) => whole(el("code", {}, s.url))],
      ["Processor", (s) => s.processor],
      ["Trust", (s) => s.trust],
      ["Secret", (s) => s.secret_state],
      ["Open handshakes", (s) => (s.open_handshakes ?? []).join(", "), "text"],
      ["Mapping", (s) => whole(el("code", {}, s.mapping_version))],
    ], list)],
  };
}
