package keys_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/keys"
	"sfbridge/bridge/outbound"
	"sfbridge/bridge/verify"
)

// provider answers as the test says, and counts.
type provider struct {
	mu     sync.Mutex
	calls  []string
	status int
	err    error
	hold   chan struct{} // nil: answer at once
}

func (p *provider) Do(_ context.Context, r outbound.Request) (outbound.Response, error) {
	p.mu.Lock()
	p.calls = append(p.calls, r.Method+" "+r.URL)
	hold := p.hold
	p.mu.Unlock()
	if hold != nil {
		<-hold
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return outbound.Response{Status: p.status, Body: []byte("key of " + r.URL)}, p.err
}

func (p *provider) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.calls)
}

type bundle struct {
	*keys.Fetcher
	provider *provider
	now      time.Time
}

func setup() *bundle {
	b := &bundle{provider: &provider{status: 200}, now: time.Unix(1767225600, 0)}
	b.Fetcher = keys.New(keys.Config{Client: b.provider, Now: func() time.Time { return b.now }})
	return b
}

const cert = "https://api.paypal.com/v1/notifications/certs/C"

func TestKeysAreKept(t *testing.T) {
	t.Parallel()
	b := setup()
	for range 3 {
		data, err := b.Fetch(verify.Fetch{URL: cert})
		require.NoError(t, err)
		assert.Equal(t, "key of "+cert, string(data))
	}
	assert.Equal(t, 1, b.provider.count())
	b.now = b.now.Add(time.Hour)
	_, err := b.Fetch(verify.Fetch{URL: cert})
	require.NoError(t, err)
	assert.Equal(t, 2, b.provider.count(), "not for ever")
	_, err = b.Fetch(verify.Fetch{URL: "https://sandbox.plaid.com/k", Name: "a", Body: []byte("{}")})
	require.NoError(t, err)
	_, err = b.Fetch(verify.Fetch{URL: "https://sandbox.plaid.com/k", Name: "b", Body: []byte("{}")})
	require.NoError(t, err)
	assert.Equal(t, 4, b.provider.count(), "keys of one address are told apart by name")
	assert.Equal(t, "POST https://sandbox.plaid.com/k", b.provider.calls[3])
}

func TestOnlyTheRightHostsAreAsked(t *testing.T) {
	t.Parallel()
	b := setup()
	for _, address := range []string{
		"http://api.paypal.com/c", "https://api.paypal.com.evil.example/c", "https://evil.example/api.paypal.com", "https://api.paypal.com:8443/c",
		"https://user@api.paypal.com/c", "https://sns.amazonaws.com/c.pem", "https://sns.eu-west-1.amazonaws.com.evil.example/c.pem",
		"https://xsns.eu-west-1.amazonaws.com/c", "https://development.plaid.com/k", "https://127.0.0.1/c", "", "://",
	} {
		_, err := b.Fetch(verify.Fetch{URL: address})
		assert.ErrorIs(t, err, outbound.ErrForbidden, address)
		assert.ErrorIs(t, b.Call(t.Context(), address), outbound.ErrForbidden, address)
	}
	assert.Zero(t, b.provider.count())
}

func TestWhatIsNotThereIsRememberedForAWhile(t *testing.T) {
	t.Parallel()
	b := setup()
	b.provider.status = 404
	for range 3 {
		_, err := b.Fetch(verify.Fetch{URL: cert})
		assert.ErrorIs(t, err, verify.ErrNoSuchKey)
	}
	assert.Equal(t, 1, b.provider.count())
	b.now, b.provider.status = b.now.Add(time.Minute), 200
	_, err := b.Fetch(verify.Fetch{URL: cert})
	assert.NoError(t, err)

	b = setup()
	for _, failure := range []func(){
		func() { b.provider.status = 503 }, func() { b.provider.status = 429 }, func() { b.provider.err = errors.New("no network") },
	} {
		failure()
		_, err := b.Fetch(verify.Fetch{URL: cert})
		require.Error(t, err)
		assert.NotErrorIs(t, err, verify.ErrNoSuchKey, "that it can't be had now says nothing of the key")
	}
	assert.Equal(t, 3, b.provider.count(), "and is tried again")
}

func TestOneRateForAll(t *testing.T) {
	t.Parallel()
	b := setup()
	busy := 0
	for i := range 50 {
		if _, err := b.Fetch(verify.Fetch{URL: fmt.Sprint(cert, i)}); errors.Is(err, keys.ErrBusy) {
			busy++
		}
	}
	assert.Equal(t, 40, busy)
	assert.ErrorIs(t, b.Call(t.Context(), cert), keys.ErrBusy)
	_, err := b.Fetch(verify.Fetch{URL: cert + "0"})
	assert.NoError(t, err, "what is kept costs nothing")
	b.now = b.now.Add(time.Second)
	assert.NoError(t, b.Call(t.Context(), cert))
	b.now, b.provider.status = b.now.Add(time.Second), 500
	assert.Error(t, b.Call(t.Context(), cert))
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	b := setup()
	for i := range 1000 {
		b.now = b.now.Add(time.Second)
		_, err := b.Fetch(verify.Fetch{URL: fmt.Sprint(cert, i)})
		require.NoError(t, err)
	}
	before := b.provider.count()
	_, err := b.Fetch(verify.Fetch{URL: fmt.Sprint(cert, 999)})
	require.NoError(t, err)
	assert.Equal(t, before, b.provider.count())
	_, err = b.Fetch(verify.Fetch{URL: fmt.Sprint(cert, 700)})
	require.NoError(t, err)
	assert.Equal(t, before+1, b.provider.count(), "the oldest made room")
}

func TestAskedAtOnceIsAskedOnce(t *testing.T) {
	t.Parallel()
	b := setup()
	b.provider.hold = make(chan struct{})
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			_, err := b.Fetch(verify.Fetch{URL: cert})
			assert.NoError(t, err)
		})
	}
	close(b.provider.hold)
	all.Wait()
	assert.Equal(t, 1, b.provider.count())
}
