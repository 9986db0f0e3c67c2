// Review: what waits for a person, by reason.

import { call } from "./api.js";
import { el, listAddress, moment, table, whole } from "./dom.js";
import { reason } from "./reasons.js";

/** review groups the events that wait. */
export async function review() {
  const { groups } = await call("groups", { query: { status: "Review" } });
  const waiting = groups.reduce((all, group) => all + group.events, 0);
  return {
    title: "Review",
    parts: [
      el("p", {}, waiting === 0 ? "Nothing waits for a person." : `${waiting} events wait for a person.`),
      table("Events that wait, by reason", [
        ["Events", (g) => g.events, "number"],
        ["Reason", why, "text"],
        ["Source", (g) => g.source],
        ["Type", (g) => whole(g.type)],
        ["Oldest", (g) => moment(g.oldest)],
        ["Newest", (g) => moment(g.newest)],
      ], groups),
    ],
  };
}

function why(group) {
  const { source, type, code } = group;
  const link = el("a", { href: listAddress({ status: "Review", source, type, code }) }, el("code", {}, code || "no code"));
  return [link, el("div", { class: "soft" }, reason(code))];
}
