package simorg_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce/simorg"
)

// sub is one answered subrequest.
type sub struct {
	Body           json.RawMessage
	HTTPHeaders    map[string]string
	HTTPStatusCode int
	ReferenceID    string
}

func (s sub) errorCode(t *testing.T) string {
	t.Helper()
	var errs []struct{ ErrorCode string }
	require.NoError(t, json.Unmarshal(s.Body, &errs), string(s.Body))
	require.NotEmpty(t, errs)
	return errs[0].ErrorCode
}

func (s sub) results(t *testing.T) []result {
	t.Helper()
	var out []result
	require.NoError(t, json.Unmarshal(s.Body, &out), string(s.Body))
	return out
}

// step is one subrequest: method, URL below the data URL, reference, body.
func step(method, path, ref, body string) string {
	if body != "" {
		body = `,"body":` + body
	}
	return fmt.Sprintf(`{"method":%q,"url":"%s/%s","referenceId":%q%s}`, method, base, path, ref, body)
}

func composite(allOrNone bool, steps ...string) string {
	return fmt.Sprintf(`{"allOrNone":%v,"collateSubrequests":false,"compositeRequest":[%s]}`, allOrNone, strings.Join(steps, ","))
}

func (s *sim) composite(body string) []sub {
	s.t.Helper()
	a := s.do("POST", "composite", body)
	require.Equal(s.t, 200, a.StatusCode, a.body)
	var out struct{ CompositeResponse []sub }
	a.into(s.t, &out)
	return out.CompositeResponse
}

func TestCompositeCommits(t *testing.T) {
	t.Parallel()
	s := setup(t)
	got := s.composite(composite(true,
		step("PATCH", "sobjects/Customer__c/Stripe_Customer_Id__c/cus_9", "cust", `{"Email__c":"a@b.example"}`),
		step("POST", "sobjects/Payment__c", "pay", `{"Customer__c":"@{cust.id}","Stripe_Charge_Id__c":"ch_1"}`),
		step("PATCH", upsertPayments, "more", records("Payment__c", false, charge("ch_2")+`,"Customer__r":{"Stripe_Customer_Id__c":"cus_9"}`)),
		step("GET", "query?q=SELECT+Id,Customer__r.Email__c+FROM+Payment__c", "read", ""),
		step("PATCH", "sobjects/Payment__c/@{more[0].id}", "note", `{"Note__c":"@{read.records[0].Customer__r.Email__c}"}`),
		step("DELETE", "sobjects/Payment__c/@{pay.id}", "del", "")))
	require.Len(t, got, 6)
	var statuses []int
	for _, g := range got {
		statuses = append(statuses, g.HTTPStatusCode)
	}
	assert.Equal(t, []int{201, 201, 200, 200, 204, 204}, statuses)
	assert.Equal(t, "cust", got[0].ReferenceID)
	assert.Contains(t, got[0].HTTPHeaders["Location"], base+"/sobjects/Customer__c/")
	assert.Contains(t, string(got[3].Body), `"totalSize":2`)
	assert.Equal(t, "null", string(got[4].Body))
	rows := s.Rows("Payment__c")
	require.Len(t, rows, 1)
	assert.Equal(t, "a@b.example", rows[0]["Note__c"])
	assert.Equal(t, 1, s.Stats().APICalls.Total, "a composite is one call")
}

// A rolled back composite names the culprit; single rows beside it tell only
// of the roll back, collections before it go on claiming success.
func TestCompositeRollsBack(t *testing.T) {
	t.Parallel()
	s := setup(t)
	got := s.composite(composite(true,
		step("PATCH", "sobjects/Customer__c/Stripe_Customer_Id__c/cus_9", "cust", `{}`),
		step("PATCH", upsertPayments, "good", records("Payment__c", false, charge("ch_1"))),
		step("PATCH", upsertPayments, "bad", records("Payment__c", false, charge("ch_2"), charge("ch_3")+`,"Status__c":"Odd"`)),
		step("PATCH", upsertPayments, "later", records("Payment__c", false, charge("ch_4"))),
		step("POST", "sobjects/Customer__c", "last", `{}`)))
	for _, g := range got {
		assert.Equal(t, 400, g.HTTPStatusCode, g.ReferenceID)
		assert.Empty(t, g.HTTPHeaders)
	}
	assert.JSONEq(t, `[{"errorCode":"PROCESSING_HALTED","message":"The transaction was rolled back since another operation in the same transaction failed."}]`, string(got[0].Body))
	assert.True(t, got[1].results(t)[0].Success, "the body lies, the outer status does not")
	assert.Equal(t, []string{"ALL_OR_NONE_OPERATION_ROLLED_BACK", "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST"}, codes(got[2].results(t)))
	assert.Equal(t, "PROCESSING_HALTED", got[3].errorCode(t))
	assert.Equal(t, "PROCESSING_HALTED", got[4].errorCode(t))
	assert.Empty(t, s.Stats().Rows)

	got = s.composite(composite(true,
		step("POST", "sobjects/Customer__c", "cust", `{}`),
		step("POST", "sobjects/Payment__c", "note", `{"Foo__c":1}`)))
	assert.Equal(t, "PROCESSING_HALTED", got[0].errorCode(t))
	assert.Equal(t, "INVALID_FIELD", got[1].errorCode(t))
	assert.Empty(t, s.Stats().Rows)

	blind := setup(t, func(c *simorg.Config) { c.Unsure = []string{"culprit-unnamed"} })
	got = blind.composite(composite(true,
		step("POST", "sobjects/Customer__c", "cust", `{}`),
		step("PATCH", upsertPayments, "bad", records("Payment__c", false, charge("ch_2"), charge("ch_3")+`,"Status__c":"Odd"`))))
	assert.Equal(t, []string{"ALL_OR_NONE_OPERATION_ROLLED_BACK", "ALL_OR_NONE_OPERATION_ROLLED_BACK"}, codes(got[1].results(t)))
	got = blind.composite(composite(true, step("POST", "sobjects/Payment__c", "bad", `{"Status__c":"Odd"}`)))
	assert.Equal(t, "PROCESSING_HALTED", got[0].errorCode(t))
}

