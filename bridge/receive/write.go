package receive

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
)

// writeRefusal is the one place where a refusal becomes an HTTP answer.
func writeRefusal(c *gin.Context, r *refusal) {
	if r.retryAfter > 0 {
		seconds := max(1, int((r.retryAfter+time.Second-1)/time.Second))
		c.Header("Retry-After", strconv.Itoa(seconds))
	}
	if r.kind == kindMethod {
		c.Header("Allow", strings.Join(append([]string{http.MethodPost}, r.allow...), ", "))
	}
	if r.last {
		c.Header("Connection", "close")
	}
	if r.bare {
		c.AbortWithStatus(statusOfKind[r.kind])
		return
	}
	c.AbortWithStatusJSON(statusOfKind[r.kind], gin.H{"error": r.kind, "message": r.message})
}

// writeAnswer writes an answer as it is. It may repeat what a stranger sent, so
// nobody is to guess at its type.
func writeAnswer(c *gin.Context, a Answer) {
	for name, value := range a.Headers {
		c.Header(name, value)
	}
	c.Header("X-Content-Type-Options", "nosniff")
	if a.Empty {
		c.Status(a.Status)
		c.Writer.WriteHeaderNow()
		return
	}
	c.Data(a.Status, a.ContentType, a.Body)
}

// maxLogged is how many event ids of one delivery its log line names.
const maxLogged = 20

// log writes the one line of a delivery and counts it. The name of a source
// that isn't configured is a stranger's text and counts as "unknown".
func (h *handler) log(d *delivery, result string, r *refusal) {
	name := "unknown"
	if d.source != nil {
		name = d.source.Name
	}
	if h.cfg.Metrics != nil {
		h.cfg.Metrics.Delivery(name, result)
	}
	attrs := []any{slog.String("source", name), slog.String("decision", result),
		slog.Int64("took_ms", h.cfg.Now().Sub(d.received).Milliseconds())}
	if len(d.events) > 0 {
		attrs = append(attrs, slog.String("event", eventIDs(d)))
		if id := d.events[0].Event.DeliveryID; id != "" { // few providers send one
			attrs = append(attrs, slog.String("delivery", id))
		}
	}
	if r == nil {
		h.cfg.Log.Info("delivery", attrs...)
		return
	}
	h.cfg.Log.Warn("delivery", append(attrs, slog.String("reason", cmp.Or(r.detail, r.message)))...)
}

func eventIDs(d *delivery) string {
	var ids []string
	for i, e := range d.events {
		if i == maxLogged {
			ids = append(ids, fmt.Sprintf("and %d more", len(d.events)-i))
			break
		}
		id := e.Event.ID
		if i < len(d.decided) && d.decided[i].EventID != "" {
			id = d.decided[i].EventID
		}
		ids = append(ids, id)
	}
	return strings.Join(ids, " ")
}

func asError(p any) error {
	err, _ := p.(error)
	return err
}

// panicSite names the function and line that panicked, without its values.
func panicSite() string {
	pcs := make([]uintptr, 16)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(4, pcs)])
	for {
		f, more := frames.Next()
		if strings.HasPrefix(f.Function, "sfbridge/") {
			return fmt.Sprintf("%s:%d", f.Function, f.Line)
		}
		if !more {
			return "unknown"
		}
	}
}
