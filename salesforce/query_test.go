package salesforce_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce"
)

const selectID = "SELECT Id FROM Payment__c"

// pageOf makes one page with the given ids; next "" means done.
func pageOf(next string, ids ...string) string {
	records := make([]string, len(ids))
	for i, id := range ids {
		records[i] = fmt.Sprintf(`{"attributes":{"type":"Payment__c"},"Id":%q}`, id)
	}
	tail := `"done":true`
	if next != "" {
		tail = fmt.Sprintf(`"done":false,"nextRecordsUrl":%q`, next)
	}
	return fmt.Sprintf(`{"totalSize":99,%s,"records":[%s]}`, tail, strings.Join(records, ","))
}

func ids(records []salesforce.Record) []string {
	out := make([]string, len(records))
	for i, r := range records {
		out[i] = r.ID()
	}
	return out
}

const next1 = "/services/data/v65.0/query/01g-1000"

func TestQueryFollowsTheGivenAddressAndNotThePageSize(t *testing.T) {
	t.Parallel()
	o := newOrg(t, saysInTurn(pageOf(next1, "a", "b"), pageOf("/services/data/v65.0/query/01g-2000"), pageOf("", "c")))
	records, err := newClient(t, o).Query(t.Context(), "SELECT Id FROM Payment__c WHERE Note__c = 'a+b & c'")
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "b", "c"}, ids(records))
	got := o.requests()
	assert.Equal(t, "/services/data/v65.0/query?q="+url.QueryEscape("SELECT Id FROM Payment__c WHERE Note__c = 'a+b & c'"), got[0].URI)
	assert.Equal(t, next1, got[1].URI)
}

func TestQueryKeepsNumbersAndReadsMembersInAnyOrder(t *testing.T) {
	t.Parallel()
	o := newOrg(t, says(200, `{"records":[{"Id":"a","N__c":9007199254740993,"D__c":1.10,"Sub__r":{"records":[{"Id":"x"}],"done":true}}],`+
		`"columnMetadata":[{}],"done":true,"totalSize":1,"nextRecordsUrl":null}`))
	records, err := newClient(t, o).Query(t.Context(), selectID)
	require.NoError(t, err)
	assert.Equal(t, "9007199254740993", records[0].String("N__c"))
	assert.Equal(t, "1.10", records[0].String("D__c"))
	assert.NotNil(t, records[0].Sub("Sub__r"))
}

func TestPagesThatCannotBeFollowedAreErrors(t *testing.T) {
	t.Parallel()
	cases := map[string][]string{
		"no address":        {`{"totalSize":9,"done":false,"records":[{"Id":"a"}]}`},
		"repeating address": {pageOf(next1, "a"), pageOf(next1, "b")},
		"address in a ring": {pageOf(next1, "a"), pageOf(next1+"0", "b"), pageOf(next1, "c")},
		"another host":      {pageOf("https://evil.example/services/data/v65.0/query/01g-1", "a")},
		"no word of done":   {`{"totalSize":1,"records":[{"Id":"a"}]}`},
		"null record":       {`{"totalSize":1,"done":true,"records":[null]}`},
		"cut":               {`{"totalSize":1,"done":true,"records":[{"Id":"a"},{"Id`},
		"more behind it":    {pageOf("", "a") + "{}"},
		"a list":            {`[]`},
	}
	for name, answers := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOrg(t, saysInTurn(answers...))
			records, err := newClient(t, o).Query(t.Context(), selectID)
			assert.Equal(t, salesforce.ClassRetryable, asError(t, err).Class)
			assert.Nil(t, records)
			assert.Len(t, o.requests(), len(answers))
		})
	}
}

func TestExpiryOnTheSecondPageContinuesTheSamePage(t *testing.T) {
	t.Parallel()
	o := newOrg(t, func(w http.ResponseWriter, r *http.Request, n int) {
		switch n {
		case 1:
			reply(w, 200, pageOf(next1, "a"))
		case 2:
			reply(w, 401, expired)
		default:
			reply(w, 200, pageOf("", "b"))
		}
	})
	s := sessionsAt(o.URL, o.URL)
	records, err := newClientWith(t, s).Query(t.Context(), selectID)
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "b"}, ids(records))
	assert.Equal(t, []string{next1, next1}, []string{o.requests()[1].URI, o.requests()[2].URI})
	assert.Equal(t, 1, s.count())
}

const noLocator = `[{"message":"invalid query locator","errorCode":"INVALID_QUERY_LOCATOR"}]`

func TestALostCursorBeginsTheQueryAgain(t *testing.T) {
	t.Parallel()
	o := newOrg(t, func(w http.ResponseWriter, _ *http.Request, n int) {
		switch n {
		case 1, 3:
			reply(w, 200, pageOf(next1, "a", "b"))
		case 2:
			reply(w, 400, noLocator)
		default:
			reply(w, 200, pageOf("", "c"))
		}
	})
	var had []string
	err := newClient(t, o).QueryEach(t.Context(), selectID, func(r salesforce.Record) error {
		had = append(had, r.ID())
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "b", "c"}, had, "records are handed over once")
}