func TestRolledBackCollectionsHalted(t *testing.T) {
	t.Parallel()
	s := setup(t, func(c *simorg.Config) { c.Unsure = []string{"rolled-back-collections-halted"} })
	got := s.composite(composite(true,
		step("PATCH", upsertPayments, "good", records("Payment__c", false, charge("ch_1"))),
		step("PATCH", upsertPayments, "bad", records("Payment__c", false, charge("ch_2")+`,"Status__c":"Odd"`))))
	assert.Equal(t, "PROCESSING_HALTED", got[0].errorCode(t))
	assert.Equal(t, []string{"INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST"}, codes(got[1].results(t)))
}

func TestCompositeWithoutAllOrNone(t *testing.T) {
	t.Parallel()
	s := setup(t)
	got := s.composite(composite(false,
		step("POST", "sobjects/Payment__c", "bad", `{"Status__c":"Odd"}`),
		step("POST", "sobjects/Payment__c", "good", `{"Stripe_Charge_Id__c":"a"}`),
		step("PATCH", "sobjects/Payment__c/@{bad.id}", "lost", `{}`),
		step("GET", "nothing", "none", "")))
	assert.Equal(t, []int{400, 201, 400, 404}, []int{got[0].HTTPStatusCode, got[1].HTTPStatusCode, got[2].HTTPStatusCode, got[3].HTTPStatusCode})
	assert.JSONEq(t, `[{"errorCode":"PROCESSING_HALTED","message":"Invalid reference specified. No value for bad.id found in bad"}]`, string(got[2].Body))
	assert.Len(t, s.Rows("Payment__c"), 1)
}

func TestCompositeEnvelope(t *testing.T) {
	t.Parallel()
	s := setup(t)
	repeat := func(n int, method, path string) string {
		var steps []string
		for i := range n {
			steps = append(steps, step(method, path, fmt.Sprint("r", i), ""))
		}
		return composite(true, steps...)
	}
	query := "query?q=SELECT+Id+FROM+Account"
	for _, c := range []struct {
		name, body string
		status     int
	}{
		{"25 rows", repeat(25, "GET", "sobjects/Account"), 200},
		{"26 rows", repeat(26, "GET", "sobjects/Account"), 400},
		{"5 queries", repeat(5, "GET", query), 200},
		{"6 queries", repeat(6, "GET", query), 400},
		{"empty", composite(true), 400},
		{"no reference", `{"compositeRequest":[{"method":"GET","url":"` + base + `/` + query + `"}]}`, 400},
		{"same reference", composite(true, step("GET", query, "a", ""), step("GET", query, "a", "")), 400},
		{"odd reference", composite(true, step("GET", query, "a-b", "")), 400},
		{"odd method", composite(true, step("FETCH", query, "a", "")), 400},
		{"short url", `{"compositeRequest":[{"method":"GET","url":"/sobjects/Account","referenceId":"a"}]}`, 400},
		{"unknown member", `{"allOrNothing":true,"compositeRequest":[` + step("GET", query, "a", "") + `]}`, 400},
		{"not an object", `[]`, 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := s.do("POST", "composite", c.body)
			assert.Equal(t, c.status, a.StatusCode, a.body)
		})
	}
}

func TestTree(t *testing.T) {
	t.Parallel()
	s := setup(t)
	child := s.childName("Customer__c", "Payment__c")
	body := func(status string) string {
		return `{"records":[{"attributes":{"type":"Customer__c","referenceId":"c1"},"Email__c":"a@b.example","` + child +
			`":{"records":[{"attributes":{"type":"Payment__c","referenceId":"p1"},"Status__c":"` + status + `"}]}}]}`
	}
	a := s.do("POST", "composite/tree/Customer__c", body("Odd"))
	assert.Equal(t, 400, a.StatusCode)
	assert.Contains(t, a.body, `{"hasErrors":true,"results":[{"referenceId":"p1","errors":[{"statusCode":"INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST"`)
	assert.Empty(t, s.Stats().Rows)
	a = s.do("POST", "composite/tree/Customer__c", body("Pending"))
	require.Equal(t, 201, a.StatusCode, a.body)
	assert.Contains(t, a.body, `"hasErrors":false`)
	assert.Equal(t, s.Rows("Customer__c")[0]["Id"], s.Rows("Payment__c")[0]["Customer__c"])
}

// childName is the relationship name of a child object as describe tells it.
func (s *sim) childName(parent, child string) string {
	s.t.Helper()
	var out struct {
		ChildRelationships []struct{ ChildSObject, RelationshipName string }
	}
	s.do("GET", "sobjects/"+parent+"/describe", "").into(s.t, &out)
	for _, c := range out.ChildRelationships {
		if c.ChildSObject == child {
			return c.RelationshipName
		}
	}
	s.t.Fatalf("%s has no children %s", parent, child)
	return ""
}
