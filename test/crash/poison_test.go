package crash_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

// crashes is how often an event may take the process down.
const crashes = 5

// An event whose payload kills the process runs alone after the first crash,
// so that its neighbours complete, and waits for a person after the fifth.
func TestPoisonousEvent(t *testing.T) {
	t.Parallel()
	events := deliveries(12)
	poison := delivery{id: "poison", charge: "ch_poison", at: events[5].at, amount: 1, note: "KILL"}
	org := stage(t, append([]delivery{poison}, events...))
	c := config(org)
	c.Program = harness.BuildProgram(t, "sfbridge/test/crash/poisoned")
	service := harness.Prepare(t, c)
	var batches []string
	for range crashes {
		service.Launch(t)
		require.Equal(t, -1, service.ExitCode(t), "a signal must have ended it")
		batches = append(batches, died(service.Log()))
	}
	service.Start(t)
	org.Settle(t)
	assert.True(t, service.Running(), "the sixth run must live")
	assert.Contains(t, batches[0], `"batch":13`, "all in one batch at first")
	for _, b := range batches[1:] {
		assert.Contains(t, b, `"batch":1}`, "alone after the first crash")
	}
	rows := org.Query(t, "SELECT Id, Event_Id__c, Status__c, Error_Code__c, Error__c, Attempts__c, Queue__c FROM Inbound_Event__c WHERE Event_Id__c = 'shop:poison'")
	require.Len(t, rows, 1)
	assert.Equal(t, "Review", rows[0]["Status__c"])
	assert.Equal(t, "ABANDONED", rows[0]["Error_Code__c"])
	assert.Contains(t, rows[0]["Error__c"], "died 5 times")
	assert.Nil(t, rows[0]["Queue__c"])
	require.NoError(t, org.Call(t.Context(), harness.Request{
		Method: "DELETE", Path: "/services/data/v" + harness.APIVersion + "/sobjects/Inbound_Event__c/" + rows[0]["Id"].(string),
	}))
	checkAll(t, org, events)
	service.Stop(t)
}

// died finds the last word of a service that was about to die.
func died(l *harness.Log) string {
	for _, line := range l.Lines(0) {
		if strings.Contains(line, `"msg":"dying"`) {
			return line
		}
	}
	return "it did not die of the poison:\n" + l.String()
}
