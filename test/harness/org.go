package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// APIVersion is the version of the REST API that the harness speaks.
const APIVersion = "65.0"

// Org is a running simulated org.
type Org struct {
	URL   string
	Token string // of a session that never ends by time

	process *process
}

// StartOrg runs `bridge simorg` with the arguments, on a free port.
func StartOrg(t testing.TB, args ...string) *Org {
	t.Helper()
	p := run(t, program{name: "simorg", args: append([]string{"simorg", "--listen", "127.0.0.1:0"}, args...)})
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	line, ok := p.out.Wait(ctx, 0, "access_token")
	require.True(t, ok, "simorg did not start:\n%s", p.err)
	var hello struct {
		URL         string `json:"url"`
		AccessToken string `json:"access_token"`
	}
	require.NoError(t, json.Unmarshal([]byte(line), &hello))
	return &Org{URL: hello.URL, Token: hello.AccessToken, process: p}
}

// Stop ends the org; its rows are gone.
func (o *Org) Stop(t testing.TB) {
	t.Helper()
	require.NoError(t, o.process.stop())
}

// Row is a row of a query as the API gave it: numbers are json.Number,
// subqueries and parents are maps.
type Row = map[string]any

// Query reads all rows of a query, page by page. Like anybody's, its calls
// count as API calls and meet planted faults; Settle's too.
func (o *Org) Query(t testing.TB, soql string) []Row {
	t.Helper()
	rows, _, err := o.query(t.Context(), soql)
	require.NoError(t, err)
	return rows
}

// Count reads the number of rows of a query that begins with SELECT COUNT().
func (o *Org) Count(t testing.TB, soql string) int {
	t.Helper()
	_, total, err := o.query(t.Context(), soql)
	require.NoError(t, err)
	return total
}

func (o *Org) query(ctx context.Context, soql string) (rows []Row, total int, err error) {
	next := "/services/data/v" + APIVersion + "/query?q=" + url.QueryEscape(soql)
	for next != "" {
		var page struct {
			TotalSize      int    `json:"totalSize"`
			Records        []Row  `json:"records"`
			NextRecordsURL string `json:"nextRecordsUrl"`
		}
		if err := o.Call(ctx, Request{Path: next, Into: &page}); err != nil {
			return nil, 0, fmt.Errorf("%s: %w", soql, err)
		}
		rows, total, next = append(rows, page.Records...), page.TotalSize, page.NextRecordsURL
	}
	return rows, total, nil
}

// Request is a call of the org's API.
type Request struct {
	Method string // empty: GET
	Path   string // from the root, with the query
	Body   any    // sent as JSON; nil: none
	Into   any    // where the JSON answer goes; nil: nowhere
}

// Call makes one authorized call of the org's API. Any answer but a 2xx is an
// error that quotes it.
func (o *Org) Call(ctx context.Context, r Request) error {
	var body io.Reader
	if r.Body != nil {
		data, err := json.Marshal(r.Body)
		if err != nil {
			return err
		}
		body = bytes.NewReader(data)
	}
	method := r.Method
	if method == "" {
		method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(ctx, method, o.URL+r.Path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+o.Token)
	req.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: %s: %s", method, r.Path, answer.Status, data)
	}
	if r.Into == nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d.Decode(r.Into)
}

// Stats are the org's own counts. Asking for them is no API call.
type Stats struct {
	APICalls struct {
		Total       int            `json:"total"`
		ByOperation map[string]int `json:"by_operation"`
	} `json:"api_calls"`
	Logins map[string]int `json:"logins"` // requests for a session: token, soap
	Rows   map[string]int `json:"rows"`
}

// Stats reads the org's counts.
func (o *Org) Stats(t testing.TB) Stats {
	t.Helper()
	var s Stats
	require.NoError(t, o.Call(t.Context(), Request{Path: "/_sim/stats", Into: &s}))
	return s
}

// Fault is one planned failure of the org; members left out have the values
// that the org documents.
type Fault = map[string]any

// Plant adds faults, in order.
func (o *Org) Plant(t testing.TB, faults ...Fault) {
	t.Helper()
	require.NoError(t, o.Call(t.Context(), Request{Method: http.MethodPost, Path: "/_sim/faults", Body: faults}))
}

// ClearFaults removes all faults.
func (o *Org) ClearFaults(t testing.TB) {
	t.Helper()
	require.NoError(t, o.Call(t.Context(), Request{Method: http.MethodDelete, Path: "/_sim/faults"}))
}

// open are the staged events that still have something to do by themselves.
const open = " FROM Inbound_Event__c WHERE Status__c IN ('Received', 'Retryable', 'Applied')"

// Settle waits until no staged event has anything to do by itself. It begins
// with what is staged when it is called.
func (o *Org) Settle(t testing.TB) {
	t.Helper()
	settled := func(ctx context.Context) (bool, error) {
		_, left, err := o.query(ctx, "SELECT COUNT()"+open)
		return left == 0, err
	}
	if !o.eventually(t, settled) {
		require.Fail(t, "events are still open", "%v", o.Query(t, "SELECT Event_Id__c, Object_Id__c, Status__c, Queue__c, "+
			"Received_At__c, Attempts__c, Next_Attempt_At__c, Error_Code__c, Error__c"+open+" LIMIT 20"))
	}
}

// Holds is a condition to wait for.
type Holds = func(context.Context) (bool, error)

// Eventually asks the org again and again until the condition holds.
func (o *Org) Eventually(t testing.TB, what string, holds Holds) {
	t.Helper()
	require.True(t, o.eventually(t, holds), what)
}

func (o *Org) eventually(t testing.TB, holds Holds) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, err := holds(ctx)
		if ctx.Err() == nil {
			require.NoError(t, err)
		}
		if ok && err == nil {
			return true
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
}