func TestACursorThatIsAlwaysLostEnds(t *testing.T) {
	t.Parallel()
	o := newOrg(t, func(w http.ResponseWriter, _ *http.Request, n int) {
		if n%2 == 0 {
			reply(w, 400, noLocator)
			return
		}
		reply(w, 200, pageOf(next1, "a"))
	})
	_, err := newClient(t, o).Query(t.Context(), selectID)
	assert.Equal(t, "INVALID_QUERY_LOCATOR", asError(t, err).Code)
	assert.Len(t, o.requests(), 6)
}

func TestWithoutIdsALostCursorIsAnError(t *testing.T) {
	t.Parallel()
	o := newOrg(t, func(w http.ResponseWriter, _ *http.Request, n int) {
		if n == 2 {
			reply(w, 400, noLocator)
			return
		}
		reply(w, 200, `{"totalSize":9,"done":false,"nextRecordsUrl":"`+next1+`","records":[{"Status__c":"x"}]}`)
	})
	_, err := newClient(t, o).Query(t.Context(), "SELECT Status__c FROM X")
	assert.Equal(t, salesforce.ClassRetryable, asError(t, err).Class)
}

func TestAnErrorOfTheReaderEndsTheQuery(t *testing.T) {
	t.Parallel()
	o := newOrg(t, says(200, pageOf(next1, "a", "b")))
	enough := errors.New("enough")
	err := newClient(t, o).QueryEach(t.Context(), selectID, func(salesforce.Record) error { return enough })
	require.ErrorIs(t, err, enough)
	assert.Len(t, o.requests(), 1)
}

// longQuery has 200 keys of 100 characters, some of several bytes.
func longQuery() string {
	keys := make([]string, 200)
	for i := range keys {
		keys[i] = fmt.Sprintf("'%04d%s'", i, strings.Repeat("名a", 48))
	}
	return selectID + " WHERE Note__c IN (" + strings.Join(keys, ",") + ")"
}

func TestALongQueryGoesInABody(t *testing.T) {
	t.Parallel()
	inBody := func(next string, ids ...string) string {
		return `{"compositeResponse":[{"body":` + pageOf(next, ids...) + `,"httpHeaders":{},"httpStatusCode":200,"referenceId":"query"}]}`
	}
	o := newOrg(t, saysInTurn(inBody(next1, "a"), pageOf("", "b")))
	soql := longQuery()
	records, err := newClient(t, o).Query(t.Context(), soql)
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "b"}, ids(records))
	first := o.requests()[0]
	assert.Equal(t, "POST /services/data/v65.0/composite", first.Method+" "+first.URI)
	sub := first.json(t)["compositeRequest"].([]any)[0].(map[string]any)
	assert.Equal(t, "/services/data/v65.0/query?q="+url.QueryEscape(soql), sub["url"])
	assert.Equal(t, "GET", sub["method"])
	assert.NotContains(t, sub, "httpHeaders")
}

func TestAnAddressThatIsTooLongAfterAllGoesInABody(t *testing.T) {
	t.Parallel()
	for _, status := range []int{414, 431} {
		o := newOrg(t, func(w http.ResponseWriter, r *http.Request, n int) {
			if r.Method == http.MethodGet {
				reply(w, status, "<h1>Bad Message</h1>")
				return
			}
			reply(w, 200, `{"compositeResponse":[{"body":`+pageOf("", "a")+`,"httpStatusCode":200,"referenceId":"query"}]}`)
		})
		records, err := newClient(t, o).Query(t.Context(), selectID)
		require.NoError(t, err)
		assert.Equal(t, []string{"a"}, ids(records))
	}
}

func TestARefusedQueryInABody(t *testing.T) {
	t.Parallel()
	o := newOrg(t, says(200, `{"compositeResponse":[{"body":[{"message":"No such column 'Foo__c' on entity 'X'","errorCode":"INVALID_FIELD"}],`+
		`"httpStatusCode":400,"referenceId":"query"}]}`))
	_, err := newClient(t, o).Query(t.Context(), longQuery())
	e := asError(t, err)
	assert.Equal(t, salesforce.ClassConfiguration, e.Class)
	assert.Equal(t, []string{"Foo__c"}, e.NamedFields())
}

func TestAQueryBeyondSalesforcesLimitIsNotSent(t *testing.T) {
	t.Parallel()
	o := newOrg(t, says(200, pageOf("")))
	_, err := newClient(t, o).Query(t.Context(), selectID+strings.Repeat(" ", salesforce.MaxSOQL))
	assert.Equal(t, salesforce.ClassData, asError(t, err).Class)
	assert.Empty(t, o.requests())
}

func TestQueryFromReadsTheRest(t *testing.T) {
	t.Parallel()
	o := newOrg(t, saysInTurn(pageOf("", "b")))
	client := newClient(t, o)
	records, err := client.QueryFrom(t.Context(), next1)
	require.NoError(t, err)
	assert.Equal(t, []string{"b"}, ids(records))
	records, err = client.QueryFrom(t.Context(), "")
	require.NoError(t, err)
	assert.Empty(t, records)
}

func TestAnAnswerBeyondTheSizeLimit(t *testing.T) {
	t.Parallel()
	o := newOrg(t, says(200, pageOf("", strings.Repeat("x", 10_000))))
	_, err := newClient(t, o, func(c *salesforce.Config) { c.MaxReply = 5000 }).Query(t.Context(), selectID)
	e := asError(t, err)
	assert.Equal(t, salesforce.ClassData, e.Class)
	assert.Contains(t, e.Error(), "5000 bytes")
}
