// The admin API. This is the one file that sends requests and knows the token,
// which stays in this tab: in memory, and in its session storage over a reload.

import { parse } from "./json.js";

/** Every route that the page calls. */
const routes = {
  stats: ["GET", "/admin/v1/stats"],
  drift: ["GET", "/admin/v1/drift"],
  sources: ["GET", "/admin/v1/sources"],
  effects: ["GET", "/admin/v1/effects"],
  groups: ["GET", "/admin/v1/groups"],
  events: ["GET", "/admin/v1/events"],
  event: ["GET", "/admin/v1/events/{id}"],
  replayOne: ["POST", "/admin/v1/events/{id}/replay"],
  discardOne: ["POST", "/admin/v1/events/{id}/discard"],
  acceptOne: ["POST", "/admin/v1/events/{id}/accept"],
  spool: ["GET", "/admin/v1/spool"],
  spoolRetry: ["POST", "/admin/v1/spool/retry"],
  replay: ["POST", "/admin/v1/replay"],
  discard: ["POST", "/admin/v1/discard"],
  accept: ["POST", "/admin/v1/accept"],
};

const kept = "bridge-console";

/** An answer that is not what was asked for. */
export class Problem extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Session is who asks: a token and a name for the history. */
export const session = {
  token: "",
  name: "",

  resume() {
    const [token, name] = JSON.parse(sessionStorage.getItem(kept) ?? '["",""]');
    Object.assign(this, { token, name });
    return token !== "";
  },

  begin(token, name) {
    Object.assign(this, { token, name });
    sessionStorage.setItem(kept, JSON.stringify([token, name]));
  },

  end() {
    Object.assign(this, { token: "", name: "" });
    sessionStorage.removeItem(kept);
  },
};

/**
 * call asks a route: id goes into its path, query behind it, body as JSON. It
 * returns the answer, or throws a Problem.
 */
export async function call(route, { id, query, body } = {}) {
  const [method, pattern] = routes[route];
  const path = pattern.replace("{id}", encodeURIComponent(id ?? ""));
  const given = Object.entries(query ?? {}).filter(([, value]) => value);
  const search = given.length ? "?" + new URLSearchParams(given) : "";
  const headers = { Authorization: "Bearer " + session.token };
  if (session.name) {
    headers["X-Actor"] = bytes(session.name);
  }
  let response;
  try {
    response = await fetch(path + search, {
      method, headers, body: body && JSON.stringify(body), cache: "no-store", credentials: "omit", redirect: "error",
    });
  } catch {
    throw new Problem(0, "The bridge does not answer.");
  }
  return read(response);
}

// bytes writes text as UTF-8, one character a byte: all that a header takes.
function bytes(text) {
  return String.fromCharCode(...new TextEncoder().encode(text));
}

async function read(response) {
  let answer;
  try {
    answer = parse(await response.text());
  } catch {
    throw new Problem(response.status, `The answer can't be read (HTTP ${response.status}).`);
  }
  if (!response.ok) {
    throw new Problem(response.status, answer.message ?? `HTTP ${response.status}`);
  }
  return answer;
}
