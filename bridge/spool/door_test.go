package spool_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/bridge/spool"
	"sfbridge/bridge/stage"
)

// fakeStager answers as a test says.
type fakeStager struct {
	answer  func(r stage.Request) stage.Answer
	known   map[string]bool // ids that are duplicates
	down    bool
	hangs   bool // no answer before ctx ends
	waited  time.Duration
	staged  []string
	readies int
	ready   error
}

func (f *fakeStager) Stage(ctx context.Context, requests []stage.Request) []stage.Answer {
	answers := make([]stage.Answer, len(requests))
	if f.hangs {
		deadline, _ := ctx.Deadline()
		f.waited = time.Until(deadline)
	}
	for i, r := range requests {
		f.staged = append(f.staged, r.Event.ID)
		switch {
		case f.hangs:
			answers[i] = stage.Answer{EventID: r.Event.ID, Err: &stage.Unavailable{Reason: "not staged in time"}}
		case f.answer != nil:
			answers[i] = f.answer(r)
		default:
			answers[i] = stage.Answer{EventID: r.Event.ID, Status: stage.Accepted}
		}
	}
	return answers
}

func (f *fakeStager) Recall(r stage.Request) (stage.Answer, bool) {
	return stage.Answer{EventID: r.Event.ID, Status: stage.Duplicate}, f.known[r.Event.ID]
}

func (f *fakeStager) Down() bool { return f.down }

func (f *fakeStager) Ready(context.Context) error { f.readies++; return f.ready }

// brokenEngine takes nothing.
type brokenEngine struct{ spool.Engine }

var errDisk = errors.New("no space left")

func (brokenEngine) Append(context.Context, []spool.Entry) error { return errDisk }
func (brokenEngine) Ready(context.Context) error                 { return errDisk }

func unavailable(stage.Request) stage.Answer {
	return stage.Answer{Err: &stage.Unavailable{Reason: "down", RetryAfter: time.Minute}}
}

func requestsOf(keys ...string) []stage.Request {
	var list []stage.Request
	for _, k := range keys {
		list = append(list, stage.Request{Event: anEvent(k)})
	}
	return list
}

func statuses(answers []stage.Answer) []stage.Status {
	var list []stage.Status
	for _, a := range answers {
		if a.Err != nil {
			list = append(list, "error")
			continue
		}
		list = append(list, a.Status)
	}
	return list
}

func TestTheDoorTakesThePathOfItsAck(t *testing.T) {
	t.Parallel()
	const spooled, accepted, failed = stage.Spooled, stage.Accepted, stage.Status("error")
	down := func() *fakeStager { return &fakeStager{answer: unavailable} }
	for _, c := range []struct {
		name   string
		ack    spool.Ack
		stager *fakeStager
		broken bool
		want   stage.Status
		asked  bool // Salesforce was
	}{
		{"staged: Salesforce", spool.Staged, &fakeStager{}, false, accepted, true},
		{"staged: or nobody", spool.Staged, down(), false, failed, true},
		{"auto: Salesforce", spool.Auto, &fakeStager{}, false, accepted, true},
		{"auto: else the spool", spool.Auto, down(), false, spooled, true},
		{"auto: too slow", spool.Auto, &fakeStager{hangs: true}, false, spooled, true},
		{"auto: known to be down", spool.Auto, &fakeStager{down: true}, false, spooled, false},
		{"auto: nothing works", spool.Auto, down(), true, failed, true},
		{"auto: the spool is of no matter while Salesforce works", spool.Auto, &fakeStager{}, true, accepted, true},
		{"spooled: the spool", spool.Spooled, &fakeStager{}, false, spooled, false},
		{"spooled: else Salesforce", spool.Spooled, &fakeStager{}, true, accepted, true},
		{"spooled: nothing works", spool.Spooled, down(), true, failed, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var engine spool.Engine = brokenEngine{}
			if !c.broken {
				engine = directory{dir: t.TempDir()}.Open(t)
			}
			told := 0
			d := spool.NewDoor(spool.DoorConfig{Ack: c.ack, Stager: c.stager, Engine: engine,
				Appended: func(_ string, n int) { told += n }})
			answers := d.Stage(t.Context(), requestsOf("e"))
			assert.Equal(t, []stage.Status{c.want}, statuses(answers))
			assert.Equal(t, c.asked, len(c.stager.staged) > 0)
			if c.broken {
				return
			}
			state, err := engine.State(t.Context())
			require.NoError(t, err)
			want := 0
			if c.want == spooled {
				want = 1
				assert.Equal(t, "stripe:e", answers[0].EventID)
			}
			assert.Equal(t, want, state.Total())
			assert.Equal(t, want, told)
		})
	}
}

