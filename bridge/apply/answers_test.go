package apply_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/apply"
	"sfbridge/salesforce"
)

// scripted answers the first commits by itself, as an org would that rolled
// them back, and lets the rest through.
type scripted struct {
	apply.Org
	answers []answer
	sent    int // commits seen
}

// answer says what is wrong with a commit: rows of its first record collection
// or of its outcomes by position, a whole subrequest, or the whole call.
type answer struct {
	kind  string // "w" records, "e" outcomes, "q" queue rows
	rows  map[int]salesforce.Fault
	whole *salesforce.Fault
	call  *salesforce.Fault
	size  int // rows of a collection
}

func (s *scripted) Composite(ctx context.Context, subs []salesforce.Subrequest, all bool) ([]salesforce.Subresponse, error) {
	if !all || s.sent >= len(s.answers) {
		return s.Org.Composite(ctx, subs, all)
	}
	a := s.answers[s.sent]
	s.sent++
	if a.call != nil {
		return nil, &salesforce.Error{Op: salesforce.OpComposite, Status: 400, Fault: *a.call}
	}
	halted := salesforce.Fault{Code: "PROCESSING_HALTED", Class: salesforce.ClassCollateral}
	out := make([]salesforce.Subresponse, len(subs))
	struck := false
	for i, sub := range subs {
		out[i] = salesforce.Subresponse{Ref: sub.Ref, Status: 400, Faults: []salesforce.Fault{halted}}
		if struck || !strings.HasPrefix(sub.Ref, a.kind) {
			continue
		}
		struck = true
		if a.whole != nil {
			out[i].Faults = []salesforce.Fault{*a.whole}
			continue
		}
		out[i] = salesforce.Subresponse{Ref: sub.Ref, Status: 200, Results: make([]salesforce.SaveResult, a.size)}
		for j := range out[i].Results {
			out[i].Results[j].Errors = []salesforce.Fault{halted}
			if f, bad := a.rows[j]; bad {
				out[i].Results[j].Errors = []salesforce.Fault{f}
				if f.Class == salesforce.ClassOK {
					out[i].Results[j].Errors = nil
				}
			}
		}
	}
	return out, nil
}

func newScriptedBed(t *testing.T, answers ...answer) *bed {
	t.Helper()
	return newBed(t, shop, func(c *bedConfig) {
		c.wrap = func(o apply.Org) apply.Org { return &scripted{Org: o, answers: answers} }
	})
}

func rowFaults(size int, f salesforce.Fault, at ...int) answer {
	a := answer{kind: "w", size: size, rows: map[int]salesforce.Fault{}}
	for _, i := range at {
		a.rows[i] = f
	}
	return a
}

func repeat(n int, a answer) []answer {
	out := make([]answer, n)
	for i := range out {
		out[i] = a
	}
	return out
}

var (
	noUpdate  = salesforce.Fault{Code: "INVALID_FIELD_FOR_INSERT_UPDATE", Message: "Unable to create/update fields: Note__c.", Fields: []string{"Note__c"}, Class: salesforce.ClassConfiguration}
	unknown   = salesforce.Fault{Code: "UNKNOWN_EXCEPTION", Message: "An unexpected error occurred.", Class: salesforce.ClassRetryable}
	cpu       = salesforce.Fault{Code: "CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY", Message: "T: System.LimitException: Apex CPU time limit exceeded", Class: salesforce.ClassRetryable}
	tooLong   = salesforce.Fault{Code: "REQUEST_RUNNING_TOO_LONG", Message: "Your request was running for too long", Class: salesforce.ClassRetryable}
	twice     = salesforce.Fault{Code: "DUPLICATE_VALUE", Message: "Duplicate external id specified: ch_001", Class: salesforce.ClassData}
	otherRule = salesforce.Fault{Code: "FIELD_CUSTOM_VALIDATION_EXCEPTION", Message: "no", Class: salesforce.ClassData}
	held      = salesforce.Fault{Code: "UNABLE_TO_LOCK_ROW", Message: "unable to obtain exclusive access", Class: salesforce.ClassRetryable}
	badRef    = salesforce.Fault{Code: "INVALID_REFERENCE", Message: "Invalid reference specified", Class: salesforce.ClassData}
	gone      = salesforce.Fault{Code: "ENTITY_IS_DELETED", Message: "entity is deleted", Class: salesforce.ClassData}
)

