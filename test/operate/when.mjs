// Shows how the page reads and writes times. PAGE is the folder of the page's
// files. It prints what is wrong as a JSON list.
import { pathToFileURL } from "node:url";

const { instant, utc } = await import(pathToFileURL(process.env.PAGE + "/when.js"));
const now = Date.parse("2026-11-30T17:00:00Z");
const wrong = [];
const same = (what, got, want) => got === want || wrong.push(`${what}: ${got}, not ${want}`);

for (const [text, want] of [
  ["2h", "2026-11-30T15:00:00.000Z"],
  ["1h30m", "2026-11-30T15:30:00.000Z"],
  ["1.5h", "2026-11-30T15:30:00.000Z"],
  ["3d", "2026-11-27T17:00:00.000Z"],
  ["45s", "2026-11-30T16:59:15.000Z"],
  ["2026-11-29", "2026-11-29T00:00:00.000Z"],
  ["2026-11-29 08:30", "2026-11-29T08:30:00.000Z"],
  ["2026-11-29 08:30:15 UTC", "2026-11-29T08:30:15.000Z"],
  ["2026-11-29T08:30:15Z", "2026-11-29T08:30:15.000Z"],
  ["2026-11-29T08:30:15.250+01:00", "2026-11-29T07:30:15.250Z"],
  ["yesterday", null], ["", null], ["2", null], ["2x", null], ["h", null], ["-2h", null], ["1.2.3h", null],
  ["2026-13-01", null], ["2026-11-29 25:00", null], ["11/29/26", null], ["2026-11-29 08:30 CET", null], ["99999999999d", null],
]) {
  same(JSON.stringify(text), instant(text, now), want);
}
same("written", utc("2026-11-30T17:00:05.123Z"), "2026-11-30 17:00:05");
same("written from another zone", utc("2026-11-30T17:00:05+02:00"), "2026-11-30 15:00:05");
same("what is written is read", instant(utc("2026-11-30T17:00:05Z")), "2026-11-30T17:00:05.000Z");
console.log(JSON.stringify(wrong));
