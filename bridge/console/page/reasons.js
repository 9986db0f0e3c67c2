// Why events wait for a person, and what helps.

const reasons = {
  UNMATCHED: "No route of the mapping matches. Add a route, or ignore it; then replay.",
  FIELD: "A field can't take its value. Correct the mapping, then replay.",
  SCHEMA: "The payload fails the route's schema. Correct schema or mapping, then replay.",
  NO_ID: "The delivery has no event id. Look at the payload.",
  ORDER: "The order value is not what the mapping says. Look at the payload.",
  PAYLOAD: "The payload can't be read. Look at it.",
  CONFLICT: "An accepted event's id came with other content. Compare both versions, then accept or discard.",
  TOO_OLD: "Older than what retention has deleted: it may be a repetition. Replay it if it is new, else discard it.",
  TRANSITION: "Newer, but its state can't be reached from the record's. Widen allow or correct the record, then replay.",
  NO_PARENT: "A record it points to never came. Load it, then replay.",
  NO_TARGET: "The record it changes never came. Load it, then replay.",
  AMBIGUOUS: "Several records have the key. Merge them, then replay.",
  ATTEMPTS: "Its attempts are used up. Look at the error, then replay.",
  NO_MAPPING: "No mapping is configured for the source.",
  TOO_LARGE: "It writes more records than one transaction takes.",
  CASE_FOLD: "Another event's id differs in letter case only.",
  UNREADABLE: "Parts of the payload are missing.",
  LOCK: "The record stayed locked. Replay it.",
  CONFIG: "The org refuses what the mapping names. Correct one of them, then replay.",
  DELETED: "The record was deleted while the event was under way.",
  EFFECT: "A side effect failed for good; the records are written. Mend the receiver, then replay.",
  AUTHORITY: "The provider's own object can't be had. Look at the provider, then replay.",
  MOVED: "The record kept changing. Replay it.",
  ABANDONED: "The process died on it five times. Report it.",
};

/** reason explains an error code; others are Salesforce's own. */
export function reason(code) {
  if (!code) {
    return "";
  }
  return reasons[code] ?? "Salesforce refused the record; the error has its text. Correct data or org, then replay.";
}
