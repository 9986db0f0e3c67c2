package operate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/salesforce/soql"
)

// maxLimit bounds a list; an action without a limit is not bounded.
const maxLimit = 10_000

// Filter chooses events. What is set must all hold; of a list, one value.
type Filter struct {
	IDs      []string // Event_Id__c
	Source   string
	Type     string
	ObjectID string // the provider's object
	Status   []event.Status
	Code     string    // Error_Code__c
	Since    time.Time // received at or after
	Until    time.Time // received before
	Limit    int       // most events; 0: no bound of the caller's
}

// UsageError is a request that can't be carried out as it was given.
type UsageError struct{ Problem string }

func (e *UsageError) Error() string { return e.Problem }

func usage(format string, args ...any) error {
	return &UsageError{Problem: fmt.Sprintf(format, args...)}
}

// Selective says whether the filter chooses anything at all.
func (f Filter) Selective() bool {
	return len(f.IDs) > 0 || len(f.Status) > 0 || f.Source != "" || f.Type != "" || f.ObjectID != "" ||
		f.Code != "" || !f.Since.IsZero() || !f.Until.IsZero()
}

// ParseStatus reads a status in any letter case.
func ParseStatus(s string) (event.Status, error) {
	for _, status := range event.Statuses() {
		if strings.EqualFold(string(status), s) {
			return status, nil
		}
	}
	names := make([]string, 0, len(event.Statuses()))
	for _, status := range event.Statuses() {
		names = append(names, strings.ToLower(string(status)))
	}
	return "", usage("unknown status %q: want one of %s", s, strings.Join(names, ", "))
}

func (f Filter) check() error {
	for _, s := range f.Status {
		if !slices.Contains(event.Statuses(), s) {
			return usage("unknown status %q", s)
		}
	}
	if f.Limit < 0 {
		return usage("a limit of %d events", f.Limit)
	}
	if !f.Since.IsZero() && !f.Until.IsZero() && !f.Since.Before(f.Until) {
		return usage("nothing lies between since %s and until %s", f.Since.Format(time.RFC3339), f.Until.Format(time.RFC3339))
	}
	return nil
}

// Matches says whether the filter chooses an event that is at hand; Limit is the
// caller's to keep.
func (f Filter) Matches(e *event.Event) bool {
	is := func(want, have string) bool { return want == "" || want == have }
	return (len(f.IDs) == 0 || slices.Contains(f.IDs, e.ID)) &&
		(len(f.Status) == 0 || slices.Contains(f.Status, e.Status)) &&
		is(f.Source, e.Source) && is(f.Type, e.Type) && is(event.ShapeObjectID(f.ObjectID), e.ObjectID) && is(f.Code, e.ErrorCode) &&
		(f.Since.IsZero() || !e.ReceivedAt.Before(f.Since)) && (f.Until.IsZero() || e.ReceivedAt.Before(f.Until))
}

// conds are the conditions of the filter but for the ids.
func (f Filter) conds() []soql.Cond {
	var conds []soql.Cond
	equal := func(field, value string) {
		if value != "" {
			conds = append(conds, soql.Eq(field, value))
		}
	}
	equal(event.FieldSource, f.Source)
	equal(event.FieldType, f.Type)
	equal(event.FieldObjectID, event.ShapeObjectID(f.ObjectID))
	equal(event.FieldErrorCode, f.Code)
	if len(f.Status) > 0 {
		names := make([]string, len(f.Status))
		for i, s := range f.Status {
			names[i] = string(s)
		}
		conds = append(conds, soql.In(event.FieldStatus, names))
	}
	if !f.Since.IsZero() {
		conds = append(conds, soql.AtLeast(event.FieldReceivedAt, f.Since))
	}
	if !f.Until.IsZero() {
		conds = append(conds, soql.Less(event.FieldReceivedAt, f.Until))
	}
	return conds
}
