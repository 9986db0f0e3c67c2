// Overview: how the service stands.

import { call } from "./api.js";
import { el, listAddress, span, table } from "./dom.js";

const refresh = 10_000; // ms
const recount = 120_000; // ms: counting asks the org, the other numbers don't

let counted = { at: -Infinity, waiting: 0 };

// waiting counts the events of Review, seldom enough to cost the org nothing.
async function waiting() {
  if (performance.now() - counted.at > recount) {
    const { groups } = await call("groups", { query: { status: "Review" } });
    counted = { at: performance.now(), waiting: groups.reduce((all, group) => all + group.events, 0) };
  }
  return counted.waiting;
}

/** overview shows the numbers of this process, and what waits in the org. */
export async function overview({ isUpdate }) {
  if (!isUpdate) {
    counted.at = -Infinity;
  }
  const [{ stats }, review] = await Promise.all([call("stats"), waiting()]);
  return {
    title: "Overview",
    every: refresh,
    parts: [
      tiles(stats, review),
      el("div", { class: "two" },
        samples("Deliveries", stats.bridge_deliveries_total, "source", "result"),
        samples("Decisions since the start", stats.bridge_events_total, "source", "outcome"),
        samples("Side effects", stats.bridge_effects_total, "result"),
        samples("Drift found", stats.bridge_drift_total, "source", "kind")),
      el("p", { class: "soft" }, "Counts are those of this process since its start. This view follows by itself."),
    ],
  };
}

function tiles(stats, review) {
  const oldest = stats.bridge_oldest_due_seconds ?? 0;
  const budget = stats.bridge_salesforce_budget_used ?? 0;
  const depth = stats.bridge_spool_depth ?? 0;
  const apart = stats.bridge_spool_apart ?? 0;
  return el("div", { class: "tiles" },
    tile("wait for a person", review, review > 0 ? "bad" : "", "#/review"),
    tile("due events", stats.bridge_due_events ?? 0, "", listAddress({ status: "Received,Retryable" })),
    tile("oldest due", span(oldest), oldest > 300 ? "warn" : ""),
    tile("of the org's daily calls", `${(100 * budget).toFixed(1)} %`, budget > 0.8 ? "warn" : ""),
    tile("in the spool", depth, depth > 0 ? "warn" : ""),
    tile("oldest in the spool", span(stats.bridge_spool_oldest_seconds ?? 0)),
    apart ? tile("set apart in the spool", apart, "bad", "#/spool") : null);
}

function tile(name, value, mood = "", href) {
  const attributes = { class: "tile " + mood, href };
  return el(href ? "a" : "div", attributes, el("b", {}, value), el("span", {}, name));
}

/** samples is a table of a metric's values by their labels: by source, the largest first. */
function samples(title, metric, ...labels) {
  const source = ({ labels: of }) => of.source ?? "";
  const rows = Array.isArray(metric) ? [...metric].sort((a, b) => source(a).localeCompare(source(b)) || b.value - a.value) : [];
  const columns = labels.map((label) => [label, ({ labels: of }) => of[label]]);
  columns.push(["count", ({ value }) => value, "number"]);
  return el("section", {}, el("h2", {}, title), table(title, columns, rows));
}
