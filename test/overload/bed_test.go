package overload_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// heapBound is what the service's Go heap may take while it is flooded. It is
// judged and not the resident memory, which the race detector multiplies.
const heapBound = 128 << 20

const secret = "overload-secret"

// mapping is a source whose events end without a record: what is measured is
// the receiver.
func mapping(source, limits string) string {
	return fmt.Sprintf(`source: %s
provider: generic
secrets: ["${SECRET}"]
limits: %s
event: {id: $.id, type: $.type}
routes:
  - name: any
    when: {type: "*"}
    records:
      - object: Payment__c
        key: {field: Stripe_Charge_Id__c, from: $.id}
        fields: {Note__c: $.type}
`, source, limits)
}

// bed is a bridge with a good source and one that floods.
type bed struct {
	org    *harness.Org
	bridge *harness.Bridge
	last   *atomic.Int64 // event of the good source
}

// setup starts a bridge that only receives; limits are those of the source
// that floods, latency that of the org.
func setup(t *testing.T, limits, latency string) bed {
	t.Helper()
	org := harness.StartOrg(t, "--samples", "--latency", latency)
	return bed{org: org, last: new(atomic.Int64), bridge: harness.StartBridge(t, harness.Config{
		Org: org, Only: []string{"receive"}, Env: map[string]string{"SECRET": secret},
		Receiver: "{linger: 5ms, ack_timeout: 3s}", // what a busy machine doesn't stage in time is spooled
		Mappings: map[string]string{"good.yaml": mapping("good", "{}"), "flood.yaml": mapping("flood", limits)},
	})}
}

type delivery struct {
	source, id string
	padding    int
	close      bool // the connection is not kept
}

func (b bed) post(ctx context.Context, d delivery) (harness.Answer, error) {
	body := fmt.Appendf(nil, `{"id":%q,"type":"charge","note":"%s"}`, d.id, strings.Repeat("x", d.padding))
	header := http.Header{"Content-Type": {"application/json"}, "X-Signature": {harness.HMACHex(secret, body)}}
	if d.close {
		header.Set("Connection", "close")
	}
	return b.bridge.Post(ctx, d.source, header, body)
}

// goodOnes sends deliveries of the good source, a few at once and each on a
// connection of its own, and fails the test if one of them is not accepted.
// meanwhile is called between them.
func (b bed) goodOnes(t *testing.T, n int, meanwhile func()) {
	t.Helper()
	const atOnce = 10
	for range n / atOnce {
		var wg sync.WaitGroup
		for range atOnce {
			wg.Go(func() {
				answer, err := b.post(t.Context(), delivery{source: "good", id: fmt.Sprint("good_", b.last.Add(1)), padding: 100, close: true})
				if assert.NoError(t, err) {
					assert.True(t, answer.OK(), "%d %s", answer.Status, answer.Body)
				}
			})
		}
		wg.Wait()
		meanwhile()
	}
}

// gauge reads a number of /metrics.
func (b bed) gauge(t *testing.T, name string) int {
	t.Helper()
	for line := range strings.Lines(b.bridge.Metrics(t)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			require.NoError(t, err)
			return int(n)
		}
	}
	require.Fail(t, "no metric "+name)
	return 0
}

// heapIsBounded is to be asked while the flood lasts.
func (b bed) heapIsBounded(t *testing.T) {
	t.Helper()
	heap := b.gauge(t, "go_memstats_heap_inuse_bytes")
	t.Logf("heap %d MiB, resident %d MiB", heap>>20, b.gauge(t, "process_resident_memory_bytes")>>20)
	assert.LessOrEqual(t, heap, heapBound)
}

// filesGoBack waits until no more files are open than at the start, but for the
// few connections that are kept to the org and by the senders of the test.
func (b bed) filesGoBack(t *testing.T, before int) {
	t.Helper()
	const kept = 40
	b.org.Eventually(t, "files stay open", func(context.Context) (bool, error) {
		return b.gauge(t, "process_open_fds") <= before+kept, nil
	})
}

// dial opens a connection and sends the beginning of a request. The end of the
// test closes it at the latest.
func (b bed) dial(t *testing.T, begin string) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(b.bridge.URL(), "http://"))
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = c.Close() }) // the bridge may have closed it
	if begin != "" {
		_, _ = c.Write([]byte(begin)) // likewise
	}
	return c, nil
}
