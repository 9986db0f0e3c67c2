package simorg

import (
	"fmt"
	"strings"

	"sfbridge/salesforce/simorg/rest"
)

// UnsureSwitches lists what no source confirms about Salesforce. By default
// the org behaves in the way held to be likely; a switch chooses the other.
func UnsureSwitches() []Switch {
	list := make([]Switch, len(unsure))
	for i, u := range unsure {
		list[i] = u.Switch
	}
	return list
}

var unsure = []struct {
	Switch
	set func(*rest.Unsure)
}{
	{Switch{"culprit-unnamed",
		"a failed allOrNone answer names the culprit rows",
		"every row and subrequest of it shows only the roll-back"},
		func(u *rest.Unsure) { u.CulpritUnnamed = true }},
	{Switch{"priorvalue-unlocked",
		"validation rules read PRIORVALUE under the row lock",
		"they read it before waiting for the lock, so two concurrent updates see the same value unless both first wait for another row"},
		func(u *rest.Unsure) { u.PriorUnlocked = true }},
	{Switch{"datetime-milliseconds",
		"DateTime fields keep whole seconds",
		"they keep milliseconds"},
		func(u *rest.Unsure) { u.Milliseconds = true }},
	{Switch{"created-missing",
		"failed rows of a collections upsert show created: false",
		"no row of an answer with a failed row has the member"},
		func(u *rest.Unsure) { u.CreatedMissing = true }},
	{Switch{"duplicate-fields-filled",
		"DUPLICATE_VALUE has an empty fields list",
		"it names the field"},
		func(u *rest.Unsure) { u.DuplicateFieldsFilled = true }},
	{Switch{"duplicate-unknown-id",
		"DUPLICATE_VALUE names the field and the other row",
		"it says <unknown> for both"},
		func(u *rest.Unsure) { u.DuplicateUnknown = true }},
	{Switch{"halted-mates",
		"rows after the culprit of an allOrNone collection show ALL_OR_NONE_OPERATION_ROLLED_BACK",
		"they show PROCESSING_HALTED"},
		func(u *rest.Unsure) { u.HaltedMates = true }},
	{Switch{"rolled-back-collections-halted",
		"collections before the culprit of a rolled back composite keep a body that claims success, under status 400",
		"they show PROCESSING_HALTED as single rows do"},
		func(u *rest.Unsure) { u.HaltedCollections = true }},
	{Switch{"null-reference-clears",
		"a relationship given as null, \"Customer__r\": null, is passed over",
		"it clears the lookup"},
		func(u *rest.Unsure) { u.NullReferenceClears = true }},
	{Switch{"plain-numbers",
		"numbers are written as doubles: 12.0, 1.796034265123E12",
		"they are written in plain decimals: 12, 1796034265123"},
		func(u *rest.Unsure) { u.PlainNumbers = true }},
	{Switch{"control-characters-refused",
		"control characters other than tab and line feed are dropped from text",
		"the row is refused with TEXT_DATA_OUTSIDE_SUPPORTED_CHARSET"},
		func(u *rest.Unsure) { u.ControlRefused = true }},
	{Switch{"malformed-rows-alone",
		"an unknown field or a value of the wrong type in one record refuses the whole collections call with 400",
		"it refuses that record alone"},
		func(u *rest.Unsure) { u.MalformedRowsAlone = true }},
	{Switch{"lookups-lock-parents",
		"writing a lookup locks its parent only if the parent could not be deleted under it",
		"writing any lookup locks its parent, so that writers of one parent's children wait for each other"},
		func(u *rest.Unsure) { u.LookupsLock = true }},
	{Switch{"jwt-three-minutes",
		"a JWT assertion may expire at any later time",
		"one that expires more than three minutes ahead is refused"},
		func(u *rest.Unsure) { u.JWTCeiling = true }},
	{Switch{"exact-duplicate-keys",
		"keys of one upsert call are equal as their field compares them",
		"they are equal only when spelled the same"},
		func(u *rest.Unsure) { u.ExactDuplicateKeys = true }},
}

func parseUnsure(names []string) (rest.Unsure, error) {
	var u rest.Unsure
next:
	for _, name := range names {
		for _, s := range unsure {
			if s.Name == name {
				s.set(&u)
				continue next
			}
		}
		return u, fmt.Errorf("simorg: unsure switch %q is unknown; there are %s", name, strings.Join(switchNames(), ", "))
	}
	return u, nil
}

func switchNames() []string {
	names := make([]string, len(unsure))
	for i, s := range unsure {
		names[i] = s.Name
	}
	return names
}
