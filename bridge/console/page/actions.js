// Replay, discard and accept: counted first, confirmed, with a reason.

import { call } from "./api.js";
import { el, say, table } from "./dom.js";

/** The decisions that a person can make. */
export const choices = [
  { action: "replay", title: "Replay", what: "decided anew under the present mapping; newer data is not overwritten", needsReason: false },
  { action: "discard", title: "Discard", what: "ended without being applied; side effects that are still to be delivered are not sent any more", needsReason: true },
  { action: "accept", title: "Accept", what: "taken as the truth: a conflict row wins against an event of equal order", needsReason: true },
];

/** decideOne asks about one event and acts on it; done is called after. */
export function decideOne(action, event, done) {
  const choice = choices.find((c) => c.action === action);
  const force = action === "replay" && event.status === "Completed" ? { force: true } : {};
  ask({
    choice, done,
    about: el("p", {}, el("code", {}, event.event_id), force.force ? ", which is completed," : "", ` will be ${choice.what}.`),
    send: (body) => call(action + "One", { id: event.event_id, body: { ...body, ...force } }),
  });
}

/** decideMany counts what the filter chooses, asks, and acts; done is called after. */
export function decideMany(action, filter, done) {
  const choice = choices.find((c) => c.action === action);
  const body = { filter: { ...filter, status: filter.status?.split(",") } };
  if (!filter.status) {
    delete body.filter.status;
  }
  ask({
    choice, done, mayForce: action === "replay",
    count: (force) => call(action, { body: { ...body, ...force, dry_run: true, reason: "counting" } }),
    about: el("p", {}, `All events that the filter chooses will be ${choice.what}.`),
    send: (order) => call(action, { body: { ...body, ...order } }),
  });
}

// ask opens the dialog: what will happen, why, and only then a button.
function ask({ choice, about, count, send, mayForce, done }) {
  const why = el("textarea", { id: "why", required: choice.needsReason, maxlength: "500" });
  const force = el("input", { type: "checkbox", id: "force" });
  const confirm = el("button", { class: "main" }, choice.title);
  const found = el("div", { "aria-live": "polite" });
  const order = () => ({ reason: why.value.trim(), ...(force.checked ? { force: true } : {}) });
  const dialog = el("dialog", { "aria-labelledby": "decide", onclose: () => dialog.remove() },
    el("form", { class: "stack", onsubmit: (submitted) => {
      submitted.preventDefault();
      carryOut({ dialog, confirm, found, done, choice, send: () => send(order()) });
    } },
    el("h2", { id: "decide" }, choice.title), about, found,
    el("label", { for: "why" }, choice.needsReason ? "Reason (kept in the history)" : "Reason (kept in the history, may be empty)", why),
    mayForce ? el("label", { class: "check", for: "force" }, force, "completed events too") : null,
    el("p", { class: "row" }, confirm, el("button", { type: "button", onclick: () => dialog.close() }, "Cancel"))));
  document.body.append(dialog);
  dialog.showModal();
  if (count) {
    let counts = 0; // so that a late answer can't replace a newer one
    const tell = () => {
      const place = ++counts;
      counted({ confirm, found, choice, isLast: () => place === counts, count: () => count(force.checked ? { force: true } : {}) });
    };
    force.addEventListener("change", tell);
    tell();
  }
}

// counted shows what an action would do; without anything to do it can't be confirmed.
async function counted({ confirm, found, choice, count, isLast }) {
  confirm.disabled = true;
  found.replaceChildren(el("p", { class: "soft" }, "Counting…"));
  try {
    const report = await count();
    if (!isLast()) {
      return;
    }
    confirm.disabled = report.matched === 0;
    found.replaceChildren(el("p", {}, el("b", {}, `${report.matched} events`), ` to ${choice.action}.`), ...left(report));
  } catch (problem) {
    if (isLast()) {
      found.replaceChildren(el("p", { class: "bad" }, problem.message));
    }
  }
}

async function carryOut({ dialog, confirm, found, done, choice, send }) {
  confirm.disabled = true;
  found.replaceChildren(el("p", {}, "Under way. Leave this page open: what is broken off can be begun again."));
  try {
    const report = await send();
    if (report.failed || report.moved) {
      found.replaceChildren(el("p", {}, summary(choice, report)), ...left(report));
    } else {
      dialog.close();
    }
    say(summary(choice, report), report.failed > 0);
    done();
  } catch (problem) {
    confirm.disabled = false;
    found.replaceChildren(el("p", { class: "bad" }, problem.message));
  }
}

function summary({ action }, { done, moved, failed }) {
  const parts = [`${action}: ${done} done`];
  if (moved) {
    parts.push(`${moved} moved on meanwhile`);
  }
  if (failed) {
    parts.push(`${failed} refused by the org`);
  }
  return parts.join(", ") + ".";
}

// left tells what an action leaves alone, and why.
function left(report) {
  const rows = [
    ...Object.entries(report.skipped ?? {}).map(([why, n]) => ({ what: `${n} left alone`, why })),
    ...(report.refusals ?? []).map((r) => ({ what: r.event_id, why: `${r.code} ${r.message}` })),
  ];
  return rows.length ? [table("Left alone", [["", (r) => r.what], ["Why", (r) => r.why, "text"]], rows)] : [];
}
