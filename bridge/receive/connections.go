package receive

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
)

// Connections bounds how many connections a server keeps open. When one more
// comes it closes the one that has kept the server waiting for the longest:
// idle, or slow with a request. Those whose request has come in whole are left
// alone, so an honest sender gets in and out whatever the others do. Its Track
// and Context are hooks of http.Server.
type Connections struct {
	most int
	shed func()

	mu      sync.Mutex
	open    map[net.Conn]*list.Element // nil: the server doesn't wait for it
	waiting *list.List                 // of net.Conn, the longest first
}

// NewConnections allows so many connections; shed is told of each that was
// closed to make room, nil: nobody is.
func NewConnections(most int, shed func()) *Connections {
	if shed == nil {
		shed = func() {}
	}
	return &Connections{most: most, shed: shed, open: map[net.Conn]*list.Element{}, waiting: list.New()}
}

// Track is told of every change (http.Server.ConnState). A connection waits
// from the last sign of life on.
func (c *Connections) Track(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateClosed, http.StateHijacked:
		c.forget(conn)
	case http.StateNew:
		if longest := c.add(conn); longest != nil {
			_ = longest.Close() // its own goroutine sees to the rest
			c.shed()
		}
	default:
		c.await(conn)
	}
}

// add takes a connection in and gives the one that has to go.
func (c *Connections) add(conn net.Conn) net.Conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[conn] = c.waiting.PushBack(conn)
	if len(c.open) <= c.most {
		return nil
	}
	longest := c.waiting.Remove(c.waiting.Front()).(net.Conn)
	delete(c.open, longest)
	return longest
}

func (c *Connections) await(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	place, known := c.open[conn]
	switch {
	case !known: // closed to make room
	case place == nil:
		c.open[conn] = c.waiting.PushBack(conn)
	default:
		c.waiting.MoveToBack(place)
	}
}

func (c *Connections) forget(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if place := c.open[conn]; place != nil {
		c.waiting.Remove(place)
	}
	delete(c.open, conn)
}

// whole says that a connection's request has come in.
func (c *Connections) whole(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if place := c.open[conn]; place != nil {
		c.waiting.Remove(place)
		c.open[conn] = nil
	}
}

// connection is the key under which a request's context holds its connection.
type connection struct{}

type tracked struct {
	conn net.Conn
	in   *Connections
}

// Context lets the receiver find the connection of a request
// (http.Server.ConnContext).
func (c *Connections) Context(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connection{}, tracked{conn, c})
}

// arrived says that the request of the context has come in whole.
func arrived(ctx context.Context) {
	if t, ok := ctx.Value(connection{}).(tracked); ok {
		t.in.whole(t.conn)
	}
}

// Patient returns a handler whose requests count as whole once their headers are
// there: for operators, whose requests may take long and who send no large bodies.
func Patient(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived(r.Context())
		h.ServeHTTP(w, r)
	})
}
