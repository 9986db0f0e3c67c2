package storetest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/store"
)

// patience bounds every wait for a server of a test.
const patience = 30 * time.Second

// Server is a Redis server of a test's own. It lives in a folder of the test,
// which a restart finds again.
type Server struct {
	Port int
	args []string
	dir  string
	name string

	mu  sync.Mutex
	cmd *exec.Cmd
	out *bytes.Buffer
}

// Need finds a program of Debian's redis packages. Without it the test is
// skipped, but fails where CI is true.
func Need(t testing.TB, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is missing: apt-get install -y redis-server redis-sentinel", program)
	}
	t.Skipf("%s is missing: apt-get install -y redis-server redis-sentinel", program)
}

// Durable are the settings of a server that loses nothing.
func Durable() []string {
	return []string{"--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction"}
}

// StartRedis starts a server with more arguments than it needs to run.
func StartRedis(t testing.TB, args ...string) *Server {
	t.Helper()
	Need(t, "redis-server")
	s := &Server{Port: FreePort(t), args: args, dir: t.TempDir(), name: "redis-server"}
	s.Start(t)
	t.Cleanup(s.stop)
	return s
}

// FreePort is a port that nobody listens on now.
func FreePort(t testing.TB) int {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close() //nolint:errcheck // nothing was accepted
	address, ok := l.Addr().(*net.TCPAddr)
	require.True(t, ok)
	return address.Port
}

// Address is host:port of the server.
func (s *Server) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port)) }

// URL names the server as store.redis does.
func (s *Server) URL() string { return "redis://" + s.Address() }

// Start starts the server again on its port and data, and waits until it answers.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	s.Launch(t)
	c := s.Client(t)
	Eventually(t, s.name+" does not answer", func(ctx context.Context) bool { return c.Ping(ctx).Err() == nil })
}

// Launch starts the server and does not wait for it.
func (s *Server) Launch(t testing.TB) {
	t.Helper()
	args := append([]string{"--port", strconv.Itoa(s.Port), "--bind", "127.0.0.1", "--dir", s.dir, "--save", ""}, s.args...)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out = &bytes.Buffer{}
	s.cmd = exec.Command(s.name, args...) //nolint:noctx // outlives the test's context, until its cleanup
	s.cmd.Stdout, s.cmd.Stderr = s.out, s.out
	require.NoError(t, s.cmd.Start())
}

// Kill ends the server as kill -9 does.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	s.stop()
}

func (s *Server) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	s.cmd = nil
}

// Signal sends a signal to the server: SIGSTOP, SIGCONT.
func (s *Server) Signal(t testing.TB, sig os.Signal) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	require.NotNil(t, s.cmd, "the server does not run")
	require.NoError(t, s.cmd.Process.Signal(sig))
}

// Client talks to the server directly.
func (s *Server) Client(t testing.TB) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: s.Address(), DialTimeout: time.Second, MaxRetries: -1})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// Open connects to a URL.
func Open(t testing.TB, url string) *store.Redis {
	t.Helper()
	r, err := store.OpenRedis(url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// Eventually waits until something holds.
func Eventually(t testing.TB, what string, holds func(ctx context.Context) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds(ctx) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal(what)
		}
	}
}

// StartCluster starts three masters that share the slots, and gives the URL.
func StartCluster(t testing.TB, args ...string) (url string, nodes []*Server) {
	t.Helper()
	return StartClusterOf(t, 0, args...)
}

// StartClusterOf starts a cluster with so many replicas for each of its three
// masters. The masters come first.
func StartClusterOf(t testing.TB, replicas int, args ...string) (url string, nodes []*Server) {
	t.Helper()
	Need(t, "redis-cli")
	var addresses []string
	for range 3 * (1 + replicas) {
		s := StartRedis(t, append([]string{"--cluster-enabled", "yes", "--cluster-node-timeout", "2000", "--cluster-port", strconv.Itoa(FreePort(t))}, args...)...)
		nodes, addresses = append(nodes, s), append(addresses, s.Address())
	}
	create := append([]string{"--cluster", "create"}, addresses...)
	out, err := exec.CommandContext(t.Context(), "redis-cli", append(create, "--cluster-yes", "--cluster-replicas", strconv.Itoa(replicas))...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, n := range nodes {
		c := n.Client(t)
		Eventually(t, "the cluster is not complete", func(ctx context.Context) bool {
			info, err := c.ClusterInfo(ctx).Result()
			return err == nil && bytes.Contains([]byte(info), []byte("cluster_state:ok"))
		})
	}
	return "redis-cluster://" + addresses[0] + "," + addresses[1], nodes
}

// StartSentinel starts a master, a replica and three sentinels that watch them,
// and gives the URL.
func StartSentinel(t testing.TB, args ...string) (url string, master, replica *Server) {
	t.Helper()
	Need(t, "redis-sentinel")
	master = StartRedis(t, args...)
	replica = StartRedis(t, append([]string{"--replicaof", "127.0.0.1 " + strconv.Itoa(master.Port)}, args...)...)
	url = "redis-sentinel://"
	for i := range 3 {
		s := &Server{Port: FreePort(t), dir: t.TempDir(), name: "redis-sentinel"}
		file := filepath.Join(s.dir, "sentinel.conf")
		text := fmt.Sprintf("sentinel monitor mymaster 127.0.0.1 %d 2\nsentinel down-after-milliseconds mymaster 500\n"+
			"sentinel failover-timeout mymaster 3000\n", master.Port)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		s.sentinel(t, file)
		if i > 0 {
			url += ","
		}
		url += s.Address()
	}
	c := master.Client(t)
	Eventually(t, "the replica does not follow", func(ctx context.Context) bool {
		info, err := c.Info(ctx, "replication").Result()
		return err == nil && bytes.Contains([]byte(info), []byte("state=online"))
	})
	return url + "/mymaster", master, replica
}

// sentinel starts a sentinel with a file that it may write to, and waits until
// it knows the replica and its mates.
func (s *Server) sentinel(t testing.TB, file string) {
	t.Helper()
	s.mu.Lock()
	s.out = &bytes.Buffer{}
	s.cmd = exec.Command(s.name, file, "--port", strconv.Itoa(s.Port), "--bind", "127.0.0.1", "--dir", s.dir) //nolint:noctx // until its cleanup
	s.cmd.Stdout, s.cmd.Stderr = s.out, s.out
	err := s.cmd.Start()
	s.mu.Unlock()
	require.NoError(t, err)
	t.Cleanup(s.stop)
	c := redis.NewSentinelClient(&redis.Options{Addr: s.Address(), MaxRetries: -1})
	t.Cleanup(func() { _ = c.Close() })
	Eventually(t, "a sentinel does not know the replica", func(ctx context.Context) bool {
		found, err := c.Replicas(ctx, "mymaster").Result()
		return err == nil && len(found) == 1
	})
}