func TestSalesforcesHintOutlivesABrokenSpool(t *testing.T) {
	t.Parallel()
	d := spool.NewDoor(spool.DoorConfig{Stager: &fakeStager{answer: unavailable}, Engine: brokenEngine{}})
	err := d.Stage(t.Context(), requestsOf("e"))[0].Err
	var u *stage.Unavailable
	require.ErrorAs(t, err, &u)
	assert.Equal(t, time.Minute, u.RetryAfter)
	assert.ErrorIs(t, err, errDisk)
}

func TestEventsWaitBehindThoseOfTheirQueue(t *testing.T) {
	t.Parallel()
	s := &fakeStager{}
	requests := requestsOf("a", "b", "c")
	requests[1].Event.HomeQueue = "B15"
	d := spool.NewDoor(spool.DoorConfig{Stager: s, Engine: directory{dir: t.TempDir()}.Open(t),
		Backlog: func(queue string) bool { return queue == "B15" }})
	answers := d.Stage(t.Context(), requests)
	assert.Equal(t, []stage.Status{stage.Accepted, stage.Spooled, stage.Accepted}, statuses(answers))
	assert.Equal(t, []string{"stripe:a", "stripe:c"}, s.staged)
}

func TestKnownDuplicatesTakeNoRoom(t *testing.T) {
	t.Parallel()
	for _, ack := range []spool.Ack{spool.Auto, spool.Spooled} {
		s := &fakeStager{down: true, known: map[string]bool{"stripe:a": true}}
		engine := directory{dir: t.TempDir()}.Open(t)
		d := spool.NewDoor(spool.DoorConfig{Ack: ack, Stager: s, Engine: engine})
		answers := d.Stage(t.Context(), requestsOf("a", "b"))
		assert.Equal(t, []stage.Status{stage.Duplicate, stage.Spooled}, statuses(answers))
		assert.Len(t, held(t, engineOn{engine, anEvent("b").HomeQueue}), 1)
	}
}

// engineOn reads another queue in place of the first.
type engineOn struct {
	spool.Engine
	queue string
}

func (e engineOn) Take(ctx context.Context, _ string, limit int) ([]spool.Waiting, error) {
	return e.Engine.Take(ctx, e.queue, limit)
}

func TestWhatSalesforceCanNeverHoldIsNotSpooled(t *testing.T) {
	t.Parallel()
	for _, ack := range []spool.Ack{spool.Auto, spool.Spooled} {
		s := &fakeStager{answer: func(stage.Request) stage.Answer { return stage.Answer{Err: event.ErrTooLarge} }}
		engine := directory{dir: t.TempDir()}.Open(t)
		d := spool.NewDoor(spool.DoorConfig{Ack: ack, Stager: s, Engine: engine})
		r := requestsOf("a")
		r[0].Event.Payload = make([]byte, event.MaxPayload+1)
		assert.ErrorIs(t, d.Stage(t.Context(), r)[0].Err, event.ErrTooLarge)
		state, err := engine.State(t.Context())
		require.NoError(t, err)
		assert.Zero(t, state.Total())
	}
}

func TestAShortDeadlineLeavesTimeForTheSpool(t *testing.T) {
	t.Parallel()
	s := &fakeStager{hangs: true}
	d := spool.NewDoor(spool.DoorConfig{Timeout: time.Hour, Stager: s, Engine: directory{dir: t.TempDir()}.Open(t)})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	assert.Equal(t, []stage.Status{stage.Spooled}, statuses(d.Stage(ctx, requestsOf("e"))))
	assert.LessOrEqual(t, s.waited, 40*time.Second)
}

func TestReadyWhileSomeDurablePathTakesAWrite(t *testing.T) {
	t.Parallel()
	works := func(t *testing.T) spool.Engine { return directory{dir: t.TempDir()}.Open(t) }
	broken := func(*testing.T) spool.Engine { return brokenEngine{} }
	for _, c := range []struct {
		name   string
		ack    spool.Ack
		engine func(*testing.T) spool.Engine
		org    error
		ready  bool
	}{
		{"both", spool.Auto, works, nil, true},
		{"the spool alone", spool.Auto, works, errDisk, true},
		{"Salesforce alone", spool.Auto, broken, nil, true},
		{"neither", spool.Auto, broken, errDisk, false},
		{"spooled: Salesforce alone", spool.Spooled, broken, nil, true},
		{"spooled: neither", spool.Spooled, broken, errDisk, false},
		{"staged: the spool is none", spool.Staged, works, errDisk, false},
		{"staged: Salesforce", spool.Staged, broken, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := spool.NewDoor(spool.DoorConfig{Ack: c.ack, Stager: &fakeStager{ready: c.org}, Engine: c.engine(t)})
			assert.Equal(t, c.ready, d.Ready(t.Context()) == nil)
		})
	}
}
