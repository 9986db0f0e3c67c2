// Package verify decides whether a delivery really comes from its provider.
//
// One engine runs over a table of rules (rules.json): where the signature
// stands, what is signed, with which hash, key form and encoding, and how old
// a delivery may be. A construction that no row can express is a named Go
// function in a Schemes registry that the caller hands in (package special
// holds ours).
//
//	table, _ := verify.LoadTable()
//	v, err := verify.New(verify.Config{Rules: []verify.Rule{table["stripe"]}, Secrets: secrets})
//	...
//	result := v.Verify(verify.Request{Method: "POST", Header: h, Body: raw, Now: now})
//	if !result.Valid { ... result.Reason ... }
//
// What every rule obeys:
//
//   - The raw bytes of the body are checked before anything parses them.
//   - It fails closed: no secret, an empty key, a missing header, a value that
//     does not decode are all refusals. Bytes that come with a decode error are
//     never used.
//   - Hash, encoding, prefix and version come from the rule, never from the
//     request.
//   - A header that comes several times with different values is ambiguous and
//     refused, unless the rule declares it repeatable; equal repeats are fine.
//     Only SP and HTAB around a value are trimmed.
//   - Timestamps are pure digits (or RFC 3339) and may be off by the tolerance
//     in both directions. Age is judged once, at receipt, against Request.Now.
//   - Every secret and every signature of a delivery is tried; comparison takes
//     the same time whatever differs.
//   - Results and errors never hold a secret, a key or a computed signature.
package verify
