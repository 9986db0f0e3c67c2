package simorg_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRows(t *testing.T) {
	t.Parallel()
	s := setup(t)

	created := s.do("POST", "sobjects/Customer__c", `{"Stripe_Customer_Id__c":"cus_1","Email__c":"ada@example.com"}`)
	require.Equal(t, 201, created.StatusCode, created.body)
	var row struct {
		ID      string
		Success bool
		Errors  []any
	}
	created.into(t, &row)
	assert.Len(t, row.ID, 18)
	assert.True(t, row.Success)
	assert.Equal(t, base+"/sobjects/Customer__c/"+row.ID, created.Header.Get("Location"))
	assert.Regexp(t, `^api-usage=\d+/5000000$`, created.Header.Get("Sforce-Limit-Info"))

	byID := "sobjects/Customer__c/" + row.ID
	s.want("GET", byID+"?fields=Email__c,Source_Order__c", "", 200,
		`{"attributes":{"type":"Customer__c","url":"`+base+`/`+byID+`"},"Email__c":"ada@example.com","Source_Order__c":null}`)
	s.want("PATCH", byID, `{"Email__c":null,"Source_Order__c":1796034265123}`, 204, "")
	got := s.do("GET", "sobjects/Customer__c/"+row.ID[:15]+"?fields=Email__c,Source_Order__c", "")
	assert.Contains(t, got.body, `"Email__c":null,"Source_Order__c":1.796034265123E12`)

	key := "sobjects/Customer__c/Stripe_Customer_Id__c/"
	s.want("PATCH", key+"cus_1", `{"Email__c":"b@example.com"}`, 200, `{"id":"`+row.ID+`","success":true,"errors":[],"created":false}`)
	s.want("PATCH", "/services/data/v45.0/"+key+"cus_1", `{"Email__c":"b@example.com"}`, 204, "")
	upserted := s.do("PATCH", key+"a%2Fb%20c", `{}`)
	assert.Equal(t, 201, upserted.StatusCode, upserted.body)
	assert.Contains(t, upserted.body, `"created":true`)
	assert.Equal(t, 200, s.do("GET", key+"a%2Fb%20c", "").StatusCode)
	assert.Equal(t, 200, s.do("GET", "/"+base+"/"+key+"cus_1", "").StatusCode, "leading double slash")

	s.want("DELETE", byID, "", 204, "")
	s.want("DELETE", byID, "", 404, `[{"message":"entity is deleted","errorCode":"ENTITY_IS_DELETED"}]`)
	notFound := `[{"errorCode":"NOT_FOUND","message":"The requested resource does not exist"}]`
	s.want("GET", byID, "", 404, notFound)
	s.want("GET", key+"cus_1", "", 404, notFound)
	s.want("PATCH", key+"cus_1?updateOnly=true", `{}`, 404, notFound)
	s.want("DELETE", key+"cus_1", "", 404, notFound)
	s.want("PATCH", key+"kim%40example.inc", `{}`, 404, notFound)
}

