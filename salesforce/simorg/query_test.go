package simorg_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce/simorg"
)

type page struct {
	TotalSize      int
	Done           bool
	NextRecordsURL string `json:"nextRecordsUrl"`
	Records        []map[string]any
}

// fill inserts payments ch_0000, ch_0001, ...
func (s *sim) fill(n int) {
	s.t.Helper()
	for from := 0; from < n; from += 200 {
		var list []string
		for i := from; i < min(n, from+200); i++ {
			list = append(list, charge(fmt.Sprintf("ch_%04d", i)))
		}
		for _, r := range s.rows("POST", collections, records("Payment__c", false, list...)) {
			require.True(s.t, r.Success)
		}
	}
}

// walk follows all pages of a query.
func (s *sim) walk(path string, headers ...string) (sizes []int, records []map[string]any) {
	s.t.Helper()
	for path != "" {
		a := s.do("GET", path, "", headers...)
		require.Equal(s.t, 200, a.StatusCode, a.body)
		var p page
		a.into(s.t, &p)
		assert.Equal(s.t, p.NextRecordsURL == "", p.Done)
		sizes = append(sizes, len(p.Records))
		records = append(records, p.Records...)
		path = p.NextRecordsURL
	}
	return sizes, records
}

func TestQueryPages(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.fill(2100)
	query := "query?q=SELECT+Id,Stripe_Charge_Id__c+FROM+Payment__c+ORDER+BY+Stripe_Charge_Id__c"
	sizes, records := s.walk(query)
	assert.Equal(t, []int{2000, 100}, sizes)
	for i, r := range records {
		require.Equal(t, fmt.Sprintf("ch_%04d", i), r["Stripe_Charge_Id__c"])
	}
	sizes, _ = s.walk(query, "Sforce-Query-Options", "batchSize=700")
	assert.Equal(t, []int{700, 700, 700}, sizes)
	sizes, _ = s.walk(query+"+LIMIT+450", "Sforce-Query-Options", "batchSize=1")
	assert.Equal(t, []int{200, 200, 50}, sizes, "no page is smaller than 200 by request")
	sizes, _ = s.walk("query?q=SELECT+Id,Payload__c+FROM+Inbound_Event__c")
	assert.Equal(t, []int{0}, sizes)
	for _, bad := range []string{"query/01gnonsense-2000", "query/nonsense"} {
		a := s.do("GET", bad, "")
		assert.Equal(t, 400, a.StatusCode)
		assert.Contains(t, a.body, "INVALID_QUERY_LOCATOR")
	}
}

func TestQueryPagesAreShortForLongText(t *testing.T) {
	t.Parallel()
	s := setup(t)
	payload := strings.Repeat("p", 131072)
	var list []string
	for i := range 80 {
		list = append(list, fmt.Sprintf(`"Event_Id__c":"e%d","Payload__c":"%s"`, i, payload))
	}
	s.rows("POST", collections, records("Inbound_Event__c", false, list...))
	sizes, records := s.walk("query?q=SELECT+Id,Payload__c+FROM+Inbound_Event__c")
	assert.Greater(t, len(sizes), 1)
	assert.Len(t, records, 80)
}

func TestPageSizeSwitch(t *testing.T) {
	t.Parallel()
	s := setup(t, func(c *simorg.Config) { c.PageSize = 3 })
	s.fill(7)
	sizes, _ := s.walk("query?q=SELECT+Id+FROM+Payment__c")
	assert.Equal(t, []int{3, 3, 1}, sizes)
}

func TestQueryLocatorExpires(t *testing.T) {
	t.Parallel()
	var now atomic.Int64
	s := setup(t, func(c *simorg.Config) {
		c.PageSize = 2
		c.Now = func() time.Time { return time.Unix(1_800_000_000+now.Load(), 0) }
	})
	s.fill(3)
	var p page
	s.do("GET", "query?q=SELECT+Id+FROM+Payment__c", "").into(t, &p)
	assert.Equal(t, 200, s.do("GET", p.NextRecordsURL, "").StatusCode)
	now.Add(48*3600 + 1)
	assert.Equal(t, 400, s.do("GET", p.NextRecordsURL, "").StatusCode)
}

