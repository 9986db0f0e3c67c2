package stage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stageAll stages each event from a goroutine of its own, as senders do, and
// gives the answers by place.
func stageAll(s *Stager, events []*event.Event) []Answer {
	answers := make([]Answer, len(events))
	var wg sync.WaitGroup
	for i, e := range events {
		wg.Go(func() { answers[i] = s.Stage(context.Background(), requests(e))[0] })
	}
	wg.Wait()
	return answers
}

func tally(answers []Answer) map[Status]int {
	n := map[Status]int{}
	for _, a := range answers {
		if a.Err != nil {
			n["error"]++
			continue
		}
		n[a.Status]++
	}
	return n
}

func TestFiftyCopiesAtOnceMakeOneRow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		org, s := setup(t, nil)
		events := make([]*event.Event, 50)
		for i := range events {
			events[i] = newEvent("evt_1", "aa")
		}
		assert.Equal(t, map[Status]int{Accepted: 1, Duplicate: 49}, tally(stageAll(s, events)))
		assert.Equal(t, 1, org.count())
		assert.Equal(t, []int{1}, org.calls, "copies share one row of one call")
		require.NoError(t, s.Close(t.Context()))
		row := org.rows["stripe:evt_1"]
		assert.Equal(t, "49", fmt.Sprint(row[event.FieldDuplicateCount]), "every duplicate is counted on the original")
		assert.Contains(t, row[event.FieldHistory], "duplicate deliveries: 49,")
	})
}

func TestACacheOfConfirmedKeysAnswersWithoutACall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		org, s := setup(t, nil)
		require.Equal(t, Accepted, s.Stage(t.Context(), requests(newEvent("e", "aa")))[0].Status)
		assert.Equal(t, Duplicate, s.Stage(t.Context(), requests(newEvent("e", "aa")))[0].Status)
		assert.Len(t, org.calls, 1)
		assert.Zero(t, org.queries)
		require.NoError(t, s.Close(t.Context()))
	})
}

func TestABatchFillsWhileACallIsInFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		org, s := setup(t, func(c *Config) { c.Calls = 1 })
		org.before = func(int, []salesforce.Row) error {
			assert.True(t, s.Busy())
			time.Sleep(100 * time.Millisecond)
			return nil
		}
		assert.False(t, s.Busy())
		var events []*event.Event
		for i := range 450 {
			events = append(events, newEvent(fmt.Sprint("e", i), "aa"))
		}
		assert.Equal(t, map[Status]int{Accepted: 450}, tally(stageAll(s, events)))
		assert.Equal(t, []int{200, 200, 50}, org.calls)
		require.NoError(t, s.Close(t.Context()))
		assert.False(t, s.Busy())
	})
}

func TestAKnownEventIsJudgedByTheRowInItsWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		org, first := setup(t, nil)
		first.Stage(t.Context(), requests(newEvent("a", "aa"), newEvent("b", "aa")))
		require.NoError(t, first.Close(t.Context()))
		// Another process, with nothing cached.
		s := New(Config{Salesforce: org})
		answers := s.Stage(t.Context(), requests(newEvent("a", "aa"), newEvent("b", "bb"), newEvent("c", "aa")))
		assert.Equal(t, Answer{EventID: "stripe:a", Status: Duplicate}, answers[0])
		assert.Equal(t, Answer{EventID: "stripe:b#conflict:bbbbbbbbbbbbbbbb", Status: Conflict}, answers[1])
		assert.Equal(t, Answer{EventID: "stripe:c", Status: Accepted}, answers[2])
		conflict := org.rows["stripe:b#conflict:bbbbbbbbbbbbbbbb"]
		assert.Equal(t, "Review", conflict[event.FieldStatus])
		assert.Equal(t, org.rows["stripe:b"].ID(), conflict[event.FieldConflictOf])
		assert.NotContains(t, conflict, event.FieldQueue)
		again := s.Stage(t.Context(), requests(newEvent("b", "bb")))[0]
		assert.Equal(t, Answer{EventID: "stripe:b#conflict:bbbbbbbbbbbbbbbb", Status: Duplicate}, again)
		require.NoError(t, s.Close(t.Context()))
	})
}

func TestAtMostFiveConflictRowsAnEvent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		org, s := setup(t, nil)
		s.Stage(t.Context(), requests(newEvent("e", "aa")))
		for i := range 9 {
			a := s.Stage(t.Context(), requests(newEvent("e", fmt.Sprintf("b%d", i))))[0]
			require.NoError(t, a.Err)
			assert.Equal(t, Conflict, a.Status)
		}
		assert.Equal(t, 6, org.count(), "the original and five conflicts")
		require.NoError(t, s.Close(t.Context()))
		assert.Equal(t, "4", fmt.Sprint(org.rows["stripe:e"][event.FieldDuplicateCount]), "further ones are counted")
	})
}