func TestRowRefusals(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.insert("Payment__c", `{"Stripe_Charge_Id__c":"ch_taken"}`)
	long := strings.Repeat("x", 256)
	for _, c := range []struct {
		name, method, path, body string
		status                   int
		want                     string
	}{
		{"no method", "PATCH", "sobjects/Payment__c", `{}`, 405,
			`[{"errorCode":"METHOD_NOT_ALLOWED","message":"HTTP Method 'PATCH' not allowed. Allowed are HEAD,GET,POST"}]`},
		{"no object", "POST", "sobjects/Nothing__c", `{}`, 404,
			`[{"errorCode":"NOT_FOUND","message":"The requested resource does not exist"}]`},
		{"no such column", "POST", "sobjects/Payment__c", `{"Foo__c":1}`, 400,
			`[{"errorCode":"INVALID_FIELD","message":"No such column 'Foo__c' on sobject of type Payment__c"}]`},
		{"no external id", "PATCH", "sobjects/Payment__c/Note__c/x", `{}`, 404,
			`[{"errorCode":"NOT_FOUND","message":"Provided external ID field does not exist or is not accessible: Note__c"}]`},
		{"key in body", "PATCH", "sobjects/Payment__c/Stripe_Charge_Id__c/x", `{"Stripe_Charge_Id__c":"x"}`, 400,
			`[{"errorCode":"INVALID_FIELD","message":"The Stripe_Charge_Id__c field should not be specified in the sobject data."}]`},
		{"id in body", "PATCH", "sobjects/Payment__c/Stripe_Charge_Id__c/x", `{"Id":"a00000000000000AAA"}`, 400,
			`[{"errorCode":"INVALID_FIELD","message":"The Id field should not be specified in the sobject data."}]`},
		{"too long", "POST", "sobjects/Payment__c", `{"Note__c":"` + long + `"}`, 400,
			`[{"errorCode":"STRING_TOO_LONG","message":"Note: data value too large: ` + long + ` (max length=255)","fields":["Note__c"]}]`},
		{"restricted picklist", "POST", "sobjects/Payment__c", `{"Status__c":"Odd"}`, 400,
			`[{"errorCode":"INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST","message":"Status: bad value for restricted picklist field: Odd","fields":["Status__c"]}]`},
		{"number range", "POST", "sobjects/Payment__c", `{"Amount__c":10000000000000000}`, 400,
			`[{"errorCode":"NUMBER_OUTSIDE_VALID_RANGE","message":"Amount: value outside of valid range on numeric field: 10000000000000000","fields":["Amount__c"]}]`},
		{"e-mail", "POST", "sobjects/Customer__c", `{"Email__c":"nobody"}`, 400,
			`[{"errorCode":"INVALID_EMAIL_ADDRESS","message":"Email: invalid email address: nobody","fields":["Email__c"]}]`},
		{"required", "POST", "sobjects/Inbound_Event__c", `{"Event_Id__c":"  "}`, 400,
			`[{"errorCode":"REQUIRED_FIELD_MISSING","message":"Required fields are missing: [Event_Id__c]","fields":["Event_Id__c"]}]`},
		{"read only", "POST", "sobjects/Payment__c", `{"CreatedDate":"2026-01-01T00:00:00Z"}`, 400,
			`[{"errorCode":"INVALID_FIELD_FOR_INSERT_UPDATE","message":"Unable to create/update fields: CreatedDate. Please check the security settings of this field and verify that it is read/write for your profile or permission set.","fields":["CreatedDate"]}]`},
		{"lookup of another type", "POST", "sobjects/Payment__c", `{"Customer__c":"001000000000001AAA"}`, 400,
			`[{"errorCode":"MALFORMED_ID","message":"Customer ID: id value of incorrect type: 001000000000001AAA","fields":["Customer__c"]}]`},
		{"parent missing", "POST", "sobjects/Payment__c", `{"Customer__r":{"Stripe_Customer_Id__c":"cus_missing"}}`, 400,
			`[{"errorCode":"INVALID_FIELD","message":"Foreign key external ID: cus_missing not found for field Stripe_Customer_Id__c in entity Customer__c","fields":[]}]`},
		{"two parent fields", "POST", "sobjects/Payment__c", `{"Customer__r":{"Stripe_Customer_Id__c":"a","Email__c":"b"}}`, 400,
			`[{"errorCode":"INVALID_FIELD","message":"More than 1 field provided in an external foreign key reference in entity: Customer__c","fields":[]}]`},
		{"bad number", "POST", "sobjects/Payment__c", `{"Amount__c":"ten"}`, 400,
			`[{"errorCode":"JSON_PARSER_ERROR","message":"Cannot deserialize instance of double from VALUE_STRING value ten or request may be missing a required field at [line:1, column:14]"}]`},
		{"number for text", "POST", "sobjects/Payment__c", `{"Note__c":7}`, 400,
			`[{"errorCode":"JSON_PARSER_ERROR","message":"Cannot deserialize instance of string from VALUE_NUMBER_INT value 7 or request may be missing a required field at [line:1, column:12]"}]`},
		{"zone without colon", "POST", "sobjects/Payment__c", `{"Paid_At__c":"2013-08-12T15:20:00+0000"}`, 400,
			`[{"errorCode":"JSON_PARSER_ERROR","message":"Cannot deserialize instance of datetime from VALUE_STRING value 2013-08-12T15:20:00+0000 or request may be missing a required field at [line:1, column:15]"}]`},
		{"broken JSON", "POST", "sobjects/Payment__c", `{"Note__c":`, 400,
			`[{"errorCode":"JSON_PARSER_ERROR","message":"Unexpected end-of-input at [line:1, column:12]"}]`},
		{"future version", "GET", "/services/data/v69.0/limits", "", 404,
			`[{"errorCode":"NOT_FOUND","message":"The requested resource does not exist"}]`},
		{"retired version", "GET", "/services/data/v30.0/limits", "", 410,
			`[{"errorCode":"UNSUPPORTED_API_VERSION","message":"The requested API version has been retired."}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := s.do(c.method, c.path, c.body)
			assert.Equal(t, c.status, a.StatusCode)
			assert.JSONEq(t, c.want, a.body, a.body)
		})
	}
	t.Run("duplicate", func(t *testing.T) {
		t.Parallel()
		a := s.do("POST", "sobjects/Payment__c", `{"Stripe_Charge_Id__c":" ch_taken "}`)
		assert.Equal(t, 400, a.StatusCode)
		assert.Regexp(t, `^\[\{"message":"duplicate value found: Stripe_Charge_Id__c duplicates value on record with id: \w{15}","errorCode":"DUPLICATE_VALUE","fields":\[\]\}\]$`, a.body)
	})
}
