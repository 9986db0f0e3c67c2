package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// noRedis says what to do when there is no Redis to measure with.
const noRedis = "redis-server is not installed: apt-get install redis-server (Debian, Ubuntu), brew install redis (macOS)"

// redisServer is a Redis of the run's own that keeps every write on the disk
// before it answers.
type redisServer struct {
	*child
	address string
}

// startRedis starts a server. found is false where none is installed.
func (w *world) startRedis(ctx context.Context) (s *redisServer, found bool, err error) {
	path, err := exec.LookPath("redis-server")
	if errors.Is(err, exec.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	port, err := freePort(ctx)
	if err != nil {
		return nil, false, err
	}
	w.folders++
	dir := filepath.Join(w.dir, fmt.Sprint("redis-", w.folders))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, false, err
	}
	c, err := begin(ctx, path, []string{
		"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--dir", dir, "--save", "",
		"--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction",
	}, nil)
	if err != nil {
		return nil, false, err
	}
	s = &redisServer{child: c, address: net.JoinHostPort("127.0.0.1", strconv.Itoa(port))}
	if err := wait(ctx, 5*time.Millisecond, func() (bool, error) { return s.answers(ctx) }); err != nil {
		return nil, false, errors.Join(fmt.Errorf("redis-server does not answer: %w", err), s.Stop())
	}
	return s, true, nil
}

// answers says whether the server takes commands.
func (s *redisServer) answers(ctx context.Context) (bool, error) {
	if s.over() {
		return false, errors.New("it has ended")
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", s.address)
	if err != nil {
		return false, nil // not yet
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return false, err
	}
	reply := make([]byte, 64)
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return false, nil
	}
	n, err := conn.Read(reply)
	return err == nil && strings.HasPrefix(string(reply[:n]), "+PONG"), nil
}

// URL names the server as store.redis does.
func (s *redisServer) URL() string { return "redis://" + s.address }

// freePort is a port that nobody listens on now.
func freePort(ctx context.Context) (int, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	_, text, err := net.SplitHostPort(l.Addr().String())
	if err == nil {
		err = l.Close()
	}
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(text)
}
