package simorg_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce/simorg"
	"sfbridge/salesforce/simorg/fault"
)

func once(op fault.Operation, kind fault.Kind) fault.Fault {
	return fault.Fault{Operation: op, Kind: kind, Times: 1}
}

func TestCallFaultsThatRefuse(t *testing.T) {
	t.Parallel()
	for kind, want := range map[fault.Kind]struct {
		status int
		body   string
	}{
		fault.Limit:           {403, `[{"message":"TotalRequests Limit exceeded.","errorCode":"REQUEST_LIMIT_EXCEEDED"}]`},
		fault.ConcurrentLimit: {403, `[{"message":"ConcurrentRequests (Concurrent API Requests) Limit exceeded.","errorCode":"REQUEST_LIMIT_EXCEEDED"}]`},
		fault.Unavailable:     {503, `[{"message":"Server too busy","errorCode":"SERVER_UNAVAILABLE"}]`},
		fault.ExpireSession:   {401, `[{"message":"Session expired or invalid","errorCode":"INVALID_SESSION_ID"}]`},
		fault.HTML503:         {503, `<html>`},
		fault.HTML200:         {200, `<html>`},
		fault.Moved:           {302, `<html>`},
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s := setup(t, plant(once(fault.Row, kind)))
			a := s.do("POST", "sobjects/Payment__c", `{}`)
			assert.Equal(t, want.status, a.StatusCode)
			assert.True(t, strings.HasPrefix(a.body, want.body), a.body)
			assert.Empty(t, s.Rows("Payment__c"), "not carried out")
			if want.body == "<html>" {
				assert.Contains(t, a.Header.Get("Content-Type"), "text/html")
			}
			if kind == fault.Moved {
				assert.Equal(t, "https://moved.invalid"+base+"/sobjects/Payment__c", a.Header.Get("Location"))
			}
			after := s.do("POST", "sobjects/Payment__c", `{}`).StatusCode
			if kind == fault.ExpireSession {
				assert.Equal(t, 401, after, "the session is gone for good")
			} else {
				assert.Equal(t, 201, after, "struck once")
			}
		})
	}
}

func TestCallFaultsThatSpoilTheAnswer(t *testing.T) {
	t.Parallel()
	for kind, rows := range map[fault.Kind]int{
		fault.DropBefore: 0, fault.DropAfter: 1, fault.Truncated: 1, fault.Malformed: 1,
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s := setup(t, plant(once(fault.CollectionsUpsert, kind)))
			a, err := s.try("PATCH", upsertPayments, records("Payment__c", false, charge("a")))
			if kind == fault.Malformed {
				require.NoError(t, err)
				assert.Equal(t, 200, a.StatusCode)
				assert.True(t, strings.HasPrefix(a.body, "{,,"))
			} else {
				require.Error(t, err)
			}
			assert.Len(t, s.Rows("Payment__c"), rows)
		})
	}
}

// A slow call is carried out although its client has gone.
func TestSlow(t *testing.T) {
	t.Parallel()
	s := setup(t, plant(fault.Fault{Operation: fault.Any, Kind: fault.Slow, Times: 1, Delay: time.Second}))
	ctx, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	req, err := http.NewRequestWithContext(ctx, "POST", s.URL()+base+"/sobjects/Payment__c", strings.NewReader(`{}`))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+s.AccessToken())
	gone := make(chan error, 1)
	go func() {
		resp, err := s.client.Do(req)
		if err == nil {
			err = resp.Body.Close()
		}
		gone <- err
	}()
	require.Eventually(t, func() bool { return s.Stats().APICalls.Total == 1 }, 10*time.Second, time.Millisecond)
	giveUp()
	require.ErrorIs(t, <-gone, context.Canceled)
	require.Eventually(t, func() bool { return len(s.Rows("Payment__c")) == 1 }, 10*time.Second, time.Millisecond)
}

