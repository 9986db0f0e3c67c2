package poll

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"sfbridge/bridge/event"
)

// What is given up while the claims are being extended stays given up.
func TestGivingUpDuringAnExtension(t *testing.T) {
	t.Parallel()
	c, now := newClaims(), time.Now()
	held := func() []string { h, _, _ := c.state(); return h }
	c.granted([]string{"B00", "B01"}, now, 2)
	c.giveUp([]string{"B00"})
	c.granted([]string{"B00", "B01"}, now, 1)
	assert.Equal(t, []string{"B01"}, held())
	assert.Equal(t, []string{"B00"}, c.takeFreed())
	assert.Empty(t, c.takeFreed())
	c.granted([]string{"B00", "B01"}, now, 2)
	assert.Equal(t, []string{"B00", "B01"}, held(), "it can be had again later")
}

func TestPollersShareTheQueues(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTeam(t)
		one := w.join("one")
		pass(time.Second)
		assert.Equal(t, []int{16}, holds(one), "alone")
		two := w.join("two")
		pass(15 * time.Second)
		assert.Equal(t, []int{8, 8}, holds(one, two), "the surplus is given back")
		three := w.join("three")
		pass(15 * time.Second)
		counts := holds(one, two, three)
		assert.Equal(t, 16, counts[0]+counts[1]+counts[2])
		assert.LessOrEqual(t, slices.Max(counts), 6)
		two.stop()
		pass(15 * time.Second)
		assert.Equal(t, []int{8, 8}, holds(one, three), "what a stop gives back is taken over")
		three.set(false, true)
		three.stop()
		pass(15 * time.Second)
		assert.Equal(t, []int{8}, holds(one), "the lease of one that was killed stands")
		pass(45 * time.Second)
		assert.Equal(t, []int{16}, holds(one), "until it ends")
	})
}

// A queue with a batch in work is given back when the batch has ended.
func TestASurplusIsGivenBackBetweenBatches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTeam(t)
		w.org.latency = 20 * time.Second // so that every queue is in work when the other one comes
		w.org.add(many(2000)...)
		one := w.join("one")
		pass(30 * time.Second)
		two := w.join("two")
		pass(15 * time.Minute)
		assert.Equal(t, []int{8, 8}, holds(one, two))
		assert.Equal(t, 2000, w.org.see().count(event.Completed))
		assert.Empty(t, w.problems)
	})
}

func TestAPollerThatCantExtendBeginsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTeam(t)
		one := w.join("one")
		pass(time.Second)
		one.set(true, false)
		pass(29 * time.Second)
		w.org.add(many(10)...)
		one.poller.Wake(10)
		pass(10 * time.Second)
		assert.Equal(t, 10, w.org.see().count(event.Received), "its lease is over")
		one.set(false, false)
		pass(10 * time.Second)
		assert.Equal(t, 10, w.org.see().count(event.Completed))
		assert.Empty(t, w.problems)
	})
}

// However pollers come, go, are killed or lose sight of the leases: no queue is
// in two hands, no event overtakes an earlier one of its entity, every event is
// done once, and in the end the queues are shared evenly.
func TestPollersThatComeAndGo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newTeam(t)
			var mates []*mate
			rows := 0
			for step := range rapid.IntRange(3, 25).Draw(rt, "steps") {
				at := rapid.IntRange(0, max(0, len(mates)-1)).Draw(rt, "who")
				switch what := rapid.IntRange(0, 9).Draw(rt, "what"); {
				case what < 3 && len(mates) < 4:
					mates = append(mates, w.join(fmt.Sprint("mate", step)))
				case what == 3 && len(mates) > 0:
					mates[at].set(false, rapid.Bool().Draw(rt, "killed"))
					mates[at].stop()
					mates = slices.Delete(mates, at, at+1)
				case what == 4 && len(mates) > 0:
					mates[at].set(true, false)
				case what == 5 && len(mates) > 0:
					mates[at].set(false, false)
				default:
					for range rapid.IntRange(1, 30).Draw(rt, "rows") {
						rows++
						w.org.add(row(fmt.Sprint("o", rapid.IntRange(0, 40).Draw(rt, "object"), "-"), int64(rows)))
					}
				}
				pass(time.Duration(rapid.IntRange(0, 20_000).Draw(rt, "ms")) * time.Millisecond)
			}
			mates = append(mates, w.join("last"))
			for _, m := range mates {
				m.set(false, false)
			}
			pass(5 * time.Minute)
			counts, total := holds(mates...), 0
			for _, n := range counts {
				total += n
				assert.LessOrEqual(t, n, ceil(event.Queues, len(mates)))
			}
			assert.Equal(t, event.Queues, total, counts)
			s := w.org.see()
			assert.Equal(t, rows, s.count(event.Completed))
			require.Empty(t, w.problems)
			for _, m := range mates {
				m.stop()
			}
		})
	})
}
