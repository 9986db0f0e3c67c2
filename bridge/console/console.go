package console

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"golang.org/x/time/rate"

	"sfbridge/bridge/event"
	"sfbridge/bridge/operate"
)

// Desk is what operators do with rows.
type Desk interface {
	Page(ctx context.Context, f operate.Filter, from operate.Cursor) ([]*event.Event, operate.Cursor, error)
	Groups(ctx context.Context, f operate.Filter) ([]operate.Group, error)
	Show(ctx context.Context, id string) (operate.Story, error)
	Effects(ctx context.Context, f operate.EffectFilter) ([]operate.StoredEffect, error)
	Replay(ctx context.Context, o operate.Order) (operate.Report, error)
	Discard(ctx context.Context, o operate.Order) (operate.Report, error)
	Accept(ctx context.Context, o operate.Order) (operate.Report, error)
}

// View gives something that the process knows, ready to be written as JSON.
type View func(ctx context.Context) (any, error)

// Config joins what the API needs.
type Config struct {
	Desk  Desk
	Token string // of every request; must not be empty

	Stats   View // an object of numbers
	Drift   View // a list: the last comparison of each source
	Sources View // a list: the configured sources

	// Spool is what waits beside the org for a person; nil: this process has none.
	Spool Spool

	// Rate is how many requests a second are answered, and Burst how many at
	// once; 20 and 40.
	Rate  float64
	Burst int
	// Timeout bounds a request that only reads, ActionTimeout one that changes
	// rows; 30 s and 10 min.
	Timeout, ActionTimeout time.Duration

	Log *slog.Logger // default: discards
}

func (c Config) withDefaults() Config {
	if c.Rate == 0 {
		c.Rate = 20
	}
	if c.Burst == 0 {
		c.Burst = 40
	}
	if c.Timeout == 0 {
		c.Timeout = 30 * time.Second
	}
	if c.ActionTimeout == 0 {
		c.ActionTimeout = 10 * time.Minute
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

func (c Config) validate() error {
	switch {
	case c.Desk == nil || c.Stats == nil || c.Drift == nil || c.Sources == nil:
		return errors.New("console: a part is missing")
	case c.Token == "":
		return errors.New("console: an empty token")
	case c.Rate < 0 || c.Burst < 0:
		return errors.New("console: a negative rate")
	}
	return nil
}

// The document that describes the routes.
//
//go:embed openapi.yaml
var openAPI []byte

type api struct {
	cfg    Config
	token  [sha256.Size]byte
	calls  *rate.Limiter // of those who know the token
	misses *rate.Limiter // of those who don't
}

// NewHandler returns the routes under /admin/v1.
func NewHandler(cfg Config) (http.Handler, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	a := &api{
		cfg: cfg, token: sha256.Sum256([]byte(cfg.Token)),
		calls:  rate.NewLimiter(rate.Limit(cfg.Rate), cfg.Burst),
		misses: rate.NewLimiter(1, 5),
	}
	return a.routes(), nil
}

func (a *api) routes() *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	routes := gin.New()
	routes.RedirectTrailingSlash = false
	routes.RedirectFixedPath = false
	routes.HandleMethodNotAllowed = true
	// An event id may hold slashes, which callers write as %2F.
	routes.UseRawPath = true
	routes.UnescapePathValues = false
	routes.Use(a.recover, a.authorize)
	routes.NoRoute(func(c *gin.Context) { refuse(c, notFound("there is no such route")) })
	routes.NoMethod(func(c *gin.Context) { refuse(c, wrongMethod()) })
	desk := a.cfg.Desk
	replay, discard, accept := action{"replay", desk.Replay}, action{"discard", desk.Discard}, action{"accept", desk.Accept}
	v1 := routes.Group("/admin/v1")
	v1.GET("/openapi.yaml", func(c *gin.Context) { c.Data(http.StatusOK, "application/yaml", openAPI) })
	v1.GET("/events", a.events)
	v1.GET("/groups", a.groups)
	v1.GET("/events/:id", a.event)
	v1.GET("/events/:id/history", a.history)
	v1.POST("/events/:id/replay", a.one(replay))
	v1.POST("/events/:id/discard", a.one(discard))
	v1.POST("/events/:id/accept", a.one(accept))
	v1.POST("/replay", a.many(replay))
	v1.POST("/discard", a.many(discard))
	v1.POST("/accept", a.many(accept))
	v1.GET("/effects", a.effects)
	v1.GET("/stats", a.view(a.cfg.Stats, "stats"))
	v1.GET("/drift", a.view(a.cfg.Drift, "drift"))
	v1.GET("/sources", a.view(a.cfg.Sources, "sources"))
	a.spoolRoutes(v1)
	return routes
}