func TestRowFaults(t *testing.T) {
	t.Parallel()
	for kind, want := range map[fault.Kind][2]string{
		fault.LockRow:       {"UNABLE_TO_LOCK_ROW", "unable to obtain exclusive access to this record or 1 records: a"},
		fault.LockNested:    {"CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY", "first error: UNABLE_TO_LOCK_ROW, unable to obtain exclusive access"},
		fault.Validation:    {"FIELD_CUSTOM_VALIDATION_EXCEPTION", "validation rule"},
		fault.StorageFull:   {"STORAGE_LIMIT_EXCEEDED", "storage limit exceeded"},
		fault.DuplicateRace: {"DUPLICATE_VALUE", "duplicate value found: Stripe_Charge_Id__c duplicates value on record with id: a"},
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s := setup(t, plant(once(fault.CollectionsUpsert, kind)),
				plant(fault.Fault{Operation: fault.Any, Key: "c", Kind: kind, Times: 1}))
			got := s.rows("PATCH", upsertPayments, records("Payment__c", false, charge("a"), charge("b"), charge("c")))
			assert.Equal(t, []string{want[0], "", want[0]}, codes(got), "the first row, and the row of the key")
			assert.Contains(t, got[0].Errors[0].Message, want[1])
			assert.Equal(t, []string{"", "", ""}, codes(s.rows("PATCH", upsertPayments, records("Payment__c", false, charge("a"), charge("b"), charge("c")))))
		})
	}
}

func TestRowFaultByTheKeyOfTheRowThere(t *testing.T) {
	t.Parallel()
	s := setup(t)
	id := s.insert("Payment__c", `{`+charge("ch_1")+`}`)
	s.AddFaults(fault.Fault{Operation: fault.Row, Object: "payment__C", Key: "ch_1", Kind: fault.LockRow, Times: 0})
	for range 3 {
		a := s.do("PATCH", "sobjects/Payment__c/"+id, `{"Note__c":"x"}`)
		assert.Equal(t, 400, a.StatusCode)
		assert.Contains(t, a.body, "UNABLE_TO_LOCK_ROW")
		assert.Contains(t, a.body, id)
	}
	assert.Equal(t, 201, s.do("PATCH", "sobjects/Customer__c/Stripe_Customer_Id__c/ch_1", `{}`).StatusCode, "another object")
	s.ClearFaults()
	s.want("PATCH", "sobjects/Payment__c/"+id, `{"Note__c":"x"}`, 204, "")
}

func TestFaultsInsideComposites(t *testing.T) {
	t.Parallel()
	upsert := step("PATCH", upsertPayments, "up", records("Payment__c", false, charge("a"), charge("b")))
	query := step("GET", "query?q=SELECT+Id+FROM+Customer__c", "q", "")
	row := step("PATCH", "sobjects/Customer__c/Stripe_Customer_Id__c/cus_1", "row", `{}`)

	t.Run("a row of a collection", func(t *testing.T) {
		t.Parallel()
		s := setup(t, plant(fault.Fault{Operation: fault.CollectionsUpsert, Key: "b", Kind: fault.LockRow, Times: 1}))
		got := s.composite(composite(true, row, upsert))
		assert.Equal(t, []string{"ALL_OR_NONE_OPERATION_ROLLED_BACK", "UNABLE_TO_LOCK_ROW"}, codes(got[1].results(t)))
		assert.Empty(t, s.Stats().Rows)
	})
	t.Run("a single row goes by composite, not by row", func(t *testing.T) {
		t.Parallel()
		s := setup(t, plant(fault.Fault{Operation: fault.Row, Kind: fault.Validation, Times: 1}))
		assert.Equal(t, 201, s.composite(composite(true, row))[0].HTTPStatusCode)
		s.AddFaults(fault.Fault{Operation: fault.Composite, Object: "Customer__c", Kind: fault.Validation, Times: 1})
		got := s.composite(composite(true, upsert, row))
		assert.Equal(t, "FIELD_CUSTOM_VALIDATION_EXCEPTION", got[1].errorCode(t))
		assert.Empty(t, s.Rows("Payment__c"))
	})
	t.Run("a graph", func(t *testing.T) {
		t.Parallel()
		s := setup(t, plant(fault.Fault{Operation: fault.Composite, Key: "cus_1", Kind: fault.LockNested, Times: 1}))
		got := s.graph(graphOf("g1", row), graphOf("g2", step("POST", "sobjects/Payment__c", "p", `{}`)))
		assert.False(t, got.Graphs[0].IsSuccessful)
		assert.True(t, got.Graphs[1].IsSuccessful)
	})
	t.Run("a call fault of a query strikes the exchange", func(t *testing.T) {
		t.Parallel()
		s := setup(t, plant(fault.Fault{Operation: fault.Query, Object: "Customer__c", Kind: fault.DropAfter, Times: 1}))
		_, err := s.try("POST", "composite", composite(true, upsert, query))
		require.Error(t, err)
		assert.Len(t, s.Rows("Payment__c"), 2, "carried out")
	})
	t.Run("of another object does not", func(t *testing.T) {
		t.Parallel()
		s := setup(t, plant(fault.Fault{Operation: fault.CollectionsUpsert, Object: "Customer__c", Kind: fault.DropAfter, Times: 1}))
		assert.Equal(t, 200, s.composite(composite(true, upsert, query))[0].HTTPStatusCode)
	})
}

