package poll_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"sfbridge/bridge/apply"
	"sfbridge/bridge/event"
	"sfbridge/bridge/poll"
	"sfbridge/bridge/store"
	"sfbridge/mapping"
)

// These make the test binary a process that dies of an event.
const (
	victimOrg = "POLL_TEST_VICTIM_ORG"
	victimDir = "POLL_TEST_VICTIM_DIR"
)

const poison = "shop:ch_7.v1"

func TestMain(m *testing.M) {
	if url := os.Getenv(victimOrg); url != "" {
		if err := victim(url, os.Getenv(victimDir)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// deadly is an applier that one event kills, with its process.
type deadly struct{ poll.Applier }

func (d deadly) Apply(ctx context.Context, batch []*event.Event) (apply.Report, error) {
	if slices.ContainsFunc(batch, func(e *event.Event) bool { return e.ID == poison }) {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	return d.Applier.Apply(ctx, batch)
}

// victim works once on what is due.
func victim(url, dir string) error {
	client, err := dial(url)
	if err != nil {
		return err
	}
	file, err := mapping.Parse("shop.yaml", []byte(shop))
	if err != nil {
		return err
	}
	applier, err := newApplier(client, mappings{file})
	if err != nil {
		return err
	}
	s, err := store.Open(store.Config{Dir: dir})
	if err != nil {
		return err
	}
	p, err := poll.New(poll.Config{Org: client, Applier: deadly{applier}, Journal: s.Journal(),
		Leases: store.NewMemoryLeases(nil), Owner: "victim"})
	if err != nil {
		return err
	}
	return p.RunOnce(context.Background())
}

func TestEventThatKillsTheProcessGoesToReview(t *testing.T) {
	t.Parallel()
	w := newWorks(t)
	const events = 300
	w.stage(events, 1)
	dir := t.TempDir()
	crashes := 0
	for ; crashes < 20; crashes++ {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), victimOrg+"="+w.url, victimDir+"="+dir)
		out, err := cmd.CombinedOutput()
		if err == nil {
			break
		}
		require.Equal(t, -1, cmd.ProcessState.ExitCode(), "killed, not failed: %s", out)
	}
	assert.Equal(t, 5, crashes)
	assert.Len(t, w.sim.Rows("Payment__c"), events-1)
	for _, e := range w.sim.Rows(event.Object) {
		want := event.Completed
		if e[event.FieldID] == poison {
			want = event.Review
			assert.Equal(t, event.CodeAbandoned, e[event.FieldErrorCode])
		}
		require.Equal(t, string(want), e[event.FieldStatus], e[event.FieldID])
		require.Contains(t, []string{"0", "<nil>"}, fmt.Sprint(e[event.FieldAttempts]), e[event.FieldID])
	}
	s, err := store.Open(store.Config{Dir: dir})
	require.NoError(t, err)
	assert.Empty(t, s.Journal().Suspects(), "everybody else has passed")
	require.NoError(t, s.Close())
}
