// The page begins here: sign in, then show what the address after # names.

import { call, Problem, session } from "./api.js";
import { el, eventAddress, say } from "./dom.js";
import { drift, effects, sources } from "./lists.js";
import { events } from "./events.js";
import { overview } from "./overview.js";
import { review } from "./review.js";
import { spool } from "./spool.js";
import { story } from "./story.js";

const views = { "": overview, review, events, event: story, effects, drift, sources, spool };

const main = document.getElementById("main");
let shown = 0; // counts the views, so that a late answer can't replace a newer one

/** address reads what stands after #: a view, what it is about, and a query. */
function address() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const [view, ...rest] = path.split("/");
  return { view, about: decodeURIComponent(rest.join("/")), query: Object.fromEntries(new URLSearchParams(query ?? "")) };
}

/**
 * show builds the view of the address. With quietly it is the view that is
 * there already, brought up to date: the place of reading stays.
 */
async function show(quietly = false) {
  const place = ++shown;
  try {
    const here = address(); // may be one that nobody can read
    const view = views[here.view] ?? overview;
    mark(here.view);
    if (!quietly) {
      main.replaceChildren(el("p", { class: "soft" }, "Loading…"));
    }
    const { title, parts, every } = await view({ about: here.about, query: here.query, isUpdate: quietly, again: () => show(true) });
    if (place === shown) {
      put(title, parts, quietly);
      again(place, every);
    }
  } catch (problem) {
    if (place === shown) {
      failed(problem);
    }
  }
}

// mark shows in the navigation where the reader is.
function mark(view) {
  for (const link of document.querySelectorAll("nav a")) {
    const isHere = link.dataset.view === view || (view === "event" && link.dataset.view === "events");
    isHere ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
  }
}

function put(title, parts, quietly) {
  const heading = el("h1", { tabindex: "-1" }, title);
  document.title = title + " · The bridge";
  main.replaceChildren(heading, ...parts);
  if (!quietly) {
    say("");
    heading.focus();
  }
}

// again brings a view up to date now and then, while somebody looks at it.
function again(place, every) {
  if (!every) {
    return;
  }
  setTimeout(() => {
    if (place === shown && !document.hidden && !document.querySelector("dialog")) {
      show(true);
    } else if (place === shown) {
      again(place, every);
    }
  }, every);
}

function failed(problem) {
  if (!(problem instanceof Problem)) {
    main.replaceChildren(el("p", { class: "bad" }, "This page failed: " + problem.message));
    return;
  }
  if (problem.status === 401) {
    enter("The token is not the one of this bridge.");
    return;
  }
  main.replaceChildren(
    el("p", { class: "bad" }, problem.message),
    el("button", { type: "button", onclick: () => show() }, "Try again"));
}

/** enter asks for the token. */
function enter(message) {
  shown++;
  session.end();
  reveal(false);
  document.title = "The bridge";
  const token = el("input", { type: "password", id: "token", required: true, autocomplete: "off" });
  const name = el("input", { id: "name", autocomplete: "off", maxlength: "80" });
  const form = el("form", { class: "stack sheet enter", onsubmit: (submitted) => {
    submitted.preventDefault();
    session.begin(token.value, name.value.trim());
    begin();
  } },
  el("h1", {}, "Sign in"),
  el("label", { for: "token" }, "Admin token", token),
  el("label", { for: "name" }, "Your name, for the history of what you do", name),
  el("button", { class: "main" }, "Sign in"));
  main.replaceChildren(form);
  say(message ?? "", message !== undefined);
  token.focus();
}

function reveal(isIn) {
  for (const part of [document.querySelector("nav"), document.getElementById("find"), document.getElementById("leave")]) {
    part.hidden = !isIn;
  }
}

// begin tries the token before anything is shown.
async function begin() {
  try {
    await call("sources");
  } catch (problem) {
    if (problem.status === 401 || problem.status === 429) {
      enter(problem.status === 401 ? "The token is not the one of this bridge." : problem.message);
      return;
    }
  }
  reveal(true);
  show();
}

document.getElementById("leave").addEventListener("click", () => enter());
document.getElementById("find").addEventListener("submit", (submitted) => {
  submitted.preventDefault();
  const id = new FormData(submitted.target).get("id").trim();
  if (id) {
    location.hash = eventAddress(id);
  }
});
document.addEventListener("keydown", (pressed) => {
  const isTyping = pressed.target.closest?.("input, textarea, select, dialog");
  if (pressed.key === "/" && !isTyping && session.token) {
    pressed.preventDefault();
    document.getElementById("find-id").focus();
  }
});
addEventListener("hashchange", () => session.token && show());

session.resume() ? begin() : enter();
