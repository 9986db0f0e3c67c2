package receive

import (
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// fakeConn knows only whether it was closed.
type fakeConn struct {
	net.Conn
	name   string
	closed bool
}

func (f *fakeConn) Close() error { f.closed = true; return nil }

// TestWhoKeptUsWaitingLongestGoes: each line is what happens to connections,
// with room for three, and who is closed then. A is new, a waits (first bytes of
// a request, or none after an answer), A! has sent a whole request, A> doesn't read
// the answer, a- is gone.
func TestWhoKeptUsWaitingLongestGoes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		events []string
		closed string
	}{
		{[]string{"A", "B", "C"}, ""},
		{[]string{"A", "B", "C", "D"}, "A"},
		{[]string{"A", "B", "C", "D", "E"}, "AB"},
		{[]string{"A", "B", "C", "a", "D"}, "B"},        // A has begun to send
		{[]string{"A", "B", "C", "A!", "B!", "D"}, "C"}, // A and B are being worked on
		{[]string{"A", "B", "C", "A!", "a", "D"}, "B"},  // A has its answer, and waits since then
		{[]string{"A", "B", "C", "A!", "B!", "C!", "D", "E"}, "DE"},
		{[]string{"A", "B", "C", "A!", "A>", "D"}, "B"}, // A waits since then
		{[]string{"A", "B", "C", "A!", "B!", "C!", "B>", "A>", "D", "E"}, "AB"},
		{[]string{"A", "B", "C", "A!", "B!", "C!", "B>", "B!", "A>", "D", "E"}, "AD"}, // B has read it
		{[]string{"A", "B", "C", "D", "A>"}, "A"},
		{[]string{"A", "B", "C", "b-", "D"}, ""},
		{[]string{"A", "B", "C", "A!", "a-", "D"}, ""},
		{[]string{"A", "B", "C", "D", "a", "a-", "E"}, "AB"}, // what is closed stays forgotten
	} {
		shed := 0
		conns := NewConnections(3, func() { shed++ })
		all := map[string]*fakeConn{}
		for _, e := range c.events {
			name := string(e[0] &^ 0x20)
			switch {
			case all[name] == nil:
				all[name] = &fakeConn{name: name}
				conns.Track(all[name], http.StateNew)
			case e[1:] == "!":
				arrived(conns.Context(t.Context(), all[name]))
			case e[1:] == ">":
				conns.write(all[name])
			case e[1:] == "-":
				conns.Track(all[name], http.StateClosed)
			default:
				conns.Track(all[name], http.StateIdle)
			}
		}
		closed := ""
		for _, name := range []string{"A", "B", "C", "D", "E"} {
			if conn := all[name]; conn != nil && conn.closed {
				closed += name
			}
		}
		assert.Equal(t, c.closed, closed, c.events)
		assert.Equal(t, len(c.closed), shed, c.events)
		assert.LessOrEqual(t, len(conns.open), 3, c.events)
	}
}

// TestConnectionsAreBoundedWhateverHappens: never more than allowed are open,
// none that is worked on is closed, and when all are gone nothing is left.
func TestConnectionsAreBoundedWhateverHappens(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 5).Draw(t, "most")
		c := NewConnections(most, nil)
		var all []*fakeConn
		whole := map[*fakeConn]bool{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			what := rapid.IntRange(0, 5).Draw(t, "what")
			if len(all) == 0 || what == 0 {
				conn := &fakeConn{}
				all = append(all, conn)
				c.Track(conn, http.StateNew)
				continue
			}
			conn := rapid.SampledFrom(all).Draw(t, "connection")
			switch {
			case what == 1 && !conn.closed:
				c.whole(conn)
				whole[conn] = true
			case what == 2:
				c.Track(conn, http.StateClosed)
				conn.closed = true
				delete(whole, conn)
			case what == 3:
				assert.Equal(t, whole[conn], c.write(conn))
				delete(whole, conn)
			default:
				c.Track(conn, http.StateActive)
				delete(whole, conn)
			}
			for conn := range whole {
				assert.False(t, conn.closed, "closed while it was worked on")
			}
			assert.LessOrEqual(t, len(c.open), most)
		}
		for _, conn := range all {
			c.Track(conn, http.StateClosed)
		}
		assert.Empty(t, c.open)
		assert.Zero(t, c.waiting.Len())
	})
}