func TestFaultsOfOtherOperations(t *testing.T) {
	t.Parallel()
	for op, call := range map[fault.Operation][3]string{
		fault.CollectionsInsert: {"POST", collections, records("Payment__c", false, charge("a"))},
		fault.CollectionsUpdate: {"PATCH", collections, records("Payment__c", false, `"Id":"a00000000000001AAA"`)},
		fault.Query:             {"GET", "query?q=SELECT+Id+FROM+Account", ""},
		fault.Composite:         {"POST", "composite/graph", `{"graphs":[]}`},
		fault.Delete:            {"DELETE", collections + "?ids=a", ""},
		fault.Describe:          {"GET", "sobjects/Payment__c/describe", ""},
		fault.Limits:            {"GET", "limits", ""},
		fault.Bulk:              {"POST", "jobs/ingest", `{}`},
	} {
		t.Run(string(op), func(t *testing.T) {
			t.Parallel()
			s := setup(t, plant(once(op, fault.Unavailable)))
			assert.Equal(t, 503, s.do(call[0], call[1], call[2]).StatusCode)
			assert.NotEqual(t, 503, s.do(call[0], call[1], call[2]).StatusCode)
			assert.Equal(t, map[string]int{string(op): 2}, s.Stats().APICalls.ByOperation)
		})
	}
}

func TestControlRoutes(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.want("POST", "/_sim/faults", `[{"operation":"query","fault":"unavailable","after":1,"times":2},{"fault":"limit"}]`, 204, "")
	query := "query?q=SELECT+Id+FROM+Account"
	var statuses []int
	for range 5 {
		statuses = append(statuses, s.do("GET", query, "").StatusCode)
	}
	assert.Equal(t, []int{403, 503, 503, 200, 200}, statuses,
		"the first passes once and leaves the call to the second, which strikes once")
	s.insert("Payment__c", `{}`)
	s.want("GET", "/_sim/stats", "", 200, `{"api_calls":{"total":6,"by_operation":{"query":5,"row":1}},"logins":{},"rows":{"Payment__c":1}}`)

	s.want("POST", "/_sim/faults", `[{"operation":"*","fault":"unavailable","times":0}]`, 204, "")
	assert.Equal(t, 503, s.do("GET", query, "").StatusCode)
	s.want("DELETE", "/_sim/faults", "", 204, "")
	assert.Equal(t, 200, s.do("GET", query, "").StatusCode)

	s.want("POST", "/_sim/reset", "", 204, "")
	s.want("GET", "/_sim/stats", "", 200, `{"api_calls":{"total":0,"by_operation":{}},"logins":{},"rows":{}}`)
	assert.Equal(t, 200, s.do("GET", query, "").StatusCode, "sessions outlive a reset")
	assert.Len(t, s.query("SELECT Id FROM User"), 1)

	for _, bad := range []string{`{`, `[{"fault":"nonsense"}]`, `[{"operation":"odd","fault":"limit"}]`, `[{"fault":"limit","key":"x"}]`,
		`[{"fault":"slow","delay":"soon"}]`, `[{"fault":"limit","tmies":1}]`, `[{"fault":"limit","after":-1}]`} {
		assert.Equal(t, 400, s.do("POST", "/_sim/faults", bad).StatusCode, bad)
	}
	assert.Equal(t, 404, s.do("GET", "/_sim/nothing", "").StatusCode)
	s.want("GET", "/_sim/stats", "", 200, `{"api_calls":{"total":2,"by_operation":{"query":2}},"logins":{},"rows":{}}`)
}

func TestDailyLimit(t *testing.T) {
	t.Parallel()
	s := setup(t, func(c *simorg.Config) { c.DailyLimit = 2 })
	assert.Equal(t, "api-usage=1/2", s.do("GET", "limits", "").Header.Get("Sforce-Limit-Info"))
	assert.Contains(t, s.do("GET", "limits", "").body, `"DailyApiRequests":{"Max":2,"Remaining":0}`)
	a := s.want("GET", "limits", "", 403, `[{"message":"TotalRequests Limit exceeded.","errorCode":"REQUEST_LIMIT_EXCEEDED"}]`)
	assert.Equal(t, "api-usage=2/2", a.Header.Get("Sforce-Limit-Info"))
	assert.Equal(t, 200, s.do("GET", "/services/data", "").StatusCode, "versions do not count")
}
