package simorg_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce/simorg"
)

// result is one row of a collection's answer.
type result struct {
	ID      string
	Success bool
	Created *bool
	Errors  []struct {
		StatusCode, Message string
		Fields              []string
	}
}

func (r result) code() string {
	if len(r.Errors) == 0 {
		return ""
	}
	return r.Errors[0].StatusCode
}

func codes(results []result) []string {
	list := make([]string, len(results))
	for i, r := range results {
		list[i] = r.code()
	}
	return list
}

// records joins records of a type into the body of a collection.
func records(object string, allOrNone bool, fields ...string) string {
	list := make([]string, len(fields))
	for i, f := range fields {
		list[i] = `{"attributes":{"type":"` + object + `"},` + f + `}`
	}
	return fmt.Sprintf(`{"allOrNone":%v,"records":[%s]}`, allOrNone, strings.Join(list, ","))
}

func charge(id string) string { return `"Stripe_Charge_Id__c":"` + id + `"` }

const (
	upsertPayments = "composite/sobjects/Payment__c/Stripe_Charge_Id__c"
	collections    = "composite/sobjects"
)

func (s *sim) rows(method, path, body string) []result {
	s.t.Helper()
	a := s.do(method, path, body)
	require.Equal(s.t, 200, a.StatusCode, a.body)
	var out []result
	a.into(s.t, &out)
	return out
}

func TestUpsertCollection(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.insert("Customer__c", `{"Stripe_Customer_Id__c":"cus_9"}`)
	old := s.insert("Payment__c", `{`+charge("in_old")+`}`)

	got := s.rows("PATCH", upsertPayments, records("Payment__c", false,
		charge("in_1")+`,"Amount__c":12.5,"Customer__r":{"Stripe_Customer_Id__c":"cus_9"}`,
		charge("in_2")+`,"Customer__r":{"Stripe_Customer_Id__c":"cus_missing"}`,
		charge("in_3")+`,"Amount__c":1`,
		charge("in_3")+`,"Amount__c":2`,
		charge("in_old")+`,"Amount__c":"7.25"`,
		`"Amount__c":1`,
		charge(" ")+`,"Amount__c":1`,
		charge("in_4")+`,"Id":"`+old+`"`,
		charge("IN_1")+`,"Note__c":"another: the key is case sensitive"`))
	assert.Equal(t, []string{"", "INVALID_FIELD", "DUPLICATE_VALUE", "DUPLICATE_VALUE", "", "MISSING_ARGUMENT", "MISSING_ARGUMENT", "INVALID_FIELD", ""}, codes(got))
	assert.Equal(t, "Duplicate external id specified: in_3", got[2].Errors[0].Message)
	assert.Equal(t, []string{"Stripe_Charge_Id__c"}, got[2].Errors[0].Fields)
	assert.True(t, *got[0].Created)
	assert.False(t, *got[4].Created)
	assert.Equal(t, old, got[4].ID)
	assert.Empty(t, got[1].ID)
	assert.Equal(t, map[string]int{"Customer__c": 1, "Payment__c": 3}, s.Stats().Rows)
}

func TestCollectionAnswerShape(t *testing.T) {
	t.Parallel()
	s := setup(t)
	a := s.do("PATCH", upsertPayments, records("Payment__c", false, charge("a"), `"Note__c":"no key"`))
	var ids []struct{ ID string }
	a.into(t, &ids)
	assert.JSONEq(t, `[{"id":"`+ids[0].ID+`","success":true,"errors":[],"created":true},
		{"success":false,"errors":[{"statusCode":"MISSING_ARGUMENT","message":"Stripe_Charge_Id__c not specified","fields":[]}],"created":false}]`, a.body)
	a = s.do("POST", collections, records("Payment__c", false, charge("b")))
	a.into(t, &ids)
	assert.JSONEq(t, `[{"id":"`+ids[0].ID+`","success":true,"errors":[]}]`, a.body)
	s.want("PATCH", upsertPayments, records("Payment__c", false), 200, `[]`)
}

