package main

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"sfbridge/bridge/trial"
)

func TestSendTellsAPersonADuplicateFromANewEvent(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if calls.Add(1) == 1 {
			w.WriteHeader(http.StatusAccepted)
			_, _ = w.Write([]byte(`{"status":"accepted","event_id":"stripe:evt_1"}`))
			return
		}
		_, _ = w.Write([]byte(`{"status":"duplicate","event_id":"stripe:evt_1"}`))
	}))
	t.Cleanup(server.Close)
	body := write(t, t.TempDir(), "charge.json", charge)
	args := []string{"send", "--provider", "stripe", "--secret", "whsec_demo", "--url", server.URL, "--body", body, "--times", "2"}
	r := atTerminal(t, args...)
	assert.Equal(t, exitOK, r.code, r.err)
	assert.Contains(t, r.out, "2 sent: 1 accepted, 1 duplicate\n")
}

func TestSentResults(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]trial.SendReport{
		"1 accepted, 1 duplicate": {Sent: 2, Accepted: 2, Results: map[string]int{"duplicate": 1, "accepted": 1}},
		"2 conflict, 3 spooled":   {Sent: 5, Accepted: 5, Results: map[string]int{"spooled": 3, "conflict": 2}},
		"3 taken":                 {Sent: 3, Accepted: 3, Statuses: map[int]int{200: 3}},
		"1 accepted, 2 refused, 1 without an answer": {
			Sent: 4, Accepted: 1, Results: map[string]int{"accepted": 1}, Statuses: map[int]int{202: 1, 401: 2, 0: 1},
		},
		"nothing": {},
	} {
		assert.Equal(t, want, sentResults(r))
	}
}
