package salesforce_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce"
)

// The request target must be seen as it is here, before any decoding.
func TestKeysInAddresses(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		"INV/2026/001":        "INV%2F2026%2F001",
		"a+b@ex.test":         "a%2Bb%40ex.test",
		"50% off #1?":         "50%25%20off%20%231%3F",
		"名前 1":                "%E5%90%8D%E5%89%8D%201",
		"shop:order:98765:v4": "shop%3Aorder%3A98765%3Av4",
		"A/../B":              "A%2F..%2FB",
		"a%2Fb":               "a%252Fb",
		"~x-y_z.9":            "~x-y_z.9",
	}
	for value, want := range cases {
		t.Run(value, func(t *testing.T) {
			t.Parallel()
			o := newOrg(t, says(200, `{"Id":"a01000000000001AAA"}`))
			_, err := newClient(t, o).ReadByKey(t.Context(), salesforce.Key{Object: "Payment__c", Field: chargeKey, Value: value}, "Id", "Note__c")
			require.NoError(t, err)
			assert.Equal(t, "/services/data/v65.0/sobjects/Payment__c/Stripe_Charge_Id__c/"+want+"?fields=Id%2CNote__c", o.requests()[0].URI)
		})
	}
	for _, value := range []string{"", ".", ".."} {
		o := newOrg(t, says(200, `{}`))
		_, err := newClient(t, o).ReadByKey(t.Context(), salesforce.Key{Object: "Payment__c", Field: chargeKey, Value: value})
		assert.Equal(t, salesforce.ClassData, asError(t, err).Class, "%q", value)
		assert.Empty(t, o.requests())
	}
}

func TestUpsertOfOneRowHasItsKeyInTheAddressOnly(t *testing.T) {
	t.Parallel()
	o := newOrg(t, says(201, `{"id":"a01000000000001AAA","success":true,"errors":[],"created":true}`))
	result, err := newClient(t, o).Upsert(t.Context(), chargeKey, payment("ch+1", "12.50"))
	require.NoError(t, err)
	assert.True(t, *result.Created)
	got := o.requests()[0]
	assert.Equal(t, "PATCH /services/data/v65.0/sobjects/Payment__c/Stripe_Charge_Id__c/ch%2B1", got.Method+" "+got.URI)
	assert.Equal(t, `{"Amount__c":12.50}`, got.Body)
}

func TestKeysThatSalesforceMissesInAddressesGoInTheBody(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"kim@example.inc", "INV/2026/001", `a\b`} {
		o := newOrg(t, func(w http.ResponseWriter, r *http.Request, _ int) {
			if r.URL.Path != "/services/data/v65.0/composite/sobjects/Payment__c/Stripe_Charge_Id__c" {
				reply(w, 404, `[{"errorCode":"NOT_FOUND","message":"The requested resource does not exist"}]`)
				return
			}
			reply(w, 200, savedRows)
		})
		result, err := newClient(t, o).Upsert(t.Context(), chargeKey, payment(key, "1"))
		require.NoError(t, err)
		assert.True(t, result.Success)
		record := o.requests()[0].json(t)["records"].([]any)[0].(map[string]any)
		assert.Equal(t, key, record[chargeKey])
	}
	o := newOrg(t, says(200, `[{"success":false,"errors":[{"statusCode":"REQUIRED_FIELD_MISSING","message":"m","fields":["A"]}]}]`))
	_, err := newClient(t, o).Upsert(t.Context(), chargeKey, payment("x.inc", "1"))
	assert.Equal(t, "REQUIRED_FIELD_MISSING", asError(t, err).Code)
}

func TestNotFoundByKeyIsAnErrorAndNotAnAbsence(t *testing.T) {
	t.Parallel()
	o := newOrg(t, says(404, `[{"errorCode":"NOT_FOUND","message":"The requested resource does not exist"}]`))
	_, err := newClient(t, o).ReadByKey(t.Context(), salesforce.Key{Object: "Payment__c", Field: chargeKey, Value: "kim@example.inc"})
	e := asError(t, err)
	assert.Equal(t, 404, e.Status)
	assert.Equal(t, salesforce.ClassData, e.Class)
}

