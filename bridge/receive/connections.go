package receive

import (
	"container/list"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
)

// Connections bounds how many connections a server keeps open. When one more
// comes it closes the one that has kept the server waiting for the longest:
// idle, slow with a request, or slow to read its answer. Those whose request has
// come in whole are left alone while it is worked on, so an honest sender gets in
// and out whatever the others do. Its Track and Context are hooks of http.Server,
// which is to serve Over its listener.
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

// hasCome says that a request without a body has come in whole. What is still to
// come is read after the handler at the latest, and is waited for.
func hasCome(r *http.Request) {
	if r.ContentLength == 0 {
		arrived(r.Context())
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

// Patient returns a handler whose requests are whole once their headers, and the
// body if there is one, have come: for operators, whose requests may take long.
func Patient(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hasCome(r)
		if r.ContentLength != 0 {
			r.Body = &watched{ReadCloser: r.Body, ended: func() { arrived(r.Context()) }}
		}
		h.ServeHTTP(w, r)
	})
}

// watched is a body that tells when it has come to its end.
type watched struct {
	io.ReadCloser
	ended func()
}

func (b *watched) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.ended()
	}
	return n, err
}
