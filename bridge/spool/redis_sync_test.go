package spool_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/spool"
	"sfbridge/bridge/store"
)

// master is a server that speaks as much of the protocol as an append needs, for
// what older servers don't have: WAITAOF.
type master struct {
	replies map[string]string // by command; else what a durable server says

	mu    sync.Mutex
	heard [][]string // commands of appends, by connection
}

const okReply = "+OK\r\n"

// open starts the server, and an engine on it that is to wait for the disks of a
// replica.
func (m *master) open(t *testing.T) *spool.Redis {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var work sync.WaitGroup
	work.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			work.Go(func() { m.serve(c) })
		}
	})
	client := redis.NewClient(&redis.Options{Addr: l.Addr().String(), DisableIdentity: true, MaxRetries: -1})
	e := spool.OpenRedis(spool.RedisConfig{Store: &store.Redis{Client: client, Replicated: true}, Consumer: "c"})
	t.Cleanup(func() {
		_ = e.Close()
		_ = client.Close()
		_ = l.Close()
		work.Wait()
	})
	return e
}

func (m *master) serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	var said []string
	for {
		words, err := readCommand(in)
		if err != nil {
			break
		}
		command := strings.ToUpper(words[0])
		if command == "XADD" || command == "WAITAOF" {
			said = append(said, strings.Join(append([]string{command}, words[1:]...), " "))
		}
		if command == "WAITAOF" && words[1] != "0" {
			m.mu.Lock()
			m.heard = append(m.heard, said)
			m.mu.Unlock()
			said = nil
		}
		if _, err := io.WriteString(c, m.reply(words)); err != nil {
			break
		}
	}
}

func (m *master) reply(words []string) string {
	command := strings.ToUpper(words[0])
	if text, ok := m.replies[command]; ok {
		return text
	}
	switch command {
	case "CONFIG":
		value := map[string]string{"appendonly": "yes", "appendfsync": "everysec", "maxmemory-policy": "noeviction"}[words[2]]
		return fmt.Sprintf("*2\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(words[2]), words[2], len(value), value)
	case "XADD":
		return "$3\r\n1-1\r\n"
	case "WAITAOF":
		return "*2\r\n:1\r\n:1\r\n"
	case "HELLO":
		return "-ERR unknown command\r\n"
	}
	return okReply
}

// readCommand reads an array of bulk strings.
func readCommand(in *bufio.Reader) ([]string, error) {
	number := func(kind byte) (int, error) {
		line, err := in.ReadString('\n')
		if err != nil || line[0] != kind {
			return 0, fmt.Errorf("%q: %w", line, err)
		}
		return strconv.Atoi(strings.TrimSpace(line[1:]))
	}
	count, err := number('*')
	if err != nil {
		return nil, err
	}
	words := make([]string, count)
	for i := range words {
		size, err := number('$')
		if err != nil {
			return nil, err
		}
		text := make([]byte, size+2)
		if _, err := io.ReadFull(in, text); err != nil {
			return nil, err
		}
		words[i] = string(text[:size])
	}
	return words, nil
}

// Behind a failover an entry is durable when a replica has it on its disk too:
// the wait is the last command of the same pipeline.
func TestAnAppendWaitsForTheDiskOfAReplica(t *testing.T) {
	t.Parallel()
	m := &master{}
	e := m.open(t)
	require.NoError(t, e.Check(context.Background()))
	require.NoError(t, e.Append(t.Context(), []spool.Entry{{Queue: "B00", Data: []byte("1")}, {Queue: "B01", Data: []byte("2")}}))
	m.mu.Lock()
	defer m.mu.Unlock()
	assert.Equal(t, [][]string{{
		"XADD bridge:{B00}:spool * d 1", "XADD bridge:{B01}:spool * d 2", "WAITAOF 1 1 2000",
	}}, withoutChecks(m.heard))
}

// withoutChecks leaves out the looks whether the server has the command.
func withoutChecks(heard [][]string) [][]string {
	for i, said := range heard {
		var kept []string
		for _, s := range said {
			if !strings.HasPrefix(s, "WAITAOF 0") {
				kept = append(kept, s)
			}
		}
		heard[i] = kept
	}
	return heard
}

func TestWhatNoReplicaHasIsNotDurable(t *testing.T) {
	t.Parallel()
	for name, replies := range map[string]map[string]string{
		"no replica in time":       {"WAITAOF": "*2\r\n:1\r\n:0\r\n"},
		"not on the disk here":     {"WAITAOF": "*2\r\n:0\r\n:1\r\n"},
		"an answer of one number":  {"WAITAOF": "*1\r\n:1\r\n"},
		"an answer of another way": {"WAITAOF": okReply},
		"the entry is refused":     {"XADD": "-READONLY You can't write against a read only replica.\r\n"},
		"no room":                  {"XADD": "-OOM command not allowed when used memory > 'maxmemory'.\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := (&master{replies: replies}).open(t)
			assert.Error(t, e.Append(t.Context(), []spool.Entry{{Queue: "B00", Data: []byte("1")}}))
		})
	}
	old := (&master{replies: map[string]string{"WAITAOF": "-ERR unknown command 'WAITAOF'\r\n"}}).open(t)
	var n *spool.NotDurable
	require.ErrorAs(t, old.Check(t.Context()), &n)
	assert.ErrorContains(t, n, "7.2")
}
