package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/store/storetest"
	"sfbridge/test/harness"
)

// fleet is several processes that share an org and a Redis.
type fleet struct {
	org     *harness.Org
	redis   *storetest.Server
	bridges []*harness.Bridge

	next atomic.Int64
	mu   sync.Mutex
	sent []charge // every one of them was answered with a 2xx
}

// startFleet starts n processes whose leases end soon. change may be nil.
func startFleet(t *testing.T, n int, change func(i int, c *harness.Config)) *fleet {
	t.Helper()
	f := &fleet{redis: storetest.StartRedis(t, storetest.Durable()...), org: harness.StartOrg(t, "--samples")}
	for i := range n {
		c := shared(t, f.org, fmt.Sprintf("bridge %d", i+1), f.redis.URL(), "")
		c.Program = harness.BuildProgram(t, "sfbridge/test/e2e/quick")
		if change != nil {
			change(i, &c)
		}
		f.bridges = append(f.bridges, harness.StartBridge(t, c))
	}
	return f
}

// Bounds of a load. The pace leaves room for what happens meanwhile.
const (
	loadSenders = 8
	loadPace    = 25 * time.Millisecond // of each sender
	loadMost    = 4000                  // events of a test
	perCharge   = 6
	tryFor      = 3 * time.Second // a sender waits so long for an answer
)

// nextCharge makes the next event. Those of a charge come close together.
func (f *fleet) nextCharge() (c charge, more bool) {
	i := int(f.next.Add(1) - 1)
	c = charge{
		event: fmt.Sprintf("evt_%05d", i), id: fmt.Sprintf("ch_%04d", i/perCharge),
		created: 1767225600 + int64(i), amount: 100*i + 7, status: "pending",
	}
	if i%perCharge*2 >= perCharge {
		c.status = "succeeded"
	}
	return c, i < loadMost
}

// load sends events to the processes in turn, as a balancer does, until stop is
// called. Whatever isn't answered with a 2xx is sent again, to the next one.
func (f *fleet) load(t *testing.T) (stop func()) {
	t.Helper()
	done := make(chan struct{})
	var senders sync.WaitGroup
	for s := range loadSenders {
		senders.Go(func() {
			pace := time.NewTicker(loadPace)
			defer pace.Stop()
			for at := s; ; at++ {
				select {
				case <-done:
					return
				case <-pace.C:
				}
				c, more := f.nextCharge()
				if !more {
					return
				}
				f.deliver(t, c, at, pace.C)
			}
		})
	}
	return sync.OnceFunc(func() {
		close(done)
		senders.Wait()
	})
}

// deliver sends one event until it is answered with a 2xx.
func (f *fleet) deliver(t *testing.T, c charge, at int, pace <-chan time.Time) {
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	defer cancel()
	for ; ctx.Err() == nil; at++ {
		try, stop := context.WithTimeout(ctx, tryFor)
		_, err := post(try, f.bridges[at%len(f.bridges)], c.body())
		stop()
		if err == nil {
			f.mu.Lock()
			f.sent = append(f.sent, c)
			f.mu.Unlock()
			return
		}
		<-pace
	}
	assert.Fail(t, "never taken", c.event)
}

// taken waits until so many events have been taken.
func (f *fleet) taken(t *testing.T, n int) {
	t.Helper()
	f.org.Eventually(t, fmt.Sprintf("%d events are taken", n), func(context.Context) (bool, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		return len(f.sent) >= n, nil
	})
}

// check: every event that was taken has one row, done without a failed attempt,
// and the last word on each charge stands.
func (f *fleet) check(t *testing.T) {
	t.Helper()
	f.org.Settle(t)
	rows := f.org.Query(t, "SELECT Event_Id__c, Status__c, Attempts__c, Queue__c, Error_Code__c FROM Inbound_Event__c")
	byEvent := byField(t, "Event_Id__c", rows)
	require.Len(t, byEvent, len(f.sent))
	for _, c := range f.sent {
		assert.Equal(t, harness.Row{"Event_Id__c": "stripe:" + c.event, "Status__c": "Completed", "Attempts__c": 0.0,
			"Queue__c": nil, "Error_Code__c": nil}, byEvent["stripe:"+c.event])
	}
	checkRecords(t, f.org, latest(f.sent))
}

// leases lists who holds what in Redis.
func (f *fleet) leases(t *testing.T) []string {
	t.Helper()
	keys, err := f.redis.Client(t).Keys(t.Context(), "bridge:*lease:*").Result()
	require.NoError(t, err)
	members, err := f.redis.Client(t).Keys(t.Context(), "bridge:{members}*").Result()
	require.NoError(t, err)
	return append(keys, members...)
}

// shares counts the queues that each process holds.
func (f *fleet) shares(ctx context.Context, t *testing.T) ([]int, error) {
	c := f.redis.Client(t)
	keys, err := c.Keys(ctx, "bridge:*lease:poll").Result()
	if err != nil {
		return nil, err
	}
	held := map[string]int{}
	for _, key := range keys {
		if owner := c.Get(ctx, key).Val(); owner != "" {
			held[owner]++
		}
	}
	var counts []int
	for _, n := range held {
		counts = append(counts, n)
	}
	slices.Sort(counts)
	return counts, nil
}

