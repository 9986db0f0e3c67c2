// Package preflight compares what the bridge is going to send with what the
// org takes, by describe: the staging objects and the targets of the mappings.
// It finds before the first event what Salesforce would refuse afterwards.
//
//	findings, err := preflight.Check(ctx, client, files)
//
// Nothing is written. What is compared:
//
//	access    object and fields exist; the integration user may create, edit, delete
//	keys      external ID, unique, case sensitive; no 64-bit id in a number field
//	values    the field's type fits as; max and fixed texts fit its length
//	lists     what map, value, default and state give is in the picklist
//	lookups   the relationship, the parent and the parent's key
//	guards    fields of order and their types; the rule Refuse_Moved
//	required  fields that a new record needs and no record of the route sets
//
// The rules that guard against old reads don't show in a describe. They are
// asked of the Tooling API; a user who may not view the setup is told where to
// look instead.
package preflight