func TestInsertCollectionFirstWins(t *testing.T) {
	t.Parallel()
	s := setup(t)
	got := s.rows("POST", collections, records("Payment__c", false, charge("x"), charge("x"), charge("y")))
	assert.Equal(t, []string{"", "DUPLICATE_VALUE", ""}, codes(got))
	assert.Contains(t, got[1].Errors[0].Message, got[0].ID[:15])
	assert.Empty(t, got[1].Errors[0].Fields)
	assert.Len(t, s.Rows("Payment__c"), 2)
}

func TestAllOrNoneCollection(t *testing.T) {
	t.Parallel()
	s := setup(t)
	got := s.rows("POST", collections, records("Payment__c", true, charge("x"), charge("y")+`,"Status__c":"Odd"`, charge("z")))
	assert.Equal(t, []string{"ALL_OR_NONE_OPERATION_ROLLED_BACK", "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST", "ALL_OR_NONE_OPERATION_ROLLED_BACK"}, codes(got))
	assert.NotEmpty(t, got[0].ID, "a rolled back row still shows the id it had")
	assert.False(t, got[0].Success)
	assert.Empty(t, s.Rows("Payment__c"))
}

func TestUpdateAndDeleteCollection(t *testing.T) {
	t.Parallel()
	s := setup(t)
	a, b := s.insert("Payment__c", `{`+charge("a")+`}`), s.insert("Payment__c", `{`+charge("b")+`}`)
	gone := s.insert("Payment__c", `{`+charge("c")+`}`)
	s.want("DELETE", "sobjects/Payment__c/"+gone, "", 204, "")
	got := s.rows("PATCH", collections, records("Payment__c", false,
		`"Id":"`+a+`","Note__c":"one"`, `"id":"`+b[:15]+`","Note__c":"two"`, `"Id":"`+gone+`","Note__c":"x"`,
		`"Id":"nonsense","Note__c":"x"`, `"Note__c":"no id"`, `"Id":"`+a+`","Stripe_Charge_Id__c":"b"`))
	assert.Equal(t, []string{"", "", "ENTITY_IS_DELETED", "MALFORMED_ID", "MISSING_ARGUMENT", "DUPLICATE_VALUE"}, codes(got))
	assert.Equal(t, "two", s.Rows("Payment__c")[1]["Note__c"])

	got = s.rows("DELETE", collections+"?allOrNone=true&ids="+a+","+gone, "")
	assert.Equal(t, []string{"ALL_OR_NONE_OPERATION_ROLLED_BACK", "ENTITY_IS_DELETED"}, codes(got))
	got = s.rows("DELETE", collections+"?ids="+a+","+gone+",zzz,"+b, "")
	assert.Equal(t, []string{"", "ENTITY_IS_DELETED", "MALFORMED_ID", ""}, codes(got))
	assert.Empty(t, s.Rows("Payment__c"))
}

func TestSameIDAtMostFiveTimes(t *testing.T) {
	t.Parallel()
	s := setup(t)
	id := s.insert("Payment__c", `{`+charge("a")+`}`)
	row := `"Id":"` + id + `","Note__c":"n"`
	got := s.rows("PATCH", collections, records("Payment__c", false, row, row, row, row, row, row))
	assert.Equal(t, []string{"", "", "", "", "", "DUPLICATE_VALUE"}, codes(got))
	assert.Contains(t, got[5].Errors[0].Message, "Maximum number of duplicate updates in one batch (5 allowed)")
}

