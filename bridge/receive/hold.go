package receive

import (
	"container/list"
	"io"
	"net/http"
	"time"
)

// bodyPatience is how long a body may be coming before it may have to make room
// for another.
const bodyPatience = 5 * time.Second

// hold is what one delivery has taken of the pool. What stands below since is
// the pool's.
type hold struct {
	pool   *Pool // nil: no bound
	source string
	conn   *http.ResponseController // whose reading is ended when the body is broken off
	now    func() time.Time

	since  time.Time     // when the body began to come
	place  *list.Element // among the bodies that are coming; nil: it isn't
	bytes  int64
	broken bool
}

// begin says that the body begins to come.
func (h *hold) begin() {
	if h.pool == nil {
		return
	}
	h.since = h.now()
	h.pool.mu.Lock()
	defer h.pool.mu.Unlock()
	h.pool.await(h)
}

// grow takes more; the refusal tells the sender to come again.
func (h *hold) grow(n int64) error {
	if h.pool == nil || h.pool.grow(h, n) {
		return nil
	}
	return &refusal{kind: kindRateLimited, retryAfter: soon,
		message: "more deliveries at once than can be taken; send it again",
		detail:  "the source's deliveries in flight take all the memory they may"}
}

// whole says that the body has come, and takes what else its delivery costs.
func (h *hold) whole(n int64) error {
	if h.pool == nil {
		return nil
	}
	h.pool.mu.Lock()
	h.pool.arrived(h)
	h.pool.mu.Unlock()
	return h.grow(n)
}

// why is the refusal of a body that could not be read: err, unless it was broken
// off.
func (h *hold) why(err error) error {
	if !h.wasBroken() {
		return err
	}
	return &refusal{kind: kindRateLimited, retryAfter: soon, last: true,
		message: "it came too slowly while others wait; send it again",
		detail:  "the body came too slowly, and the source's deliveries in flight take all the memory they may"}
}

func (h *hold) wasBroken() bool {
	if h.pool == nil {
		return false
	}
	h.pool.mu.Lock()
	defer h.pool.mu.Unlock()
	return h.broken
}

// cut ends the reading of the body.
func (h *hold) cut() { _ = h.conn.SetReadDeadline(time.Unix(1, 0)) }

// restWait is how long the rest of a body that was broken off may come, unread:
// a sender that is still sending might not hear its answer.
const restWait = time.Second

// rest takes in what is left of a body that was broken off.
func (h *hold) rest(r *http.Request, most int64) {
	if h.wasBroken() && h.conn.SetReadDeadline(h.now().Add(restWait)) == nil {
		_, _ = io.CopyN(io.Discard, r.Body, most)
	}
}

// release gives everything back.
func (h *hold) release() {
	if h.pool == nil {
		return
	}
	h.pool.mu.Lock()
	defer h.pool.mu.Unlock()
	h.pool.drop(h)
}
