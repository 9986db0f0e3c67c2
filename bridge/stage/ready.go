package stage

import (
	"context"
	"errors"
	"sync"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

// How long an answer about the durable path is good for.
const (
	goodFor = 5 * time.Minute // a staged row or a probe that worked
	badFor  = 5 * time.Second // one that did not
)

// health remembers whether Salesforce took the last write.
type health struct {
	mu     sync.Mutex
	at     time.Time
	err    error
	probed sync.Mutex // one probe at a time
}

func (h *health) note(at time.Time, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at, h.err = at, err
}

func (h *health) known(now time.Time) (err error, fresh bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.at.IsZero() {
		return nil, false
	}
	if h.err != nil {
		return h.err, now.Sub(h.at) < badFor
	}
	return nil, now.Sub(h.at) < goodFor
}

// Ready says whether Salesforce takes writes: by the last staging call, or,
// when that is too long ago, by a write that leaves nothing behind.
func (s *Stager) Ready(ctx context.Context) error {
	if err, fresh := s.health.known(s.cfg.Now()); fresh {
		return err
	}
	s.health.probed.Lock()
	defer s.health.probed.Unlock()
	if err, fresh := s.health.known(s.cfg.Now()); fresh {
		return err
	}
	err := s.probe(ctx)
	s.health.note(s.cfg.Now(), err)
	return err
}

// Down says whether Salesforce refused a write a moment ago, so that trying it
// again at once is of little use.
func (s *Stager) Down() bool {
	err, fresh := s.health.known(s.cfg.Now())
	return fresh && err != nil
}

// probe inserts a row without its required field: when Salesforce names that
// field, login, permissions and the path of writes work.
func (s *Stager) probe(ctx context.Context) error {
	rows := []salesforce.Row{{Object: event.Object, Fields: map[string]any{event.FieldHash: "probe"}}}
	results, err := s.cfg.Salesforce.InsertAll(ctx, rows, false)
	switch {
	case err != nil:
		return err
	case results[0].Fault().Code == "REQUIRED_FIELD_MISSING":
		return nil
	case results[0].Success:
		return errors.New("Inbound_Event__c.Event_Id__c is not required: deploy the field as shipped")
	}
	return faultError(results[0].Fault())
}
