// Times of the page: one form for all of them, in UTC like the histories, the
// log and the command line.

const units = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }; // ms

/** utc writes a time for people; its zone is UTC. */
export function utc(stamp) {
  return new Date(stamp).toISOString().slice(0, 19).replace("T", " ");
}

/**
 * instant reads what a person writes for a time: a day, a day and a time of it
 * (UTC unless a zone stands behind), or how long ago, as 90m, 1h30m or 3d. It
 * returns null for anything else.
 */
export function instant(text, now = Date.now()) {
  if (/^(\d+(\.\d+)?[smhd])+$/.test(text)) {
    const ago = [...text.matchAll(/([\d.]+)([smhd])/g)].reduce((all, [, n, unit]) => all + n * units[unit], 0);
    return valid(now - ago);
  }
  const [, day, time = "00:00", zone = "Z"] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|UTC|[+-]\d\d:\d\d)?)?$/.exec(text) ?? [];
  return valid(`${day}T${time}${zone === "UTC" ? "Z" : zone}`);
}

function valid(value) {
  const at = new Date(value);
  return Number.isNaN(at.getTime()) ? null : at.toISOString();
}