func TestConflictsOfEventsInFlightAreKeptToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		org, s := setup(t, nil)
		answers := s.Stage(t.Context(), requests(newEvent("e", "aa"), newEvent("e", "bb"), newEvent("e", "aa")))
		assert.Equal(t, []Status{Accepted, Conflict, Duplicate}, []Status{answers[0].Status, answers[1].Status, answers[2].Status})
		assert.Equal(t, 2, org.count())
		require.NoError(t, s.Close(t.Context()))
	})
}

func TestARejectingMappingKeepsNoConflict(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		org, s := setup(t, nil)
		s.Stage(t.Context(), requests(newEvent("e", "aa")))
		a := s.Stage(t.Context(), []Request{{Event: newEvent("e", "bb"), RejectConflict: true}})[0]
		assert.Equal(t, Rejected, a.Status)
		assert.Equal(t, 1, org.count())
		require.NoError(t, s.Close(t.Context()))
	})
}

func unknownOutcome() error {
	return &salesforce.Error{Op: "x", Fault: salesforce.Fault{Message: "reply lost", Class: salesforce.ClassUnknownOutcome}}
}

func TestALostReplyIsSentAgainAndItsOwnRowsAreNoDuplicates(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*fakeOrg, func(int, []salesforce.Row) error){
		"before the commit": func(o *fakeOrg, f func(int, []salesforce.Row) error) { o.before = f },
		"after the commit":  func(o *fakeOrg, f func(int, []salesforce.Row) error) { o.after = f },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				woken := 0
				org, s := setup(t, func(c *Config) {
					c.Staged = func(rows map[string]int) {
						for _, n := range rows {
							woken += n
						}
					}
				})
				lose(org, func(call int, _ []salesforce.Row) error {
					if call == 0 {
						return unknownOutcome()
					}
					return nil
				})
				var events []*event.Event
				for i := range 200 {
					e := newEvent(fmt.Sprint("e", i), "aa")
					e.ReceivedAt = time.Now()
					events = append(events, e)
				}
				assert.Equal(t, map[Status]int{Accepted: 200}, tally(stageAll(s, events)))
				assert.Equal(t, 200, org.count())
				require.NoError(t, s.Close(t.Context()))
				assert.Equal(t, 200, woken, "the poller hears of every new row, whatever its reply")
			})
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		fault  salesforce.Fault
		alarm  bool
		sends  int
		reason string
	}{
		{"a duplicate rule is no dedupe", salesforce.Fault{Code: "DUPLICATES_DETECTED", Class: salesforce.ClassData}, true, 1, "refuses"},
		{"a duplicate of a row that is not there", salesforce.Fault{Code: "DUPLICATE_VALUE", Class: salesforce.ClassDuplicate}, true, 2, "refuses"},
		{"full", salesforce.Fault{Code: "STORAGE_LIMIT_EXCEEDED", Class: salesforce.ClassLimit}, false, 1, "no room"},
		{"locked for long", salesforce.Fault{Code: "UNABLE_TO_LOCK_ROW", Class: salesforce.ClassRetryable}, false, maxSends, "did not take"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				org, s := setup(t, nil)
				org.refuse = func(r salesforce.Row) *salesforce.Fault {
					if strings.HasSuffix(fmt.Sprint(r.Fields[event.FieldID]), "bad") {
						return &c.fault
					}
					return nil
				}
				answers := stageAll(s, []*event.Event{newEvent("good", "aa"), newEvent("bad", "aa")})
				assert.NoError(t, answers[0].Err, "a mate is not harmed")
				var u *Unavailable
				require.ErrorAs(t, answers[1].Err, &u)
				assert.Equal(t, c.alarm, u.Alarm)
				assert.Contains(t, u.Error(), c.reason)
				assert.Len(t, org.calls, c.sends)
				assert.Equal(t, 1, org.count())
				require.NoError(t, s.Close(t.Context()))
			})
		})
	}
}

