package receive

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"sfbridge/bridge/identify"
	"sfbridge/bridge/stage"
)

// patientStager is never done, and tells how long it was let wait.
type patientStager struct {
	fakeStager
	waited time.Duration
}

func (p *patientStager) Stage(ctx context.Context, requests []stage.Request) []stage.Answer {
	start := time.Now()
	<-ctx.Done()
	p.waited = time.Since(start)
	return []stage.Answer{{EventID: requests[0].Event.ID, Err: ctx.Err()}}
}

// TestTheAnswerComesWhileTheProviderWaits: 503 in time, so that it is heard.
func TestTheAnswerComesWhileTheProviderWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for deadline, want := range map[time.Duration]time.Duration{
			0: 10 * time.Second, 3 * time.Second: 2700 * time.Millisecond, time.Minute: 10 * time.Second,
		} {
			patient := &patientStager{}
			b := setup(t, func(b *bundle, _ *identify.Identity) { b.source.Deadline = deadline })
			b.handler = NewHandler(Config{Sources: func(string) *Source { return b.source }, Stager: patient})
			assert.Equal(t, http.StatusServiceUnavailable, b.send(post(`{"id":"e1"}`)).Code)
			assert.Equal(t, want, patient.waited)
		}
	})
}