// evenly waits until the processes hold so many queues each.
func (f *fleet) evenly(t *testing.T, want ...int) {
	t.Helper()
	f.org.Eventually(t, fmt.Sprint("shares of ", want), func(ctx context.Context) (bool, error) {
		counts, err := f.shares(ctx, t)
		return slices.Equal(counts, want), err
	})
}

// A process stands still for longer than its leases: the others do its work, and
// when it goes on with what it was doing, nothing is done twice or out of order.
func TestAnInstanceThatStandsStill(t *testing.T) {
	t.Parallel()
	f := startFleet(t, 3, nil)
	f.evenly(t, 4, 6, 6)
	stop := f.load(t)
	f.taken(t, 100)
	before := len(f.snapshot())
	f.bridges[0].Signal(t, syscall.SIGSTOP)
	f.taken(t, before+40)
	stop()
	f.org.Settle(t) // without it
	stop = f.load(t)
	f.bridges[0].Signal(t, syscall.SIGCONT)
	f.taken(t, len(f.snapshot())+50)
	stop()
	f.check(t)
}

func (f *fleet) snapshot() []charge {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.sent)
}

// Processes are killed under load and come back.
func TestInstancesThatAreKilled(t *testing.T) {
	t.Parallel()
	f := startFleet(t, 3, nil)
	stop := f.load(t)
	for _, b := range f.bridges {
		f.taken(t, len(f.snapshot())+50)
		b.Kill(t)
		f.taken(t, len(f.snapshot())+50)
		b.Start(t)
	}
	f.taken(t, len(f.snapshot())+50)
	stop()
	f.check(t)
}

// A rolling restart under load: each process ends cleanly, gives its queues to
// the others, and comes back to its share of them.
func TestARollingRestart(t *testing.T) {
	t.Parallel()
	f := startFleet(t, 3, nil)
	stop := f.load(t)
	for _, b := range f.bridges {
		f.taken(t, len(f.snapshot())+50)
		b.Stop(t) // fails the test unless it exits with 0
		f.evenly(t, 8, 8)
		b.Start(t)
		f.evenly(t, 4, 6, 6)
	}
	f.taken(t, len(f.snapshot())+50)
	stop()
	f.check(t)
	for _, b := range f.bridges {
		b.Stop(t)
	}
	assert.Empty(t, f.leases(t), "everything is given back")
}

// What one process stages, another one works on at once, although neither looks
// at what is due for hours.
func TestAnInstanceThatOnlyReceivesWakesTheOther(t *testing.T) {
	t.Parallel()
	f := startFleet(t, 2, func(i int, c *harness.Config) {
		c.Only = [][]string{{"receive"}, {"process"}}[i]
		c.Poller = "{interval: 100ms, idle: 3h, backoff: {base: 100ms, max: 2s}}"
	})
	f.listening(t, 2)
	for i := range 3 {
		c, _ := f.nextCharge()
		status, body := deliverOne(t, f.bridges[0], c)
		require.Equal(t, http.StatusAccepted, status, body)
		f.sent = append(f.sent, c)
		f.org.Settle(t)
		require.Equal(t, i+1, f.org.Count(t, "SELECT COUNT() FROM Inbound_Event__c WHERE Status__c = 'Completed'"))
	}
	f.check(t)
}

// listening waits until so many processes hear each other.
func (f *fleet) listening(t *testing.T, n int) {
	t.Helper()
	c := f.redis.Client(t)
	f.org.Eventually(t, "the processes listen", func(ctx context.Context) (bool, error) {
		channels, err := c.PubSubChannels(ctx, "bridge:bell:*").Result()
		if err != nil || len(channels) != 1 {
			return false, err
		}
		counts, err := c.PubSubNumSub(ctx, channels[0]).Result()
		return counts[channels[0]] == int64(n), err
	})
}

// A duplicate of what another process has staged costs no insert.
func TestADuplicateOfAnotherInstanceCostsNoInsert(t *testing.T) {
	t.Parallel()
	f := startFleet(t, 3, func(_ int, c *harness.Config) { c.Only = []string{"receive"} })
	c, _ := f.nextCharge()
	status, body := deliverOne(t, f.bridges[0], c)
	require.Equal(t, http.StatusAccepted, status, body)
	redis := f.redis.Client(t)
	f.org.Eventually(t, "the others can know of it", func(ctx context.Context) (bool, error) {
		keys, err := redis.Keys(ctx, "bridge:seen:*").Result()
		return len(keys) == 1, err
	})
	inserts := func() int { return f.org.Stats(t).APICalls.ByOperation["collections_insert"] }
	before := inserts()
	for _, b := range f.bridges[1:] {
		status, body = deliverOne(t, b, c)
		assert.Equal(t, http.StatusOK, status, body)
		assert.Contains(t, body, `"duplicate"`)
	}
	assert.Equal(t, before, inserts())
	assert.Equal(t, 1, f.org.Count(t, "SELECT COUNT() FROM Inbound_Event__c"))
}