func TestConfigurationErrorOfOneRow(t *testing.T) {
	t.Parallel()
	b := newScriptedBed(t, rowFaults(3, noUpdate, 1))
	b.stage(charges(3)...)
	report := b.apply()
	assert.Equal(t, "Review INVALID_FIELD_FOR_INSERT_UPDATE", b.ended("e001"))
	assert.Equal(t, 2, b.tally()["Completed Created"])
	assert.Empty(t, report.Pauses)
}

func TestConfigurationErrorOfAllRows(t *testing.T) {
	t.Parallel()
	b := newScriptedBed(t, rowFaults(3, noUpdate, 0, 1, 2))
	b.stage(charges(3)...)
	report := b.apply()
	assert.Equal(t, map[string]int{"Received": 3}, b.tally())
	require.Len(t, report.Pauses, 1)
	assert.Contains(t, report.Pauses[0].Reason, "Note__c")
}

func TestTemporaryErrorCostsAnAttempt(t *testing.T) {
	t.Parallel()
	b := newBed(t, shop)
	failing := func(a answer) *apply.Applier {
		return b.newApplier(bedConfig{apply: apply.Config{MaxAttempts: 2}, wrap: func(o apply.Org) apply.Org {
			return &scripted{Org: o, answers: []answer{a}}
		}})
	}
	b.stage(charges(3)...)
	b.stage(charge("later", "ch_002", 2, "Succeeded"))
	b.applier = failing(rowFaults(3, unknown, 2))
	b.apply()
	row := b.event("e002")
	assert.Equal(t, "Retryable UNKNOWN_EXCEPTION", b.ended("e002"))
	assert.Equal(t, 1, row.Attempts)
	assert.Equal(t, "Received", b.ended("later"), "held back by the failed one")

	b.now = b.now.Add(time.Hour)
	b.applier = failing(rowFaults(1, unknown, 0))
	b.apply()
	assert.Equal(t, "Review UNKNOWN_EXCEPTION", b.ended("e002"), "attempts are used up")
	assert.Equal(t, "Completed Created", b.ended("later"))
}

// A limit of the org's own automation halves the batch; one event alone is
// charged.
func TestAutomationLimit(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]answer{
		"Row":        rowFaults(40, cpu, 0),
		"Call":       {call: &tooLong},
		"Collection": {kind: "w", whole: &tooLong},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newScriptedBed(t, first)
			b.stage(charges(40)...)
			report := b.apply()
			assert.Equal(t, map[string]int{"Completed Created": 40}, b.tally())
			assert.Equal(t, 20, report.BatchLimit)
		})
	}
	t.Run("Alone", func(t *testing.T) {
		t.Parallel()
		b := newScriptedBed(t, answer{call: &tooLong})
		b.stage(charges(1)...)
		b.apply()
		assert.Equal(t, "Retryable REQUEST_RUNNING_TOO_LONG", b.ended("e000"))
		assert.Equal(t, 1, b.event("e000").Attempts)
	})
}

// Salesforce takes two keys for one that we keep apart: each goes by itself,
// none is taken for done.
func TestRepeatedKeyIsNeverSuccess(t *testing.T) {
	t.Parallel()
	b := newScriptedBed(t, rowFaults(3, twice, 0, 1))
	b.stage(charges(3)...)
	b.apply()
	assert.Equal(t, map[string]int{"Completed Created": 3}, b.tally())
	assert.Len(t, b.payments(), 3)
}

// A row that failed without an error names nobody: each goes by itself.
func TestFailedRowWithoutAnError(t *testing.T) {
	t.Parallel()
	silent := salesforce.Fault{}
	b := newScriptedBed(t, rowFaults(3, silent, 1))
	b.stage(charges(3)...)
	b.apply()
	assert.Equal(t, map[string]int{"Completed Created": 3}, b.tally())
}

func TestRowsFailInEveryRound(t *testing.T) {
	t.Parallel()
	b := newScriptedBed(t, rowFaults(9, otherRule, 0), rowFaults(8, otherRule, 0), rowFaults(7, otherRule, 0))
	b.stage(charges(9)...)
	b.apply()
	assert.Equal(t, map[string]int{"Completed Created": 6, "Review FIELD_CUSTOM_VALIDATION_EXCEPTION": 3}, b.tally())
}