func TestQueryAnswers(t *testing.T) {
	t.Parallel()
	s := setup(t)
	cust := s.insert("Customer__c", `{"Stripe_Customer_Id__c":"cus_1"}`)
	pay := s.insert("Payment__c", `{`+charge("ch_1")+`,"Amount__c":12.5,"Customer__c":"`+cust+`"}`)
	s.insert("Payment__c", `{`+charge("ch_2")+`}`)
	s.want("GET", "query?q=SELECT+Id,Amount__c,Customer__r.Stripe_Customer_Id__c+FROM+Payment__c+WHERE+Stripe_Charge_Id__c+%3D+'ch_1'", "", 200,
		`{"totalSize":1,"done":true,"records":[{"attributes":{"type":"Payment__c","url":"`+base+`/sobjects/Payment__c/`+pay+`"},"Id":"`+pay+
			`","Amount__c":12.5,"Customer__r":{"attributes":{"type":"Customer__c","url":"`+base+`/sobjects/Customer__c/`+cust+`"},"Stripe_Customer_Id__c":"cus_1"}}]}`)
	s.want("GET", "query?q=SELECT+COUNT()+FROM+Payment__c", "", 200, `{"totalSize":2,"done":true,"records":[]}`)
	s.want("GET", "queryAll?q=SELECT+COUNT(Id)+n+FROM+Payment__c", "", 200,
		`{"totalSize":1,"done":true,"records":[{"attributes":{"type":"AggregateResult"},"n":2}]}`)
	assert.Nil(t, s.query("SELECT Customer__r.Email__c FROM Payment__c WHERE Stripe_Charge_Id__c = 'ch_2'")[0]["Customer__r"])

	for query, code := range map[string]string{
		"SELECT Foo__c FROM Payment__c":                        "INVALID_FIELD",
		"SELECT Id FROM ScratchOrgInfo":                        "INVALID_TYPE",
		"SELECT Id FROM":                                       "MALFORMED_QUERY",
		"SELECT Id FROM Inbound_Event__c WHERE Payload__c='x'": "INVALID_FIELD",
		"": "MALFORMED_QUERY",
	} {
		a := s.do("GET", "query?q="+escape(query), "")
		assert.Equal(t, 400, a.StatusCode, query)
		assert.Contains(t, a.body, `"errorCode":"`+code+`"`, query)
	}
	assert.Equal(t, 405, s.do("POST", "query", `{}`).StatusCode)
	meta := s.do("GET", "query?columns=true&q=SELECT+Id,Customer__r.Email__c+FROM+Payment__c", "")
	assert.Contains(t, meta.body, `"entityName":"Payment__c"`)
	assert.Contains(t, meta.body, `"idSelected":true`)
	assert.Contains(t, meta.body, `"joinColumns":[{"columnName":"Email__c"`)
}

func TestEdges(t *testing.T) {
	t.Parallel()
	s := setup(t)
	a := s.do("GET", "query?q="+strings.Repeat("x", 16400), "")
	assert.Equal(t, 414, a.StatusCode)
	assert.Contains(t, a.body, "<h1>Bad Message 414</h1>")
	assert.Equal(t, 431, s.do("GET", "limits", "", "X-Long", strings.Repeat("x", 16400)).StatusCode)
	a = s.do("POST", "sobjects/Payment__c", `<x/>`, "Content-Type", "text/xml")
	assert.Equal(t, 415, a.StatusCode)
	assert.Equal(t, 415, s.do("POST", "sobjects/Payment__c", `{}`, "Content-Encoding", "br").StatusCode)
	for _, missing := range []string{"nothing", "/services/apexrest/x", "/", "sobjects/Payment__c/abc", "composite/odd/x"} {
		assert.Contains(t, []int{404, 405}, s.do("GET", missing, "").StatusCode, missing)
	}
	s.want("POST", "sobjects/Payment__c/a06000000000001AAA?_HttpMethod=PATCH", `{}`, 404,
		`[{"errorCode":"NOT_FOUND","message":"The requested resource does not exist"}]`)
}

