// Drives the operators' page in a document without a browser, against a bridge
// that runs: BASE is its operators' side, TOKEN the admin token, PAGE the folder
// of the page's files, EVENT and CONFLICT two events to look at,
// EARLIER a completed one to replay. It prints what it saw as JSON.
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { JSDOM } from "jsdom";

const { BASE, TOKEN, PAGE, EVENT, CONFLICT, EARLIER } = process.env;
const patience = 60_000; // ms, for one step
const html = await readFile(`${PAGE}/index.html`, "utf8");
const dom = new JSDOM(html, { url: BASE + "/console", pretendToBeVisual: true });
const { window } = dom;
const { document, location } = window;
const requests = [];
const errors = [];

Object.assign(globalThis, {
  document, location, sessionStorage: window.sessionStorage, Node: window.Node, FormData: window.FormData,
  addEventListener: window.addEventListener.bind(window),
});
const send = globalThis.fetch;
let hold; // what the next answer waits for
globalThis.fetch = async (path, options) => {
  requests.push(`${options.method} ${path}`);
  const held = hold;
  hold = undefined;
  const answer = await send(new URL(path, BASE), options);
  const text = await answer.text();
  await held;
  return new Response(text || null, answer);
};
process.on("uncaughtException", (error) => errors.push(String(error.stack)));
process.on("unhandledRejection", (error) => errors.push(String(error.stack)));
// What a document without a browser lacks.
window.HTMLDialogElement.prototype.showModal = function () { this.open = true; };
window.HTMLDialogElement.prototype.close = function () { this.open = false; this.dispatchEvent(new window.Event("close")); };

const main = document.getElementById("main");
const words = () => main.textContent;

async function until(what, holds) {
  for (const end = performance.now() + patience; !holds(); ) {
    if (performance.now() > end) {
      throw new Error(`${what}: it shows ${words()}\nerrors: ${errors}\nrequests: ${requests.slice(-5)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function go(hash, title) {
  location.hash = hash;
  await until(`the view ${hash}`, () => main.querySelector("h1")?.textContent === title);
}

function press(title, where = document) {
  const button = [...where.querySelectorAll("button")].find((b) => b.textContent === title);
  if (!button) {
    throw new Error(`there is no button ${title}: ${words()}`);
  }
  button.click();
}

async function signIn(token) {
  document.getElementById("token").value = token;
  document.getElementById("name").value = "Žofia";
  press("Sign in");
}

await import(pathToFileURL(`${PAGE}/main.js`));
const seen = {};
await until("the form to sign in", () => document.getElementById("token"));
seen.hidden = document.querySelector("nav").hidden;
await signIn("wrong");
const status = document.getElementById("status");
await until("the wrong token is refused", () => status.textContent.includes("not the one"));
await signIn(TOKEN);
await until("the overview", () => main.querySelector(".tiles"));
seen.overview = words();

await go("#/review", "Review");
seen.review = words();
await go("#/events?status=Review", "Events");
seen.events = words();
await go("#/event/" + encodeURIComponent(EVENT), EVENT);
seen.event = words();
await go("#/event/" + encodeURIComponent(CONFLICT), CONFLICT);
seen.conflict = words();
seen.current = document.querySelector("nav [aria-current]").textContent;

press("Accept…");
const dialog = () => document.querySelector("dialog");
await until("the dialog", dialog);
press("Accept", dialog());
seen.withoutReason = requests.filter((r) => r.startsWith("POST")).length;
document.getElementById("why").value = "the shop has confirmed it";
press("Accept", dialog());
await until("it is accepted", () => !dialog() && words().includes("accept: the shop has confirmed it"));
seen.accepted = status.textContent;

// Two counts under way: the later question is the one that is answered.
await go("#/events?source=shop", "Events");
let letGo;
hold = new Promise((resolve) => { letGo = resolve; });
press("Replay…");
await until("it counts", () => dialog()?.textContent.includes("Counting"));
document.getElementById("force").click();
await until("it is counted with force", () => dialog().textContent.includes("events to replay"));
seen.forced = dialog().querySelector("b").textContent;
letGo();
for (let i = 0; i < 20; i++) {
  await new Promise((resolve) => setTimeout(resolve));
}
seen.afterLateCount = dialog().querySelector("b").textContent;
press("Cancel", dialog());
await go("#/drift", "Drift");

await go("#/events?status=Review&code=UNMATCHED", "Events");
press("Discard…");
await until("it is counted", () => dialog()?.textContent.includes("events to discard"));
seen.counted = dialog().textContent;
document.getElementById("why").value = "tests of theirs";
press("Discard", dialog());
await until("they are discarded", () => !dialog() && words().includes("None."));
seen.discarded = status.textContent;

for (const [hash, title] of [["#/effects", "Side effects"], ["#/drift", "Drift"], ["#/sources", "Sources"], ["#/spool", "Spool"]]) {
  await go(hash, title);
  seen[title] = words();
}
await go("#/event/" + encodeURIComponent(EARLIER), EARLIER);
press("Replay…");
await until("the dialog", dialog);
press("Replay", dialog());
await until("it is replayed", () => !dialog() && status.textContent);
seen.replayed = status.textContent;

await go("#/events?since=yesterday", "Events");
seen.badAddress = words();
const form = main.querySelector("form.filter");
const since = form.elements.since;
since.value = "last week";
press("Filter");
seen.badTime = [location.hash, since.validationMessage];
since.value = "2h";
since.dispatchEvent(new window.Event("input"));
press("Filter");
await until("the filter with a time", () => main.querySelector("table") && /since=2/.test(location.hash));
seen.shownTime = main.querySelector("form.filter").elements.since.value;
seen.times = [...main.querySelectorAll("td time")].map((time) => time.textContent);

await go("#/drift", "Drift");
await go("#/events?code=NONE", "Events");
press("Accept…");
await until("nothing is counted", () => dialog()?.textContent.includes("0 events to accept"));
seen.nothingToDo = dialog().querySelector("button.main").disabled;
press("Cancel", dialog());

location.hash = "#/event/shop%3Anone";
await until("an event that isn't there", () => words().includes("there is no such event"));

location.hash = "#/event/%";
await until("an address that can't be read", () => words().includes("This page failed"));

seen.markup = document.querySelectorAll("main img, main script, main b[onclick], iframe").length;
seen.kept = [...Array(window.localStorage.length).keys(), document.cookie].filter(Boolean).length;
document.getElementById("leave").click();
seen.left = [words(), window.sessionStorage.length];
console.log(JSON.stringify({ ...seen, requests, errors }));
process.exit(0);