// What is malformed in one record refuses the whole call.
func TestWholeCallRefusals(t *testing.T) {
	t.Parallel()
	s := setup(t)
	many := make([]string, 201)
	for i := range many {
		many[i] = charge(fmt.Sprint("m", i))
	}
	mixed := func(n int) string {
		var list []string
		for i := range n {
			list = append(list, `{"attributes":{"type":"`+[]string{"Payment__c", "Customer__c"}[i%2]+`"}}`)
		}
		return `{"records":[` + strings.Join(list, ",") + `]}`
	}
	for _, c := range []struct{ name, method, path, body, code, message string }{
		{"unknown field", "PATCH", upsertPayments, records("Payment__c", false, charge("ok"), charge("b")+`,"Foo__c":1`),
			"INVALID_FIELD", "No such column 'Foo__c' on sobject of type Payment__c"},
		{"bad number", "PATCH", upsertPayments, records("Payment__c", false, charge("ok"), charge("b")+`,"Amount__c":"1,5"`),
			"JSON_PARSER_ERROR", "Cannot deserialize instance of double"},
		{"bad date", "POST", collections, records("Payment__c", false, charge("ok"), `"Paid_At__c":"yesterday"`),
			"JSON_PARSER_ERROR", "Cannot deserialize instance of datetime"},
		{"too many", "POST", collections, records("Payment__c", false, many...),
			"EXCEEDED_ID_LIMIT", "record limit reached. cannot submit more than 200 records into this call"},
		{"too many chunks", "POST", collections, mixed(11), "INVALID_INPUT", "more than 10 chunks"},
		{"no type", "POST", collections, `{"records":[{"Note__c":"x"}]}`, "INVALID_INPUT", "must have a type"},
		{"unknown type", "POST", collections, `{"records":[{"attributes":{"type":"Nope__c"}}]}`, "INVALID_TYPE", "sObject type 'Nope__c' is not supported"},
		{"other type", "PATCH", upsertPayments, records("Customer__c", false, `"Email__c":null`), "INVALID_INPUT", "does not match"},
		{"unknown member", "POST", collections, `{"allornone":true,"records":[]}`, "JSON_PARSER_ERROR", `Unrecognized field "allornone"`},
		{"no body", "POST", collections, ``, "JSON_PARSER_ERROR", "body"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := s.do(c.method, c.path, c.body)
			require.Equal(t, 400, a.StatusCode)
			var out []struct{ ErrorCode, Message string }
			a.into(t, &out)
			require.Len(t, out, 1)
			assert.Equal(t, c.code, out[0].ErrorCode)
			assert.Contains(t, out[0].Message, c.message)
		})
	}
	t.Cleanup(func() { assert.Empty(t, s.Rows("Payment__c"), "nothing of a refused call is written") })
	assert.Equal(t, 200, s.do("POST", collections, mixed(10)).StatusCode)
	s.Reset()
	assert.Equal(t, 404, s.do("PATCH", "composite/sobjects/Payment__c/Note__c", records("Payment__c", false, charge("a"))).StatusCode)
	assert.Equal(t, 404, s.do("PATCH", "/services/data/v45.0/"+upsertPayments, records("Payment__c", false, charge("a"))).StatusCode)
}

func TestCollectionSwitches(t *testing.T) {
	t.Parallel()
	with := func(name string) func(*simorg.Config) {
		return func(c *simorg.Config) { c.Unsure = []string{name} }
	}
	bad := records("Payment__c", true, charge("x"), charge("y")+`,"Status__c":"Odd"`, charge("z"))

	got := setup(t, with("culprit-unnamed")).rows("POST", collections, bad)
	for _, code := range codes(got) {
		assert.Equal(t, "ALL_OR_NONE_OPERATION_ROLLED_BACK", code)
	}
	got = setup(t, with("halted-mates")).rows("POST", collections, bad)
	assert.Equal(t, []string{"ALL_OR_NONE_OPERATION_ROLLED_BACK", "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST", "PROCESSING_HALTED"}, codes(got))

	got = setup(t, with("created-missing")).rows("PATCH", upsertPayments, records("Payment__c", false, charge("x"), charge("y")+`,"Status__c":"Odd"`))
	assert.Nil(t, got[0].Created)

	twice := records("Payment__c", false, charge("x"), charge("x"))
	got = setup(t, with("duplicate-fields-filled")).rows("POST", collections, twice)
	assert.Equal(t, []string{"Stripe_Charge_Id__c"}, got[1].Errors[0].Fields)
	got = setup(t, with("duplicate-unknown-id")).rows("POST", collections, twice)
	assert.Equal(t, "duplicate value found: <unknown> duplicates value on record with id: <unknown>", got[1].Errors[0].Message)

}