// The org refuses our own row for a reason of its own: the event stays due,
// nothing of it is written, its mates are applied.
func TestOutcomeRowRefused(t *testing.T) {
	t.Parallel()
	b := newScriptedBed(t, answer{kind: "e", size: 3, rows: map[int]salesforce.Fault{1: otherRule}})
	b.stage(charges(3)...)
	report := b.apply()
	assert.Equal(t, map[string]int{"Completed Created": 2, "Received": 1}, b.tally())
	assert.Len(t, b.payments(), 2)
	assert.Equal(t, apply.Unwritten, report.Results[1].Reason)
	assert.True(t, report.Results[1].NotBefore.After(b.now))
}

// Where an outcome can't refer to a record that its transaction creates, it
// goes without the record's id.
func TestWithoutReferences(t *testing.T) {
	t.Parallel()
	b := newScriptedBed(t, answer{kind: "e", whole: &badRef})
	b.stage(charges(2)...)
	b.apply()
	assert.Equal(t, map[string]int{"Completed Created": 2}, b.tally())
	assert.Empty(t, b.event("e000").TargetID)
	assert.Equal(t, "Payment__c:ch_000", b.event("e000").BusinessKey)
	b.stage(charge("next", "ch_000", 2, "Succeeded"))
	b.apply()
	assert.Equal(t, b.payments()["ch_000"].ID(), b.event("next").TargetID)
}

func TestStagingObjectMisconfigured(t *testing.T) {
	t.Parallel()
	b := newScriptedBed(t, repeat(2, answer{kind: "e", whole: &noUpdate})...)
	b.stage(charges(2)...)
	batch := b.due()
	_, err := b.applier.Apply(b.ctx, batch)
	assert.Equal(t, salesforce.ClassConfiguration, salesforce.ClassOf(err))
	assert.Equal(t, map[string]int{"Received": 2}, b.tally())
}

func TestQueueHeldForLong(t *testing.T) {
	t.Parallel()
	b := newScriptedBed(t, repeat(9, answer{kind: "q", whole: &held})...)
	b.stage(charges(2)...)
	_, err := b.applier.Apply(b.ctx, b.due())
	assert.Equal(t, salesforce.ClassRetryable, salesforce.ClassOf(err))
	assert.Equal(t, map[string]int{"Received": 2}, b.tally())
}

// A record that vanished before its change is looked for again.
func TestVanishedRecord(t *testing.T) {
	t.Parallel()
	b := newBed(t, shopRoutes)
	b.stage(charge("e1", "ch_1", 1, "Pending"))
	b.apply()
	b.applier = b.newApplier(bedConfig{wrap: func(o apply.Org) apply.Org {
		return &scripted{Org: o, answers: []answer{rowFaults(1, gone, 0)}}
	}})
	b.stage(deletion("d", "ch_1", 2))
	b.apply()
	assert.Equal(t, "Completed Deleted", b.ended("d"))
	assert.Empty(t, b.payments())
}

func TestContendedRowsAreLeft(t *testing.T) {
	t.Parallel()
	stale := salesforce.Fault{Code: "FIELD_CUSTOM_VALIDATION_EXCEPTION", Message: "REVISION: read again", Class: salesforce.ClassStale}
	b := newScriptedBed(t, repeat(30, answer{kind: "e", size: 2, rows: map[int]salesforce.Fault{0: stale}})...)
	b.stage(charges(2)...)
	report := b.apply()
	assert.Equal(t, map[string]int{"Received": 2}, b.tally())
	for _, r := range report.Results {
		assert.Equal(t, apply.Contended, r.Reason)
		assert.True(t, r.NotBefore.After(b.now))
	}
}

func TestConfigRefusesWhatIsMissing(t *testing.T) {
	t.Parallel()
	_, err := apply.New(apply.Config{})
	require.ErrorContains(t, err, "Org must be set")
	b := newBed(t, shop)
	full := func() apply.Config {
		return apply.Config{
			Org: b.client, Mappings: b, Now: time.Now, Intn: func(int64) int64 { return 0 },
			Float: func() float64 { return 0 }, Sleep: func(context.Context, time.Duration) error { return nil },
		}
	}
	_, err = apply.New(full())
	require.NoError(t, err)
	for name, change := range map[string]func(*apply.Config){
		"Mappings": func(c *apply.Config) { c.Mappings = nil }, "Now": func(c *apply.Config) { c.Now = nil },
		"Intn and Float": func(c *apply.Config) { c.Intn = nil }, "Sleep": func(c *apply.Config) { c.Sleep = nil },
		"MaxAttempts": func(c *apply.Config) { c.MaxAttempts = -1 },
	} {
		c := full()
		change(&c)
		_, err := apply.New(c)
		require.ErrorContains(t, err, name)
	}
}
