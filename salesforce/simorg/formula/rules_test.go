package formula_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/apex"
	"sfbridge/salesforce/simorg/formula"
	"sfbridge/salesforce/simorg/schema"
)

// shipped returns the only rule of an object of the product or the samples.
func shipped(t testing.TB, object string) (*schema.Object, *formula.Formula) {
	t.Helper()
	s, err := schema.Load(schema.Source{Name: "product", FS: apex.Product()}, schema.Source{Name: "samples", FS: apex.Samples()})
	require.NoError(t, err)
	o := s.Object(object)
	require.Len(t, o.Rules, 1)
	f, err := formula.Compile(o.Rules[0].Formula, o)
	require.NoError(t, err)
	return o, f
}

// A change of status or revision must name the revision it was decided on and
// bring a higher one.
func TestRefuseOldRevision(t *testing.T) {
	t.Parallel()
	o, f := shipped(t, "Inbound_Event__c")
	const none = ""
	for name, c := range map[string]struct {
		oldRev, newRev, expected string
		oldStatus, newStatus     string
		refused                  bool
	}{
		"moves on":                       {"1", "7", "1", "Received", "Completed", false},
		"revision alone moves on":        {"1", "7", "1", "Received", "Received", false},
		"old read":                       {"7", "9", "1", "Completed", "Review", true},
		"read of a later revision":       {"7", "9", "8", "Received", "Review", true},
		"no expectation":                 {"1", "2", none, "Received", "Review", true},
		"same revision":                  {"7", "7", "7", "Received", "Review", true},
		"lower revision":                 {"7", "6", "7", "Received", "Review", true},
		"revision cleared":               {"7", none, "7", "Received", "Received", true},
		"status alone":                   {"7", "7", none, "Received", "Review", true},
		"neither status nor revision":    {"7", "7", "3", "Received", "Received", false},
		"first revision of an old row":   {none, "5", "0", "Received", "Completed", false},
		"old row, no expectation":        {none, "5", none, "Received", "Completed", true},
		"the reply was lost, sent again": {"7", "9", "1", "Completed", "Completed", true},
	} {
		env := formula.Env{Now: now, Old: row(o, set{"Status__c": c.oldStatus}), New: row(o, set{"Status__c": c.newStatus})}
		put := func(r schema.Row, field, v string) {
			if v != none {
				r[o.Field(field).Slot] = dec(v)
			}
		}
		put(env.Old, "Revision__c", c.oldRev)
		put(env.New, "Revision__c", c.newRev)
		put(env.New, "Expected_Revision__c", c.expected)
		got, err := f.True(env)
		require.NoError(t, err, name)
		assert.Equal(t, c.refused, got, name)
	}
	got, err := f.True(formula.Env{New: o.NewRow(), IsNew: true, Now: now})
	require.NoError(t, err)
	assert.False(t, got, "a new row is never refused")
}

// Whoever writes another event on a target must name the event it carries.
func TestRefuseMoved(t *testing.T) {
	t.Parallel()
	for _, object := range []string{"Customer__c", "Payment__c", "Payment_Line__c"} {
		o, f := shipped(t, object)
		for name, c := range map[string]struct {
			isNew                  bool
			oldEvent, event, prior any
			refused                bool
		}{
			"created as read: not there":          {true, nil, "e1", nil, false},
			"created, but read as existing":       {true, nil, "e1", "e0", true},
			"written as read":                     {false, "e1", "e2", "e1", false},
			"another event in between":            {false, "e2", "e3", "e1", true},
			"read as not there, but there":        {false, "e1", "e2", nil, true},
			"read with an event, now without":     {false, nil, "e2", "e1", true},
			"no event before":                     {false, nil, "e1", nil, false},
			"the same event again":                {false, "e1", "e1", nil, false},
			"a person who leaves the event alone": {false, "e1", "e1", "e0", false},
			"differs in case only":                {false, "e1", "e2", "E1", true},
		} {
			env := formula.Env{Now: now, IsNew: c.isNew, New: row(o, set{"Source_Event__c": c.event, "Source_Prior__c": c.prior})}
			if !c.isNew {
				env.Old = row(o, set{"Source_Event__c": c.oldEvent})
			}
			got, err := f.True(env)
			require.NoError(t, err, name)
			assert.Equal(t, c.refused, got, "%s: %s", object, name)
		}
	}
}

func BenchmarkRules(b *testing.B) {
	o, f := shipped(b, "Inbound_Event__c")
	env := formula.Env{Now: now,
		Old: row(o, set{"Status__c": "Received", "Revision__c": dec("1")}),
		New: row(o, set{"Status__c": "Completed", "Revision__c": dec("70000"), "Expected_Revision__c": dec("1")})}
	b.ReportAllocs()
	for b.Loop() {
		if refused, err := f.True(env); refused || err != nil {
			b.Fatal(refused, err)
		}
	}
}