func TestValueSwitches(t *testing.T) {
	t.Parallel()
	with := func(name string) func(*simorg.Config) {
		return func(c *simorg.Config) { c.Unsure = []string{name} }
	}
	s := setup(t, with("datetime-milliseconds"))
	s.insert("Payment__c", `{"Paid_At__c":"2026-01-05T04:30:30.987Z"}`)
	assert.Equal(t, "2026-01-05T04:30:30.987+0000", s.query("SELECT Paid_At__c FROM Payment__c")[0]["Paid_At__c"])

	s = setup(t, with("plain-numbers"))
	s.insert("Payment__c", `{"Amount__c":12,"Source_Order__c":1796034265123}`)
	row := s.query("SELECT Amount__c, Source_Order__c FROM Payment__c")[0]
	assert.EqualValues(t, "12", row["Amount__c"])
	assert.EqualValues(t, "1796034265123", row["Source_Order__c"])

	got := setup(t, with("control-characters-refused")).rows("POST", collections, records("Payment__c", false, `"Note__c":"a\u0007b"`, `"Note__c":"a\n\tb"`))
	assert.Equal(t, []string{"TEXT_DATA_OUTSIDE_SUPPORTED_CHARSET", ""}, codes(got))

	got = setup(t, with("malformed-rows-alone")).rows("PATCH", upsertPayments, records("Payment__c", false,
		charge("a"), charge("b")+`,"Foo__c":1`, charge("c")+`,"Amount__c":"x"`))
	assert.Equal(t, []string{"", "INVALID_FIELD", "JSON_PARSER_ERROR"}, codes(got))

	for name, cleared := range map[string]bool{"null-reference-clears": true, "plain-numbers": false} {
		s = setup(t, with(name))
		s.insert("Customer__c", `{"Stripe_Customer_Id__c":"c"}`)
		id := s.insert("Payment__c", `{"Customer__r":{"Stripe_Customer_Id__c":"c"}}`)
		s.want("PATCH", "sobjects/Payment__c/"+id, `{"Customer__r":null}`, 204, "")
		assert.Equal(t, cleared, s.Rows("Payment__c")[0]["Customer__c"] == nil, name)
	}
	got = setup(t).rows("POST", collections, records("Payment__c", false, `"Customer__c":null,"Customer__r":{"Stripe_Customer_Id__c":"c"}`))
	assert.Equal(t, "cannot specify both an external ID reference Customer__r and a salesforce id, Customer__c", got[0].Errors[0].Message)
}

func TestSwitchesAreTold(t *testing.T) {
	t.Parallel()
	_, err := simorg.New(simorg.Config{Unsure: []string{"no-such-switch"}})
	require.ErrorContains(t, err, "priorvalue-unlocked")
	for _, sw := range simorg.UnsureSwitches() {
		assert.NotEmpty(t, sw.Default, sw.Name)
		assert.NotEmpty(t, sw.With, sw.Name)
	}
}

func TestStoredValues(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.insert("Payment__c", `{"Note__c":"  a\u0000\u0001\tb\r\nc  ","Amount__c":1.005,"Source_Order__c":9007199254740993,"Paid_At__c":"2026-01-05T05:30:30.987+01:00","Origin__c":"","Currency__c":"EUR"}`)
	s.insert("Payment__c", `{"Amount__c":1E3,"Source_Order__c":12,"Status__c":"succeeded","Paid_At__c":"2026-01-05T05:30:30.000+0000"}`)
	got := s.query("SELECT Note__c, Amount__c, Source_Order__c, Paid_At__c, Origin__c, Status__c, Name FROM Payment__c ORDER BY Name")
	assert.Equal(t, "a\tb\nc", got[0]["Note__c"], "control characters and outer blanks are lost")
	assert.EqualValues(t, "1.01", got[0]["Amount__c"], "rounded to the scale")
	assert.EqualValues(t, "9.007199254740992E15", got[0]["Source_Order__c"], "numbers are doubles")
	assert.Equal(t, "2026-01-05T04:30:30.000+0000", got[0]["Paid_At__c"], "UTC, whole seconds")
	assert.Nil(t, got[0]["Origin__c"])
	assert.EqualValues(t, "1000.0", got[1]["Amount__c"])
	assert.EqualValues(t, "12.0", got[1]["Source_Order__c"])
	assert.Equal(t, "Succeeded", got[1]["Status__c"])
	assert.NotEqual(t, got[0]["Name"], got[1]["Name"])
}
