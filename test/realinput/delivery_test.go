package realinput_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"sfbridge/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// delivery is one payload of the files and what is known of it.
type delivery struct {
	name   string            // where it comes from, for messages
	source string            // where it is sent
	id     string            // of the delivery, distinct
	event  string            // Event_Id__c it must have
	header map[string]string // beside the signature
	body   []byte            // as in the files
	fact   *fact             // nil: it must be ignored
}

// signer says how a list of deliveries is signed.
type signer struct {
	scheme string // of sign.mjs
	secret string
}

// sign asks the providers' libraries for the headers of every delivery.
func (s signer) sign(t *testing.T, list []delivery) []http.Header {
	t.Helper()
	type order struct {
		Scheme    string `json:"scheme"`
		Secret    string `json:"secret"`
		ID        string `json:"id"`
		Timestamp int64  `json:"timestamp"`
		Body      string `json:"body"`
	}
	orders := make([]order, len(list))
	for i, d := range list {
		orders[i] = order{s.scheme, s.secret, d.id, time.Now().Unix(), string(d.body)}
	}
	in, err := json.Marshal(orders)
	require.NoError(t, err)
	clients := harness.NeedClients(t)
	out, err := clients.Run(t, harness.Command{Args: []string{"node", "sign.mjs"}, Stdin: in})
	require.NoError(t, err)
	var signed []map[string]string
	require.NoError(t, json.Unmarshal(out, &signed))
	require.Len(t, signed, len(list))
	headers := make([]http.Header, len(list))
	for i := range list {
		headers[i] = http.Header{"Content-Type": {"application/json"}}
		for _, from := range []map[string]string{list[i].header, signed[i]} {
			for name, value := range from {
				headers[i].Set(name, value)
			}
		}
	}
	return headers
}

// send delivers all, several at once, and returns the answers' status words.
// Any answer but a 2xx fails the test.
func send(t *testing.T, b *harness.Bridge, list []delivery, headers []http.Header) []string {
	t.Helper()
	words := make([]string, len(list))
	g, ctx := errgroup.WithContext(t.Context())
	g.SetLimit(16)
	for i, d := range list {
		g.Go(func() error {
			answer, err := b.Post(ctx, d.source, headers[i], d.body)
			if err != nil {
				return err
			}
			assert.True(t, answer.OK(), "%s: %d %s", d.name, answer.Status, answer.Body)
			var said struct {
				Status  string `json:"status"`
				EventID string `json:"event_id"`
			}
			if err := json.Unmarshal(answer.Body, &said); err != nil {
				return err
			}
			if d.fact != nil {
				assert.Equal(t, d.event, said.EventID, d.name)
			}
			words[i] = said.Status
			return nil
		})
	}
	require.NoError(t, g.Wait())
	return words
}

// deliver signs and sends, and holds every answer to the word for what is
// mapped; the rest is ignored.
func deliver(t *testing.T, b *harness.Bridge, s signer, list []delivery, word string) {
	t.Helper()
	for i, got := range send(t, b, list, s.sign(t, list)) {
		want := word
		if list[i].fact == nil {
			want = "ignored"
		}
		assert.Equal(t, want, got, list[i].name)
	}
}

// refuse sends every payload with one byte too many under its right signature:
// nobody may believe any of them.
func refuse(t *testing.T, b *harness.Bridge, s signer, list []delivery) {
	t.Helper()
	for i, header := range s.sign(t, list) {
		answer, err := b.Post(t.Context(), list[i].source, header, append(slices.Clone(list[i].body), ' '))
		require.NoError(t, err)
		assert.Equal(t, http.StatusUnauthorized, answer.Status, list[i].name)
	}
}

// mapped are the deliveries that must become events.
func mapped(list []delivery) []delivery {
	var out []delivery
	for _, d := range list {
		if d.fact != nil {
			out = append(out, d)
		}
	}
	return out
}

// checkEvents holds the rows of the org to what was sent and to the outcomes
// worked out for it.
func checkEvents(t *testing.T, org *harness.Org, list []delivery, outcomes map[string]string) {
	t.Helper()
	rows := map[string]harness.Row{}
	for _, row := range org.Query(t, "SELECT Event_Id__c, Status__c, Outcome__c, Event_Type__c, Object_Id__c, Source_Order__c, "+
		"Payload__c, Payload_Encoding__c, Error_Code__c, Error__c, Attempts__c FROM Inbound_Event__c") {
		rows[row["Event_Id__c"].(string)] = row
	}
	require.Len(t, rows, len(mapped(list)), "a row for each mapped delivery and none for the ignored ones")
	t.Logf("%d deliveries, %d mapped; outcomes: %v", len(list), len(rows), tally(outcomes))
	for _, d := range mapped(list) {
		row := rows[d.event]
		if !assert.NotNil(t, row, d.name) {
			continue
		}
		assert.Equal(t, "Completed", row["Status__c"], "%s: %v", d.name, row["Error__c"])
		assert.Equal(t, outcomes[d.event], row["Outcome__c"], d.name)
		assert.Equal(t, d.fact.eventType, row["Event_Type__c"], d.name)
		assert.Equal(t, d.fact.entity, row["Object_Id__c"], d.name)
		assert.InDelta(t, float64(d.fact.order), number(t, row["Source_Order__c"]), 0, d.name)
		assert.InDelta(t, 0, number(t, row["Attempts__c"]), 0, d.name)
		assert.Equal(t, "Plain", row["Payload_Encoding__c"], d.name)
		assert.True(t, string(d.body) == row["Payload__c"], "%s: the payload is kept byte by byte", d.name)
	}
}

// tally counts the outcomes of each kind.
func tally(outcomes map[string]string) map[string]int {
	counts := map[string]int{}
	for _, outcome := range outcomes {
		counts[outcome]++
	}
	return counts
}

func number(t *testing.T, v any) float64 {
	t.Helper()
	text, ok := v.(json.Number)
	require.True(t, ok, "%v is no number", v)
	parsed, err := strconv.ParseFloat(text.String(), 64)
	require.NoError(t, err)
	return parsed
}
