package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
)

// The list has room for why an event waits: columns without a word are left
// out, and of a long error the end stays, where the reason stands.
func TestTheListOfEventsTellsTheReason(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	long := "upsert Payment__c Stripe_Charge_Id__c ch_1: " + strings.Repeat("x", 200) + ": Amount__c is too large"
	list := []*event.Event{
		{ID: "shop:1", Type: "charge", Status: event.Review, ErrorCode: "FIELD", Error: long, ReceivedAt: at},
		{ID: "shop:2", Type: "charge", Status: event.Received, ReceivedAt: at},
	}
	show := func() string {
		var out bytes.Buffer
		require.NoError(t, showEvents(environment{out: &out}, list))
		return out.String()
	}
	text := show()
	assert.Equal(t, []string{"RECEIVED", "EVENT", "TYPE", "STATUS", "CODE", "ERROR"}, strings.Fields(strings.SplitN(text, "\n", 2)[0]))
	assert.Contains(t, text, "upsert Payment__c")
	assert.Contains(t, text, "…")
	assert.Contains(t, text, ": Amount__c is too large\n")
	assert.NotContains(t, text, long)

	list[1].Attempts, list[1].Outcome = 3, event.Stale
	head, rows, _ := strings.Cut(show(), "\n")
	assert.Contains(t, head, "OUTCOME")
	assert.Contains(t, head, "FAILED ATTEMPTS")
	assert.Regexp(t, `shop:2 +charge +Received +Stale +3`, rows)
	assert.Equal(t, "no events\n", func() string { list = nil; return show() }())
}

func TestEnds(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"": "", "123456789": "123456789", "1234567890": "123…67890", "žlutá-řeka": "žlu…-řeka"} {
		assert.Equal(t, want, ends(in, 9))
	}
}