func TestSuccessOfOneRow(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	cases := []struct {
		name    string
		status  int
		body    string
		id      string
		created *bool
	}{
		{"no body", 204, "", "a01000000000001AAA", &no},
		{"created", 201, `{"id":"a01000000000009AAA","success":true,"errors":[]}`, "a01000000000009AAA", &yes},
		{"updated", 200, `{"id":"a01000000000009AAA","success":true,"errors":[],"created":false}`, "a01000000000009AAA", &no},
		{"empty 200", 200, "", "a01000000000001AAA", &no},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := newOrg(t, says(c.status, c.body))
			row := payment("x", "1")
			row.ID = "a01000000000001AAA"
			result, err := newClient(t, o).Update(t.Context(), row)
			require.NoError(t, err)
			assert.Equal(t, salesforce.SaveResult{ID: c.id, Success: true, Created: c.created}, result)
			assert.Equal(t, "/services/data/v65.0/sobjects/Payment__c/a01000000000001AAA", o.requests()[0].URI)
		})
	}
}

func TestDeleteOfADeletedRowIsDone(t *testing.T) {
	t.Parallel()
	o := newOrg(t, says(404, `[{"message":"entity is deleted","errorCode":"ENTITY_IS_DELETED"}]`))
	result, err := newClient(t, o).Delete(t.Context(), "Payment__c", "a01000000000001AAA")
	require.NoError(t, err)
	assert.True(t, result.Success)
	_, err = newClient(t, o).Update(t.Context(), salesforce.Row{Object: "Payment__c", ID: "a01000000000001AAA"})
	assert.Equal(t, "ENTITY_IS_DELETED", asError(t, err).Code)
}

func TestMissingExternalIDFieldIsAConfigurationError(t *testing.T) {
	t.Parallel()
	o := newOrg(t, says(404, `[{"errorCode":"NOT_FOUND","message":"Provided external ID field does not exist or is not accessible: Ext__c"}]`))
	_, err := newClient(t, o).UpsertAll(t.Context(), "Ext__c",
		[]salesforce.Row{{Object: "Payment__c", Fields: map[string]any{"Ext__c": "1"}}}, false)
	e := asError(t, err)
	assert.Equal(t, salesforce.ClassConfiguration, e.Class)
	assert.Equal(t, []string{"Ext__c"}, e.NamedFields())
	for _, part := range []string{"Payment__c.Ext__c", "spelling", "External ID", "field-level security"} {
		assert.Contains(t, e.Error(), part)
	}
}

func TestRecord(t *testing.T) {
	t.Parallel()
	var r salesforce.Record
	require.NoError(t, decodeInto(`{"attributes":{"type":"Payment__c","url":"/x"},"Id":"a01","Name":"n","Paid__c":true,"Nothing__c":null,
		"Whole__c":12,"Dotted__c":12.0,"Exp__c":1.0E8,"Part__c":12.5,"Big__c":9223372036854775808,"Huge__c":1e999999999,"Tiny__c":1e-999999999,
		"At__c":"2026-11-30T08:09:10.123+0000","Day__c":"2026-11-30","Customer__r":{"Name":"Ada"}}`, &r))
	assert.Equal(t, "Payment__c", r.Type())
	assert.Equal(t, "a01", r.ID())
	assert.True(t, r.Bool("Paid__c"))
	assert.False(t, r.Bool("Name"))
	assert.True(t, r.Has("Whole__c"))
	assert.False(t, r.Has("Nothing__c"))
	assert.False(t, r.Has("Absent__c"))
	assert.Equal(t, "Ada", r.Sub("Customer__r").String("Name"))
	assert.Nil(t, r.Sub("Nothing__c"))
	assert.Empty(t, r.Sub("Absent__c").String("Name"))
	for field, want := range map[string]int64{"Whole__c": 12, "Dotted__c": 12, "Exp__c": 100_000_000} {
		n, ok := r.Int(field)
		assert.True(t, ok, field)
		assert.Equal(t, want, n, field)
	}
	for _, field := range []string{"Part__c", "Big__c", "Huge__c", "Tiny__c", "Nothing__c", "Absent__c", "Name"} {
		_, ok := r.Int(field)
		assert.False(t, ok, field)
	}
	at, ok := r.Time("At__c")
	assert.True(t, ok)
	assert.Equal(t, time.Date(2026, 11, 30, 8, 9, 10, 123e6, time.UTC), at)
	day, ok := r.Time("Day__c")
	assert.True(t, ok)
	assert.Equal(t, time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC), day)
	_, ok = r.Time("Name")
	assert.False(t, ok)
}

func TestParseTime(t *testing.T) {
	t.Parallel()
	want := time.Date(2026, 11, 30, 8, 9, 10, 0, time.UTC)
	for _, s := range []string{"2026-11-30T08:09:10.000+0000", "2026-11-30T08:09:10Z", "2026-11-30T09:09:10+01:00",
		"2026-11-30T00:09:10.000-0800", "2026-11-30T00:09:10-08:00"} {
		got, err := salesforce.ParseTime(s)
		require.NoError(t, err, s)
		assert.Equal(t, want, got, s)
	}
	for _, s := range []string{"", "T", "2026-13-01", "2026-11-30T08:09", "2026-11-30T08:09:10"} {
		_, err := salesforce.ParseTime(s)
		assert.Error(t, err, s)
	}
	assert.Equal(t, "2026-11-30T08:09:10.123Z", salesforce.FormatTime(want.Add(123*time.Millisecond+999*time.Microsecond)))
}

