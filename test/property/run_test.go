package property

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"

	"sfbridge/bridge/event"
	"sfbridge/salesforce/simorg"
)

const (
	settleTime    = 6 * time.Hour // longer than every pause that a fault can cause
	patience      = 30            // deliveries of an event before the provider gives up
	longestRepeat = 5 * time.Minute
	firstRepeat   = 10 * time.Second
	faultedCode   = "FIELD_CUSTOM_VALIDATION_EXCEPTION"
)

// A staged is a row of Inbound_Event__c at the end.
type staged struct {
	status, outcome, code, queue string
	attempts                     int
	history, problem             string
}

// A sight is what the org holds at one time.
type sight struct {
	events  map[string][]staged // by Event_Id__c
	records map[string]map[string]string
	effects map[string]outboxed // by Effect_Key__c
}

// An observed is what a case came to.
type observed struct {
	first    sight // when everything was settled
	last     sight // after what faults had sent to Review was replayed
	replayed bool
	err      error
}

// play runs a scenario in a bubble of its own.
func play(t *testing.T, sc scenario) (o observed) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { o = sc.play(t.Context()) })
	return o
}

func (sc scenario) play(ctx context.Context) (o observed) {
	w, err := newWorld(sc)
	if err != nil {
		return observed{err: err}
	}
	defer func() {
		if err := w.close(ctx); o.err == nil {
			o.err = err
		}
	}()
	for _, k := range w.workers {
		k.start(ctx)
	}
	if o.err = w.tell(ctx); o.err != nil {
		return o
	}
	o.first = w.look()
	o.last = o.first
	if !sc.struckOut() {
		return o
	}
	o.replayed = true
	if o.err = w.replay(ctx, faultedCode); o.err == nil {
		o.err = w.settle()
	}
	o.last = w.look()
	return o
}

// tell delivers piece after piece, and at the end, when nothing fails any
// more, what the provider still has no answer for.
func (w *world) tell(ctx context.Context) error {
	var owed []int
	for _, p := range w.sc.Pieces {
		var err error
		if w.sc.Drained {
			err = w.drain(ctx, p)
		} else {
			w.org.AddFaults(p.Faults...)
			owed, err = w.insist(ctx, append(owed, p.Events...), 1)
		}
		if err != nil {
			return err
		}
		time.Sleep(p.Then)
	}
	w.org.ClearFaults()
	owed, err := w.insist(ctx, owed, patience)
	if err != nil {
		return err
	}
	if len(owed) > 0 {
		return fmt.Errorf("events %v could not be delivered although nothing fails any more", owed)
	}
	return w.settle()
}

// drain delivers a piece at once, lets things fail only then, and waits until
// it is worked off.
func (w *world) drain(ctx context.Context, p piece) error {
	w.org.ClearFaults()
	resume := w.pause()
	owed, err := w.insist(ctx, p.Events, 1)
	w.org.AddFaults(p.Faults...)
	resume()
	if err != nil {
		return err
	}
	if len(owed) > 0 {
		return fmt.Errorf("events %v could not be delivered although nothing fails", owed)
	}
	return w.settle()
}

// insist delivers as a provider does: what has no good answer comes again,
// after longer and longer pauses, so many times.
func (w *world) insist(ctx context.Context, owed []int, tries int) (left []int, err error) {
	pause := firstRepeat
	for try := range tries {
		if len(owed) == 0 {
			break
		}
		if try > 0 {
			time.Sleep(pause)
			pause = min(2*pause, longestRepeat)
		}
		if owed, err = w.deliver(ctx, owed); err != nil {
			return nil, err
		}
	}
	return owed, nil
}

// settle waits until no row is due any more.
func (w *world) settle() error {
	step := time.Second
	for spent := time.Duration(0); spent < settleTime; spent += step {
		if len(w.due()) == 0 {
			return nil
		}
		time.Sleep(step)
		step = min(2*step, time.Minute)
	}
	for _, k := range w.workers {
		if k.err != nil {
			return k.err
		}
	}
	return fmt.Errorf("after %v still due: %v", settleTime, w.due())
}

func (w *world) due() []string {
	var ids []string
	for _, r := range w.org.Rows(event.Object) {
		if s := event.Status(text(r[event.FieldStatus])); s.Open() || r[event.FieldQueue] != nil {
			ids = append(ids, fmt.Sprintf("%s %s %s %s", text(r[event.FieldID]), s, text(r[event.FieldErrorCode]), text(r[event.FieldError])))
		}
	}
	for _, r := range w.org.Rows(event.EffectObject) {
		if r[event.EffectFieldQueue] != nil {
			ids = append(ids, fmt.Sprintf("%s %s %s", text(r[event.EffectFieldKey]), text(r[event.EffectFieldStatus]), text(r[event.EffectFieldHistory])))
		}
	}
	return ids
}

// look reads everything behind the API.
func (w *world) look() sight {
	s := sight{events: map[string][]staged{}, records: map[string]map[string]string{}, effects: w.outbox()}
	for _, r := range w.org.Rows(event.Object) {
		id := text(r[event.FieldID])
		attempts := 0
		_, _ = fmt.Sscan(text(r[event.FieldAttempts]), &attempts) // null is none
		s.events[id] = append(s.events[id], staged{
			status: text(r[event.FieldStatus]), outcome: text(r[event.FieldOutcome]), code: text(r[event.FieldErrorCode]),
			queue: text(r[event.FieldQueue]), attempts: attempts,
			history: text(r[event.FieldHistory]), problem: text(r[event.FieldError]),
		})
	}
	keys := map[string]string{} // by Id
	for object, field := range map[string]string{
		"Payment__c": "Stripe_Charge_Id__c", "Customer__c": "Stripe_Customer_Id__c", "Payment_Line__c": "Line_Key__c",
	} {
		for _, r := range w.org.Rows(object) {
			key := text(r[field])
			keys[text(r["Id"])] = key
			for s.records[object+"/"+key] != nil {
				key += " (again)"
			}
			s.records[object+"/"+key] = business(r)
		}
	}
	for _, fields := range s.records {
		for _, lookup := range []string{"Customer__c", "Payment__c"} {
			if id, found := fields[lookup]; found {
				fields[lookup] = keys[id]
			}
		}
	}
	return s
}

// business is a record without what the org itself adds, and without the lock.
func business(r simorg.Row) map[string]string {
	fields := map[string]string{}
	for _, name := range []string{
		"Amount__c", "Note__c", "Status__c", "Customer__c", "Email__c", "Qty__c", "Payment__c", "Source_Event__c", "Source_Order__c",
	} {
		if r[name] != nil {
			fields[name] = text(r[name])
		}
	}
	return fields
}

func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case decimal.Decimal:
		return v.String()
	}
	return fmt.Sprint(v)
}
