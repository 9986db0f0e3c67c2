package app

import (
	"log/slog"
	"net/http"
	"time"

	"sfbridge/bridge/receive"
)

// Bounds of the listeners. A sender that is slower than these is cut off; when
// all connections are taken, the slowest one is, earlier.
const (
	headerWait = 10 * time.Second // for the headers of a request
	readWait   = 30 * time.Second // for a whole request
	idleWait   = 2 * time.Minute  // for the next request on a connection
	maxHeaders = 32 << 10         // more is answered 431

	maxDeliverers = 2000 // connections of providers
	maxOperators  = 100  // connections of operators

	inFlight = 32 << 20 // estimated bytes of the deliveries in flight
)

// server is one of the two listeners' sides, with at most so many connections.
func (b *Bridge) server(h http.Handler, connections int) *http.Server {
	bound := receive.NewConnections(connections, b.metrics.shed.Inc)
	return &http.Server{
		Handler: h, ReadHeaderTimeout: headerWait, ReadTimeout: readWait, IdleTimeout: idleWait,
		MaxHeaderBytes: maxHeaders, ErrorLog: slog.NewLogLogger(b.log.Handler(), slog.LevelDebug),
		ConnState: bound.Track, ConnContext: bound.Context,
	}
}
