package orgclient

import (
	"context"
	"errors"
	"net/http/httptrace"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce"
	"sfbridge/salesforce/simorg"
	"sfbridge/salesforce/simorg/fault"
)

func TestFaultsOfTheWholeCall(t *testing.T) {
	t.Parallel()
	cases := []struct {
		kind    fault.Kind
		class   salesforce.Class
		carried bool // the org did it all the same
	}{
		{fault.Limit, salesforce.ClassLimit, false},
		{fault.ConcurrentLimit, salesforce.ClassLimit, false},
		{fault.Unavailable, salesforce.ClassUnknownOutcome, false},
		{fault.HTML503, salesforce.ClassUnknownOutcome, false},
		{fault.HTML200, salesforce.ClassUnknownOutcome, false},
		{fault.DropBefore, salesforce.ClassUnknownOutcome, false},
		{fault.DropAfter, salesforce.ClassUnknownOutcome, true},
		{fault.Malformed, salesforce.ClassUnknownOutcome, true},
		{fault.Truncated, salesforce.ClassUnknownOutcome, true},
		{fault.Moved, salesforce.ClassRetryable, false},
		{fault.ExpireSession, salesforce.ClassOK, true},
	}
	for _, c := range cases {
		t.Run(string(c.kind), func(t *testing.T) {
			t.Parallel()
			s := start(t)
			// A connection that is already in use is what a drop hits in life.
			_, err := s.client.Query(t.Context(), "SELECT Id FROM Payment__c")
			require.NoError(t, err)
			s.org.AddFaults(fault.Fault{Operation: fault.CollectionsInsert, Kind: c.kind, Times: 1})
			_, err = s.client.InsertAll(t.Context(), charges(3, "ch"), false)
			assert.Equal(t, c.class, salesforce.ClassOf(err), "%v", err)
			assert.Equal(t, c.carried, len(s.org.Rows("Payment__c")) == 3)
			if err != nil {
				assert.NotContains(t, err.Error(), s.org.AccessToken())
			}
		})
	}
}

func TestACallThatIsCarriedOutAfterGivingUp(t *testing.T) {
	t.Parallel()
	s := start(t)
	_, err := s.client.Query(t.Context(), "SELECT Id FROM Payment__c")
	require.NoError(t, err)
	s.org.AddFaults(fault.Fault{Operation: fault.CollectionsInsert, Kind: fault.Slow, Times: 1, Delay: 300 * time.Millisecond})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	written := &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { cancel() }}
	_, err = s.client.InsertAll(httptrace.WithClientTrace(ctx, written), charges(1, "ch"), false)
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, salesforce.ClassUnknownOutcome, salesforce.ClassOf(err))
	require.Eventually(t, func() bool { return len(s.org.Rows("Payment__c")) == 1 }, 20*time.Second, time.Millisecond)
}

func TestManyCallersMeetAnExpiredSession(t *testing.T) {
	t.Parallel()
	s := start(t)
	_, err := s.client.Query(t.Context(), "SELECT Id FROM Payment__c")
	require.NoError(t, err)
	s.org.AddFaults(fault.Fault{Operation: fault.Query, Kind: fault.ExpireSession, Times: 1})
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			_, err := s.client.Query(t.Context(), "SELECT Id FROM Payment__c")
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	assert.Equal(t, 2, s.org.Stats().Logins["token"])
}

func TestHiddenFieldsAndADailyLimit(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *simorg.Config) { c.HideFields = []string{"Payment__c.Note__c"}; c.DailyLimit = 2 })
	_, err := s.client.Query(t.Context(), "SELECT Note__c FROM Payment__c")
	e, ok := salesforce.AsError(err)
	require.True(t, ok)
	assert.Equal(t, salesforce.ClassConfiguration, e.Class)
	assert.Equal(t, []string{"Note__c"}, e.NamedFields())
	var limited *salesforce.Error
	for range 3 {
		_, err = s.client.Query(t.Context(), "SELECT Id FROM Payment__c")
		errors.As(err, &limited)
	}
	require.NotNil(t, limited)
	assert.Equal(t, salesforce.ClassLimit, limited.Class)
	assert.Equal(t, 5*time.Minute, limited.RetryAfter())
	assert.Equal(t, 1, s.org.Stats().Logins["token"], "a limit is no reason to log in again")
}
