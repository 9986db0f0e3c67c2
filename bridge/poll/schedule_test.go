package poll

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestScheduleNext(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(d time.Duration) time.Time { return start.Add(d) }
	const none = 0
	tests := []struct {
		name   string
		events func(s *schedule)
		atHand int
		want   time.Duration
	}{
		{"idle", func(*schedule) {}, none, 60 * time.Second},
		{"another process has looked", func(s *schedule) { s.looked = at(50 * time.Second) }, none, 110 * time.Second},
		{"others say for ever that they have", func(s *schedule) { s.looked = at(24 * time.Hour) }, none, 15 * time.Minute},
		{"a single event goes when staging has paused", func(s *schedule) { s.wake(at(10*time.Second), 1) }, none, 10*time.Second + quiet},
		{"a stream goes on gathering", func(s *schedule) {
			for d := 10 * time.Second; d <= 11*time.Second; d += 10 * time.Millisecond {
				s.wake(at(d), 1)
			}
		}, none, 11*time.Second + quiet},
		{"but not longer than interval", func(s *schedule) {
			for d := 10 * time.Second; d < 13*time.Second; d += 10 * time.Millisecond {
				s.wake(at(d), 1)
			}
		}, none, 12 * time.Second},
		{"rows that fill every lane go at once", func(s *schedule) {
			s.wake(at(10*time.Second), 500)
			s.wake(at(10*time.Second+time.Millisecond), 300)
		}, none, 10*time.Second + time.Millisecond},
		{"unless the lanes have enough to do", func(s *schedule) {
			s.wake(at(10*time.Second), 800)
		}, 800, 60 * time.Second},
		{"what was staged waits for what is on its way", func(s *schedule) {
			s.wake(at(10*time.Second), 200)
			s.staging(at(11 * time.Second))
		}, none, 11*time.Second + quiet},
		{"but not longer than interval either", func(s *schedule) {
			s.wake(at(10*time.Second), 200)
			s.staging(at(20 * time.Second))
		}, none, 12 * time.Second},
		{"few calls left: a single event waits for others", func(s *schedule) {
			s.spread = 30 * time.Second
			s.wake(at(10*time.Second), 1)
		}, none, 30 * time.Second},
		{"few calls left: rows that fill every lane go at once", func(s *schedule) {
			s.spread = 30 * time.Second
			s.wake(at(10*time.Second), 800)
		}, none, 10 * time.Second},
		{"few calls left: an event after a long silence goes at once", func(s *schedule) {
			s.spread = 30 * time.Second
			s.wake(at(50*time.Second), 1)
		}, none, 50*time.Second + quiet},
		{"few calls left: what was left waits too", func(s *schedule) { s.spread = 30 * time.Second; s.again = true }, none, 30 * time.Second},
		{"few calls left: a next attempt too", func(s *schedule) { s.spread = 30 * time.Second; s.dueAt(at(5 * time.Second)) }, none, 30 * time.Second},
		{"what was left is tried after interval", func(s *schedule) { s.again = true }, none, 2 * time.Second},
		{"a next attempt is met", func(s *schedule) { s.dueAt(at(30 * time.Second)); s.dueAt(at(40 * time.Second)) }, none, 30 * time.Second},
		{"next attempts gather for interval", func(s *schedule) { s.dueAt(at(time.Second)) }, none, 2 * time.Second},
		{"a page that was cut off goes on at once", func(s *schedule) { s.more = true }, 100, 0},
		{"unless the lanes have enough to do for now", func(s *schedule) { s.more = true }, 800, 60 * time.Second},
		{"new queues are looked at once", func(s *schedule) { s.now = true }, none, -1},
		{"nothing is asked in a pause", func(s *schedule) {
			s.failed(start, start, func(int) time.Duration { return 5 * time.Second })
			s.wake(at(time.Second), 800)
			s.now = true
		}, none, 5 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &schedule{interval: 2 * time.Second, idle: time.Minute, full: 800}
			s.queryStarts(start)
			tt.events(s)
			want := at(tt.want)
			if tt.want < 0 {
				want = time.Time{}
			}
			assert.Equal(t, want, s.next(tt.atHand))
		})
	}
}

func TestFailuresOfOneOutageCountOnce(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var s schedule
	double := func(n int) time.Duration { return time.Second << n }
	for range 4 { // four lanes were in work when the org went away
		s.failed(start, start.Add(time.Second), double)
	}
	assert.Equal(t, 1, s.failures)
	assert.True(t, s.paused(start.Add(2*time.Second)))
	probe := s.pauseUntil
	s.failed(probe, probe, double)
	assert.Equal(t, 2, s.failures)
	assert.Equal(t, probe.Add(4*time.Second), s.pauseUntil)
	s.succeeded()
	assert.False(t, s.paused(probe))
	assert.Zero(t, s.failures)
}