func decodeInto(text string, r *salesforce.Record) error {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	return dec.Decode(r)
}

func TestUsage(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	header := ""
	o := newOrg(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Sforce-Limit-Info", header)
		reply(w, 200, pageOf(""))
	})
	client := newClient(t, o, func(c *salesforce.Config) { c.Now = func() time.Time { return now } })
	assert.Equal(t, salesforce.Usage{}, client.Usage())
	assert.Zero(t, client.Usage().Share())
	for _, step := range []struct {
		header string
		want   int64
	}{
		{"api-usage=18/5000", 18},
		{"api-usage=19/5000; api-bursts=1/750", 19},
		{"per-app-api-usage=17/250(appName=x); api-usage=20/5000", 20},
		{"garbage", 20},
		{"api-usage=x/y", 20},
		{"api-usage=1/0", 20},
		{"api-usage=21", 20},
		{"", 20},
	} {
		header = step.header
		_, err := client.Query(t.Context(), selectID)
		require.NoError(t, err)
		assert.Equal(t, salesforce.Usage{Used: step.want, Max: 5000, At: now}, client.Usage(), step.header)
	}
	assert.InDelta(t, 0.004, client.Usage().Share(), 1e-9)
}

func TestLimits(t *testing.T) {
	t.Parallel()
	o := newOrg(t, says(200, `{"DailyApiRequests":{"Max":15000,"Remaining":14998,"Some App":{"Max":0,"Remaining":0}},"DataStorageMB":{"Max":5,"Remaining":1}}`))
	limits, err := newClient(t, o).Limits(t.Context())
	require.NoError(t, err)
	assert.Equal(t, salesforce.Limit{Max: 15000, Remaining: 14998}, limits["DailyApiRequests"])
	assert.Equal(t, "/services/data/v65.0/limits", o.requests()[0].URI)
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	o := newOrg(t, says(200, `{"name":"Payment__c","label":"Payment","keyPrefix":null,"createable":true,"updateable":true,"queryable":true,"deletable":false,
		"fields":[
		{"name":"Stripe_Charge_Id__c","type":"string","length":255,"externalId":true,"idLookup":true,"unique":true,"caseSensitive":true,
		 "createable":true,"updateable":true,"nillable":false,"defaultedOnCreate":false,"relationshipName":null,"referenceTo":[],"picklistValues":[]},
		{"name":"Amount__c","type":"double","precision":18,"scale":2,"createable":true,"nillable":true},
		{"name":"Status__c","type":"picklist","restrictedPicklist":true,"createable":true,"nillable":true,
		 "picklistValues":[{"value":"Pending","label":"P","active":true,"defaultValue":true},{"value":"Old","label":"O","active":false,"defaultValue":false}]},
		{"name":"Customer__c","type":"reference","referenceTo":["Customer__c"],"relationshipName":"Customer__r","createable":true,"nillable":true}]}`))
	object, err := newClient(t, o).Describe(t.Context(), "Payment__c")
	require.NoError(t, err)
	assert.Equal(t, "/services/data/v65.0/sobjects/Payment__c/describe", o.requests()[0].URI)
	key, ok := object.Field("stripe_charge_ID__c")
	require.True(t, ok)
	assert.True(t, key.ExternalID && key.IDLookup && key.Unique && key.CaseSensitive && key.Required())
	amount, _ := object.Field("Amount__c")
	assert.Equal(t, []int{18, 2}, []int{amount.Precision, amount.Scale})
	assert.False(t, amount.Required())
	status, _ := object.Field("Status__c")
	assert.True(t, status.Allows("Pending"))
	assert.False(t, status.Allows("Old"), "inactive")
	lookup, ok := object.Relationship("customer__R")
	require.True(t, ok)
	assert.Equal(t, []string{"Customer__c"}, lookup.ReferenceTo)
	_, ok = object.Field("Absent__c")
	assert.False(t, ok)
	_, ok = object.Relationship("")
	assert.False(t, ok)

	o = newOrg(t, says(404, `[{"errorCode":"NOT_FOUND","message":"The requested resource does not exist"}]`))
	_, err = newClient(t, o).Describe(t.Context(), "Absent__c")
	assert.Equal(t, 404, asError(t, err).Status)
}
