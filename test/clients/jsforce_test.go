package clients_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce/simorg"
	"sfbridge/test/harness"
)

// saved is what jsforce makes of one row's result.
type saved struct {
	Success bool     `json:"success"`
	Created *bool    `json:"created"`
	Code    string   `json:"code"`
	Fields  []string `json:"fields"`
}

// seen is what jsforce.mjs prints.
type seen struct {
	ClientCredentials *int   `json:"clientCredentials"`
	WrongSecret       string `json:"wrongSecret"`
	Soap              struct {
		SameUser, SameOrg bool
		Rows              *int
	} `json:"soap"`
	WrongPassword string          `json:"wrongPassword"`
	RetiredLogin  string          `json:"retiredLogin"`
	EndedSession  string          `json:"endedSession"`
	Describe      json.RawMessage `json:"describe"`
	Rows          json.RawMessage `json:"rows"`
	ArrayInsert   []saved         `json:"arrayInsert"`
	ArrayUpsert   []saved         `json:"arrayUpsert"`
	AllOrNone     []saved         `json:"allOrNone"`
	ArrayRows     json.RawMessage `json:"arrayRows"`
	BulkInsert    json.RawMessage `json:"bulkInsert"`
	BulkUpsert    json.RawMessage `json:"bulkUpsert"`
	Paging        json.RawMessage `json:"paging"`
}

func TestJsforce(t *testing.T) {
	t.Parallel()
	clients := harness.NeedClients(t)
	org := startOrg(t, simorg.Config{})
	out, err := clients.Run(t, harness.Command{Args: []string{"node", "jsforce.mjs"}, Env: []string{"SIM_URL=" + org.URL()}})
	require.NoError(t, err)
	var s seen
	require.NoError(t, json.Unmarshal(out, &s))

	for name, check := range map[string]func(*testing.T, seen){
		"logins": checkLogins, "described": checkDescribed, "rows": checkRows, "arrays": checkArrays, "bulk": checkBulk, "paging": checkPaging,
	} {
		t.Run(name, func(t *testing.T) { check(t, s) })
	}
}

func checkLogins(t *testing.T, s seen) {
	t.Helper()
	zero := 0
	assert.Equal(t, &zero, s.ClientCredentials)
	assert.Equal(t, "invalid_client", s.WrongSecret)
	assert.True(t, s.Soap.SameUser)
	assert.True(t, s.Soap.SameOrg)
	assert.Equal(t, &zero, s.Soap.Rows)
	assert.Equal(t, "INVALID_LOGIN", s.WrongPassword)
	assert.Equal(t, "UNSUPPORTED_API_VERSION", s.RetiredLogin, "login() went with version 65.0")
	assert.Equal(t, "INVALID_SESSION_ID", s.EndedSession)
}

func checkDescribed(t *testing.T, s seen) {
	t.Helper()
	assert.JSONEq(t, `{
		"status": {"type": "picklist", "restricted": true, "values": ["Pending", "Succeeded", "Failed", "Refunded", "Disputed"]},
		"key": {"type": "string", "length": 255, "externalId": true, "unique": true, "caseSensitive": true},
		"amount": {"type": "double", "precision": 18, "scale": 2},
		"customer": {"type": "reference", "to": ["Customer__c"], "relationship": "Customer__r"},
		"global": ["Bridge_Queue__c", "Customer__c", "Inbound_Event_Chunk__c", "Inbound_Event__c", "Outbound_Effect__c", "Payment_Line__c", "Payment__c"]
	}`, string(s.Describe))
}

func checkRows(t *testing.T, s seen) {
	t.Helper()
	assert.JSONEq(t, `{
		"created": true, "read": {"amount": 12.5, "note": "naïve – 金"}, "updated": true,
		"upserted": {"success": true, "created": false}, "after": {"amount": 13, "status": "Succeeded"},
		"doubled": "DUPLICATE_VALUE", "unknown": "INVALID_FIELD", "deleted": true, "gone": "NOT_FOUND"
	}`, string(s.Rows))
}

func checkBulk(t *testing.T, s seen) {
	t.Helper()
	assert.JSONEq(t, `{"successful": 2499, "unprocessed": 0, "created": true, "failed": [
		{"key": "cus_0007", "error": "INVALID_EMAIL_ADDRESS:Email: invalid email address: not an address:Email__c --"}
	]}`, string(s.BulkInsert))
	assert.JSONEq(t, `{"successful": [["cus_0001", "false"], ["cus_new", "true"]], "failed": [
		["cus_0000", "INVALID_EMAIL_ADDRESS:Email: invalid email address: quoted\"and,comma@example.com:Email__c --"]
	]}`, string(s.BulkUpsert))
}

func checkPaging(t *testing.T, s seen) {
	t.Helper()
	assert.JSONEq(t, `{"total": 2500, "first": 2000, "firstDone": false, "nextDone": true, "distinct": 2500, "sorted": true, "fetched": 2500}`, string(s.Paging))
}

// checkArrays: rows stand alone unless all or none is asked for.
func checkArrays(t *testing.T, s seen) {
	t.Helper()
	yes, no := true, false
	assert.Equal(t, []saved{
		{Success: true},
		{Code: "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST", Fields: []string{"Status__c"}},
		{Success: true},
	}, s.ArrayInsert)
	assert.Equal(t, []saved{
		{Success: true, Created: &no},
		{Created: &no, Code: "STRING_TOO_LONG", Fields: []string{"Currency__c"}},
		{Success: true, Created: &yes},
	}, s.ArrayUpsert)
	assert.Equal(t, []saved{
		{Code: "ALL_OR_NONE_OPERATION_ROLLED_BACK", Fields: []string{}},
		{Code: "DUPLICATE_VALUE", Fields: []string{}},
	}, s.AllOrNone)
	assert.JSONEq(t, `[["ch_a", 10], ["ch_c", 3], ["ch_e", 5]]`, string(s.ArrayRows))
}