func TestARowThatSpoilsTheWholeCallIsIsolated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		org, s := setup(t, nil)
		org.before = func(_ int, rows []salesforce.Row) error {
			for _, r := range rows {
				if r.Fields[event.FieldID] == "stripe:e77" {
					return &salesforce.Error{Op: "x", Fault: salesforce.Fault{Code: "JSON_PARSER_ERROR", Class: salesforce.ClassData}}
				}
			}
			return nil
		}
		var events []*event.Event
		for i := range 200 {
			events = append(events, newEvent(fmt.Sprint("e", i), "aa"))
		}
		answers := stageAll(s, events)
		assert.Equal(t, map[Status]int{Accepted: 199, "error": 1}, tally(answers))
		assert.Error(t, answers[77].Err)
		assert.LessOrEqual(t, len(org.calls), 2*8+1, "at most 2·⌈log2 200⌉ + 1 calls")
		require.NoError(t, s.Close(t.Context()))
	})
}

func TestAnOutageIsAnsweredAtOnceAndTheResendIsStored(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		org, s := setup(t, nil)
		down := true
		org.before = func(int, []salesforce.Row) error {
			if down {
				return &salesforce.Error{Op: "x", Fault: salesforce.Fault{Code: "REQUEST_LIMIT_EXCEEDED", Class: salesforce.ClassLimit, Pause: time.Minute}}
			}
			return nil
		}
		a := s.Stage(t.Context(), requests(newEvent("e", "aa")))[0]
		var u *Unavailable
		require.ErrorAs(t, a.Err, &u)
		assert.Equal(t, time.Minute, u.RetryAfter)
		assert.Error(t, s.Ready(t.Context()))
		down = false
		assert.Equal(t, Accepted, s.Stage(t.Context(), requests(newEvent("e", "aa")))[0].Status, "the failed try left no mark")
		assert.NoError(t, s.Ready(t.Context()))
		require.NoError(t, s.Close(t.Context()))
	})
}

func TestIDsThatDifferInCaseAreNeverOneEvent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		org, s := setup(t, nil)
		org.foldCase = true
		s.Stage(t.Context(), requests(newEvent("evt_1AbC", "aa")))
		a := s.Stage(t.Context(), requests(newEvent("evt_1aBc", "bb")))[0]
		require.NoError(t, a.Err)
		assert.Equal(t, Accepted, a.Status)
		assert.Regexp(t, "^stripe:sha256:", a.EventID)
		assert.Equal(t, event.CodeCaseFold, org.rows[a.EventID][event.FieldErrorCode])
		assert.Equal(t, "Review", org.rows[a.EventID][event.FieldStatus])
		require.NoError(t, s.Close(t.Context()))
	})
}

func TestASenderThatGivesUpGetsNo2xx(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		org, s := setup(t, nil)
		org.before = func(int, []salesforce.Row) error { time.Sleep(5 * time.Second); return nil }
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		a := s.Stage(ctx, requests(newEvent("e", "aa")))[0]
		var u *Unavailable
		require.ErrorAs(t, a.Err, &u)
		assert.ErrorIs(t, a.Err, context.DeadlineExceeded)
		assert.Equal(t, Duplicate, s.Stage(t.Context(), requests(newEvent("e", "aa")))[0].Status, "the row went on and was written")
		require.NoError(t, s.Close(t.Context()))
	})
}

func TestACountIsKeptWhenItsRowMovedMeanwhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		org, s := setup(t, nil)
		s.Stage(t.Context(), requests(newEvent("e", "aa")))
		s.Stage(t.Context(), requests(newEvent("e", "aa")))
		row := org.rows["stripe:e"]
		org.moved = func() { row[event.FieldRevision] = json.Number("77") } // between the read and the write of the count
		require.NoError(t, s.flush(t.Context()))
		assert.NotContains(t, row, event.FieldDuplicateCount)
		assert.NotContains(t, row, event.FieldHistory, "the other writer's history is not overwritten")
		org.moved = nil
		require.NoError(t, s.flush(t.Context()))
		assert.Equal(t, "1", fmt.Sprint(row[event.FieldDuplicateCount]))
		require.NoError(t, s.Close(t.Context()))
	})
}

func TestNothingIsTakenAfterClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		org, s := setup(t, nil)
		require.NoError(t, s.Close(t.Context()))
		a := s.Stage(t.Context(), requests(newEvent("e", "aa")))[0]
		assert.Error(t, a.Err)
		assert.Zero(t, org.count())
	})
}

func TestAnEventThatIsTooLargeIsSaidSo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, s := setup(t, nil)
		e := newEvent("e", "aa")
		e.Payload = make([]byte, event.MaxPayload+1)
		assert.True(t, errors.Is(s.Stage(t.Context(), requests(e))[0].Err, event.ErrTooLarge))
		require.NoError(t, s.Close(t.Context()))
	})
}
