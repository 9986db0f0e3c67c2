// Spool: what Salesforce refuses for good, set apart with its reason.

import { call } from "./api.js";
import { el, moment, say, table, whole } from "./dom.js";

/** spool lists what is set apart, and puts it back to be tried again. */
export async function spool({ again }) {
  const { entries } = await call("spool", { query: { limit: 200 } });
  const retry = async (body) => {
    try {
      const { retried } = await call("spoolRetry", { body });
      say(`${retried} back in the spool.`);
      again();
    } catch (problem) {
      say(problem.message, true);
    }
  };
  return {
    title: "Spool",
    parts: [
      el("p", {}, "Deliveries that were taken while Salesforce was away, and that it refuses for good. Mend the cause, then try them again."),
      entries.length ? el("p", { class: "row" }, el("button", { type: "button", onclick: () => retry({ all: true }) }, "Try all again")) : "",
      table("Set apart", [
        ["Received", (e) => moment(e.received_at)],
        ["Event", (e) => e.event_id ?? e.id, "id"],
        ["Type", (e) => whole(e.type)],
        ["Bytes", (e) => e.bytes, "number"],
        ["Reason", (e) => e.reason, "text"],
        ["", (e) => el("button", { type: "button", onclick: () => retry({ ids: [e.id] }) }, "Try again")],
      ], entries),
    ],
  };
}
