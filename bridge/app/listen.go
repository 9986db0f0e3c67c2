package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"

	"sfbridge/bridge/receive"
)

// Bounds of the listeners. A sender that is slower than these is cut off, and one
// that doesn't read its answer is too (package receive); when all connections are
// taken, the slowest one is, earlier.
const (
	headerWait = 10 * time.Second // for the headers of a request
	readWait   = 30 * time.Second // for a whole request
	idleWait   = 2 * time.Minute  // for the next request on a connection
	maxHeaders = 32 << 10         // more is answered 431

	maxDeliverers = 2000 // connections of providers
	maxOperators  = 100  // connections of operators

	inFlight = 32 << 20 // estimated bytes of the deliveries in flight
)

// listenOn listens on the address of a setting.
func listenOn(ctx context.Context, setting, address string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s: %s is in use: end the process that listens there, or set %[1]s to another port", setting, address)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("%s: %s may not be listened on by this user: set %[1]s to a port from 1024 on", setting, address)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("%s: %s is no address of this machine: set %[1]s to one that is", setting, address)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
	return l, nil
}

// side is one of the two listeners' sides.
type side struct {
	*http.Server
	conns *receive.Connections
}

// server is a side with at most so many connections.
func (b *Bridge) server(h http.Handler, connections int) side {
	bound := receive.NewConnections(connections, b.metrics.shed.Inc)
	return side{conns: bound, Server: &http.Server{
		Handler: h, ReadHeaderTimeout: headerWait, ReadTimeout: readWait, IdleTimeout: idleWait,
		MaxHeaderBytes: maxHeaders, ErrorLog: slog.NewLogLogger(b.log.Handler(), slog.LevelDebug),
		ConnState: bound.Track, ConnContext: bound.Context,
	}}
}

// Serve answers on the listener until the side is closed, which is no error.
func (s side) Serve(l net.Listener) error {
	if err := s.Server.Serve(s.conns.Over(l)); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
