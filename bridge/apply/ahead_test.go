package apply_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"sfbridge/bridge/apply"
	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

// unwritable takes no outcome by itself as long as it is shut.
type unwritable struct {
	apply.Org
	shut  bool
	whole *salesforce.Fault // what all is refused with; nil: each row is, with row
	row   salesforce.Fault
}

func (u *unwritable) UpdateAll(ctx context.Context, rows []salesforce.Row, all bool) ([]salesforce.SaveResult, error) {
	switch {
	case !u.shut:
		return u.Org.UpdateAll(ctx, rows, all)
	case u.whole != nil:
		return nil, &salesforce.Error{Op: salesforce.OpUpdateAll, Fault: *u.whole}
	}
	results := make([]salesforce.SaveResult, len(rows))
	for i, row := range rows {
		results[i] = salesforce.SaveResult{ID: row.ID, Errors: []salesforce.Fault{u.row}}
	}
	return results, nil
}

// An event that goes to Review holds nothing back from then on, not earlier:
// while that can't be written, later events of its entity wait.
func TestReviewIsWrittenBeforeLaterEventsGo(t *testing.T) {
	t.Parallel()
	lines := wideEvent("bad", "a", 1, 30)
	lines.payload = strings.Replace(lines.payload, "a@example.com", "no address", 1)
	simple := []ev{charge("bad", "a", 1, "Nonsense"), charge("next", "a", 2, "Pending"), charge("other", "b", 1, "Pending")}
	for way, tt := range map[string]struct {
		mapping string
		answers []answer // of the org to the first commits
		events  []ev
		code    string
	}{
		"transaction": {mapping: shop, events: simple, code: "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST"},
		"graphs of the rest": {
			mapping: shop, answers: []answer{{kind: "none"}}, // rolled back without a reason
			events: simple, code: "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST",
		},
		"graph of what has no room": {
			mapping: wide, events: []ev{lines, wideEvent("next", "a", 2, 30), wideEvent("other", "b", 1, 30)}, code: "INVALID_EMAIL_ADDRESS",
		},
	} {
		for name, org := range map[string]*unwritable{
			"outage":   {whole: &salesforce.Fault{Class: salesforce.ClassRetryable, Code: "SERVER_UNAVAILABLE"}},
			"no reply": {whole: &salesforce.Fault{Class: salesforce.ClassUnknownOutcome}},
			"refused":  {row: salesforce.Fault{Code: "FIELD_CUSTOM_VALIDATION_EXCEPTION", Message: "a rule of the org's own"}},
			"revision": {row: salesforce.Fault{Code: "FIELD_CUSTOM_VALIDATION_EXCEPTION", Message: "REVISION"}},
		} {
			t.Run(way+" "+name, func(t *testing.T) {
				t.Parallel()
				org := &unwritable{shut: true, whole: org.whole, row: org.row}
				wrap := func(c *bedConfig) {
					c.wrap = func(o apply.Org) apply.Org {
						org.Org = &scripted{Org: o, answers: tt.answers}
						return org
					}
				}
				b := newBed(t, tt.mapping, withObjects(wideObjects()...), wrap)
				b.stage(tt.events...)
				_, err := b.applier.Apply(b.ctx, b.due())
				assert.Equal(t, org.whole != nil, err != nil)
				assert.Equal(t, string(event.Received), b.ended("bad"))
				assert.Equal(t, string(event.Received), b.ended("next"))
				org.shut = false
				b.apply()
				assert.Equal(t, "Review "+tt.code, b.ended("bad"))
				assert.Equal(t, "Completed Created", b.ended("next"))
				assert.Equal(t, "Completed Created", b.ended("other"))
			})
		}
	}
}
