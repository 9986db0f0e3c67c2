package receive

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"sfbridge/bridge/identify"
	"sfbridge/bridge/verify"
	"sfbridge/internal/failpoint"
)

// Metrics is told of every delivery. nil: nobody.
type Metrics interface {
	Delivery(source, result string)
	Secret(source, position string)
}

// Config joins what the receiver needs.
type Config struct {
	Sources   Sources
	Stager    Stager
	PublicURL string        // scheme and host that providers call, without a slash at the end
	Timeout   time.Duration // how long a delivery may wait to be durable; 10 s
	Memory    *Pool         // what deliveries in flight may take; nil: no bound
	Metrics   Metrics
	Log       *slog.Logger     // nil: discarded
	Now       func() time.Time // nil: time.Now
}

type handler struct{ cfg Config }

// badSignature is all that a forger learns.
const badSignature = "the signature was not accepted"

// readyWait bounds a readiness check.
const readyWait = 1500 * time.Millisecond

// NewHandler returns the routes of the receiver.
func NewHandler(cfg Config) http.Handler {
	if cfg.Timeout <= 0 {
		cfg.Timeout = 10 * time.Second
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	h := &handler{cfg: cfg}
	gin.SetMode(gin.ReleaseMode)
	routes := gin.New()
	routes.RedirectTrailingSlash = false
	routes.RedirectFixedPath = false
	routes.Use(h.recover)
	routes.Any("/webhooks/:source", h.webhook)
	routes.GET("/healthz", Healthz)
	routes.GET("/readyz", h.readyz)
	routes.NoRoute(h.elsewhere)
	return routes
}

// elsewhere answers what has no route: methods that the router doesn't know are
// refused as methods, by the same checks as all others.
func (h *handler) elsewhere(c *gin.Context) {
	name, found := strings.CutPrefix(c.Request.URL.Path, "/webhooks/")
	if found && name != "" && !strings.Contains(name, "/") {
		c.Params = gin.Params{{Key: "source", Value: name}}
		h.webhook(c)
		return
	}
	writeRefusal(c, refuse(kindUnknownSource, "no such address; deliveries go to /webhooks/{source}"))
}

// Healthz says that the process is alive. It never looks at dependencies.
func Healthz(c *gin.Context) { c.JSON(http.StatusOK, gin.H{"status": "alive"}) }

func (h *handler) readyz(c *gin.Context) {
	hasCome(c.Request)
	ctx, cancel := context.WithTimeout(c.Request.Context(), readyWait)
	defer cancel()
	if err := h.cfg.Stager.Ready(ctx); err != nil {
		h.cfg.Log.Warn("not ready: nowhere durable to write", "error", err)
		c.JSON(http.StatusServiceUnavailable, gin.H{"status": "unavailable"})
		return
	}
	c.JSON(http.StatusOK, gin.H{"status": "ready"})
}

// recover turns a panic into 503, so that the sender sends again. The panic's
// text may hold payload and stays out of the log.
func (h *handler) recover(c *gin.Context) {
	defer func() {
		if p := recover(); p != nil {
			if errors.Is(asError(p), http.ErrAbortHandler) {
				panic(p)
			}
			h.cfg.Log.Error("a delivery made the receiver panic", "path", c.FullPath(), "at", panicSite())
			writeRefusal(c, &refusal{kind: kindUnavailable, message: "not stored; send it again later", retryAfter: retryLater})
		}
	}()
	c.Next()
}

// webhook brings one delivery to its answer and its log line.
func (h *handler) webhook(c *gin.Context) {
	d := &delivery{received: h.cfg.Now(), name: c.Param("source"), verified: verify.Result{Secret: -1}}
	d.held = hold{pool: h.cfg.Memory, source: d.name, conn: http.NewResponseController(c.Writer), now: h.cfg.Now}
	defer d.held.release()
	answer, err := h.receive(c.Request, d)
	if err != nil {
		r := refusalOf(err)
		r.bare = d.source != nil && d.source.BareRefusals && r.kind == kindBadSignature
		writeRefusal(c, r)
		h.log(d, r.kind, r)
		return
	}
	if d.source.Success != nil && !answer.handshake {
		answer.Answer = answer.as(*d.source.Success)
	}
	failpoint.Hit(failpoint.ReceiveDurable)
	writeAnswer(c, answer.Answer)
	failpoint.Hit(failpoint.ReceiveAnswered)
	h.log(d, answer.result, nil)
}

// delivery is what is known of a request as it passes the checks.
type delivery struct {
	received time.Time
	name     string
	source   *Source
	verified verify.Result
	held     hold
	events   []identify.Identified
	decided  []decided
}

// receive makes the checks in their fixed order.
func (h *handler) receive(r *http.Request, d *delivery) (reply, error) {
	d.source = h.cfg.Sources(d.name)
	if d.source == nil {
		return reply{}, refuse(kindUnknownSource, "no source of this name is configured")
	}
	if r.Method != http.MethodPost && !slices.Contains(d.source.Methods, r.Method) {
		return reply{}, noMethod(d.source)
	}
	if l := d.source.Limiter; l != nil && l.TokensAt(d.received) < 1 {
		return reply{}, tooMany()
	}
	if r.Method != http.MethodPost {
		hasCome(r)
		answer, found, err := h.handshake(r, d, nil, nil)
		if err == nil && !found {
			err = noMethod(d.source)
		}
		return answer, err
	}
	b, err := d.take(r)
	if err != nil {
		return reply{}, err
	}
	arrived(r.Context())
	if refused := h.verify(r, d, b); refused != nil {
		answer, found, err := h.unsigned(r, d, b)
		if found || err != nil {
			return answer, err
		}
		return reply{}, refused
	}
	return h.verified(r, d, b)
}

// take reads the body within the memory that the source may have.
func (d *delivery) take(r *http.Request) (body, error) {
	d.held.begin()
	b, err := readBody(r, d.source, &d.held)
	if err == nil {
		err = d.held.whole(cost(int64(len(b.plain))))
	}
	if err == nil {
		return b, nil
	}
	d.held.rest(r, d.source.MaxBody)
	return body{}, d.held.why(err)
}

// verified takes what comes from the provider.
func (h *handler) verified(r *http.Request, d *delivery, b body) (reply, error) {
	if len(b.plain) == 0 {
		return reply{}, refuse(kindBadRequest, "empty body")
	}
	doc, err := d.source.Identifier.Read(identify.Delivery{Header: r.Header, Body: b.plain, ReceivedAt: d.received})
	if err != nil {
		return reply{}, err
	}
	if answer, found, err := h.handshake(r, d, b.plain, doc.Value); found || err != nil {
		return answer, err
	}
	if d.events, err = doc.Events(); err != nil {
		return reply{}, err
	}
	if !d.source.within(len(d.events), d.received) {
		return reply{}, tooMany()
	}
	if o := d.source.Once; o != nil && len(d.events) > 0 && !o.take(doc.Value, d.events[0].Event.ID, d.received) {
		return reply{}, &refusal{kind: kindBadSignature, message: badSignature, detail: "its token came before with another event"}
	}
	failpoint.Hit(failpoint.ReceiveVerified)
	return h.stage(r.Context(), d)
}

// maxUnsigned bounds what is looked at of a delivery without a right signature.
const maxUnsigned = 4 << 10

// unsigned looks whether a delivery that isn't rightly signed is a handshake
// which needs no signature.
func (h *handler) unsigned(r *http.Request, d *delivery, b body) (reply, bool, error) {
	if len(b.plain) > maxUnsigned || d.verified.Reason == verify.KeyUnavailable {
		return reply{}, false, nil
	}
	return h.handshake(r, d, b.plain, nil)
}

// handshake carries out what the request asks for, if it is a handshake.
func (h *handler) handshake(r *http.Request, d *delivery, plain []byte, value any) (reply, bool, error) {
	if d.source.Handshake == nil {
		return reply{}, false, nil
	}
	done, found, err := d.source.Handshake(r.Context(), Ask{
		Method: r.Method, Query: r.URL.Query(), Header: r.Header, Body: plain, Value: value,
		Signed: d.verified.Valid, Secret: d.verified.Secret,
	})
	if err != nil || !found {
		return reply{}, found, err
	}
	answer, err := handshakeReply(done)
	return answer, true, err
}

// verify checks the signature over the bytes that the provider signs.
func (h *handler) verify(r *http.Request, d *delivery, b body) error {
	signed := b.plain
	if d.source.SignsWire {
		signed = b.wire
	}
	d.verified = d.source.Verifier.Verify(verify.Request{
		Method: r.Method, URL: publicURL(h.cfg.PublicURL, r), Header: r.Header, Body: signed, Now: d.received,
	})
	switch {
	case d.verified.Reason == verify.KeyUnavailable:
		return errors.New("the key that signs could not be fetched")
	case !d.verified.Valid:
		return &refusal{kind: kindBadSignature, message: badSignature, detail: string(d.verified.Reason)}
	}
	if h.cfg.Metrics != nil && d.verified.Secret >= 0 {
		h.cfg.Metrics.Secret(d.name, strconv.Itoa(d.verified.Secret))
	}
	return nil
}
