package receive

import (
	"errors"
	"net"
	"time"
)

// Whoever reads less than writePiece of an answer in writeWait is cut off. So an
// answer may be as long as it likes, and nobody blocks its writer for long.
const (
	writeWait  = 10 * time.Second
	writePiece = 64 << 10
)

// Over returns the listener for the server whose connections these are.
func (c *Connections) Over(l net.Listener) net.Listener { return &bounded{l, c} }

type bounded struct {
	net.Listener
	in *Connections
}

func (l *bounded) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &answering{conn, l.in}, nil
}

// answering is a connection that counts as one that keeps the server waiting
// while its peer has not read what is written to it.
type answering struct {
	net.Conn
	in *Connections
}

func (a *answering) Write(p []byte) (n int, err error) {
	whole := a.in.write(a)
	for {
		if err = a.SetWriteDeadline(time.Now().Add(writeWait)); err != nil {
			return n, err
		}
		wrote, err := a.Conn.Write(p[n:min(len(p), n+writePiece)])
		n += wrote
		switch {
		case err != nil:
			return n, err
		case n == len(p):
			if whole {
				a.in.whole(a)
			}
			return n, nil
		}
		a.in.await(a)
	}
}

// CloseWrite lets the server close its side first, so that an answer to a request
// that was not read to its end is not lost.
func (a *answering) CloseWrite() error {
	if c, ok := a.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return errors.ErrUnsupported
}

// write says that an answer is being written, and whether the request had come
// in whole.
func (c *Connections) write(conn net.Conn) (whole bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	place, known := c.open[conn]
	if !known || place != nil {
		return false
	}
	c.open[conn] = c.waiting.PushBack(conn)
	return true
}