func TestGzip(t *testing.T) {
	t.Parallel()
	s := setup(t)
	var body bytes.Buffer
	z := gzip.NewWriter(&body)
	var list []string
	for i := range 100 {
		list = append(list, charge(fmt.Sprint(i)))
	}
	_, err := io.WriteString(z, records("Payment__c", false, list...))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	a := s.do("POST", collections, body.String(), "Content-Encoding", "gzip", "Accept-Encoding", "gzip")
	require.Equal(t, 200, a.StatusCode, a.body)
	assert.Equal(t, "gzip", a.Header.Get("Content-Encoding"))
	r, err := gzip.NewReader(strings.NewReader(a.body))
	require.NoError(t, err)
	plain, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.Equal(t, 100, strings.Count(string(plain), `"success":true`))
	assert.Equal(t, 400, s.do("POST", collections, "no gzip", "Content-Encoding", "gzip").StatusCode)
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	s := setup(t, func(c *simorg.Config) { c.HideFields = []string{"Payment__c.Note__c"} })
	var out struct {
		Name, KeyPrefix string
		Fields          []struct {
			Name, Type                                            string
			Unique, CaseSensitive, IDLookup, ExternalID, Nillable bool
			RestrictedPicklist, Createable, Updateable            bool
			Length, Precision, Scale                              int
			ReferenceTo                                           []string
			RelationshipName                                      string
			PicklistValues                                        []struct{ Value string }
		}
	}
	s.do("GET", "sobjects/Payment__c/describe", "").into(t, &out)
	assert.Equal(t, "Payment__c", out.Name)
	seen := map[string]int{}
	for i, f := range out.Fields {
		seen[f.Name] = i
	}
	key := out.Fields[seen["Stripe_Charge_Id__c"]]
	assert.True(t, key.Unique && key.CaseSensitive && key.IDLookup && key.ExternalID && key.Createable)
	assert.Equal(t, 255, key.Length)
	status := out.Fields[seen["Status__c"]]
	assert.True(t, status.RestrictedPicklist)
	assert.Len(t, status.PicklistValues, 5)
	assert.Equal(t, []string{"Customer__c"}, out.Fields[seen["Customer__c"]].ReferenceTo)
	assert.Equal(t, "Customer__r", out.Fields[seen["Customer__c"]].RelationshipName)
	assert.Equal(t, "double", out.Fields[seen["Amount__c"]].Type)
	assert.NotContains(t, seen, "Note__c")

	// A hidden field looks as if it did not exist, in every way.
	assert.Contains(t, s.do("POST", "sobjects/Payment__c", `{"Note__c":"x"}`).body, "No such column 'Note__c' on sobject of type Payment__c")
	assert.Contains(t, s.do("GET", "query?q=SELECT+Note__c+FROM+Payment__c", "").body, "No such column 'Note__c' on entity 'Payment__c'")
	assert.NotContains(t, s.do("GET", "sobjects/Payment__c/"+s.insert("Payment__c", `{}`), "").body, "Note__c")
	_, err := simorg.New(simorg.Config{HideFields: []string{"Payment__c.Note__c"}})
	require.ErrorContains(t, err, "does not exist")

	var global struct{ SObjects []struct{ Name string } }
	s.do("GET", "sobjects", "").into(t, &global)
	assert.Greater(t, len(global.SObjects), 8)
	var versions []map[string]string
	s.do("GET", "/services/data/", "", "Authorization", "").into(t, &versions)
	assert.Equal(t, map[string]string{"label": "Winter '27", "url": "/services/data/v68.0", "version": "68.0"}, versions[len(versions)-1])
	assert.Equal(t, "Spring '25", versions[len(versions)-6]["label"])
	assert.Contains(t, s.do("GET", base, "").body, `"sobjects":"`+base+`/sobjects"`)
	require.Equal(t, http.StatusOK, s.do("GET", "sobjects/Payment__c", "").StatusCode)
}
