// Package bare is the least that takes signed webhooks durably, to compare the
// bridge with: Gin reads the body, HMAC-SHA256 verifies Stripe's signature, one
// XADD writes the body to Redis, 202 is answered. It knows no duplicates, no
// order, no records, and nothing brings what it has written anywhere.
//
//	s, err := bare.Start(ctx, bare.Config{Secret: "whsec_…", Redis: "redis://127.0.0.1:6379"})
//	defer s.Close()
package bare

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/redis/go-redis/v9"
)

// Config says what to serve.
type Config struct {
	Secret string // of the signatures
	Redis  string // URL
}

const (
	maxBody = 1 << 20
	stream  = "bare"
	// connections to Redis. With appendfsync always each waits for the disk, so
	// that a few would be what limits the figure.
	connections = 256
	headerWait  = 10 * time.Second
	writeWait   = 3 * time.Second
)

// Server is a running bare server.
type Server struct {
	cfg   Config
	redis *redis.Client
	http  *http.Server
	url   string
	ended chan error
}

// Start listens on a free port of loopback and serves.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	options, err := redis.ParseURL(cfg.Redis)
	if err != nil {
		return nil, fmt.Errorf("the URL of Redis: %w", err)
	}
	options.PoolSize = connections
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, redis: redis.NewClient(options), url: "http://" + listener.Addr().String(), ended: make(chan error, 1)}
	gin.SetMode(gin.ReleaseMode)
	routes := gin.New()
	routes.POST("/webhooks/stripe", s.receive)
	routes.GET("/readyz", s.ready)
	routes.GET("/metrics", metrics)
	s.http = &http.Server{Handler: routes, ReadHeaderTimeout: headerWait}
	go func() { s.ended <- s.http.Serve(listener) }()
	return s, nil
}

// URL is where it listens.
func (s *Server) URL() string { return s.url }

// Close ends serving.
func (s *Server) Close() error {
	err := s.http.Close()
	if ended := <-s.ended; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return errors.Join(err, s.redis.Close())
}

func (s *Server) receive(c *gin.Context) {
	body, err := io.ReadAll(io.LimitReader(c.Request.Body, maxBody))
	if err != nil {
		c.Status(http.StatusBadRequest)
		return
	}
	if !s.signed(c.GetHeader("Stripe-Signature"), body) {
		c.Status(http.StatusUnauthorized)
		return
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), writeWait)
	defer cancel()
	if err := s.redis.XAdd(ctx, &redis.XAddArgs{Stream: stream, Values: []any{"d", body}}).Err(); err != nil {
		c.Status(http.StatusServiceUnavailable)
		return
	}
	c.JSON(http.StatusAccepted, gin.H{"status": "accepted"})
}

// signed checks "t=SECONDS,v1=HEX" over "SECONDS.body".
func (s *Server) signed(header string, body []byte) bool {
	at, signature, found := strings.Cut(strings.TrimPrefix(header, "t="), ",v1=")
	got, err := hex.DecodeString(signature)
	if !found || err != nil {
		return false
	}
	mac := hmac.New(sha256.New, []byte(s.cfg.Secret))
	mac.Write([]byte(at))
	mac.Write([]byte{'.'})
	mac.Write(body)
	return hmac.Equal(mac.Sum(nil), got)
}

func (s *Server) ready(c *gin.Context) {
	ctx, cancel := context.WithTimeout(c.Request.Context(), writeWait)
	defer cancel()
	if err := s.redis.Ping(ctx).Err(); err != nil {
		c.Status(http.StatusServiceUnavailable)
		return
	}
	c.Status(http.StatusOK)
}

// metrics tells the allocations under the name that Go's collector uses.
func metrics(c *gin.Context) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	c.String(http.StatusOK, "go_memstats_mallocs_total %d\n", m.Mallocs)
}
