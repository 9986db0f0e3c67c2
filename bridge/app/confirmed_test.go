package app

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/store/storetest"
	"sfbridge/config"
	"sfbridge/salesforce"
)

// loggedIn is a login into whatever org the test says.
type loggedIn struct {
	org string
	err error
}

func (l *loggedIn) Session(context.Context) (salesforce.Session, error) {
	return salesforce.Session{Token: "T", Instance: "https://acme.my.salesforce.com", Org: l.org}, l.err
}

func (l *loggedIn) Renew(ctx context.Context, _ salesforce.Session) (salesforce.Session, error) {
	return l.Session(ctx)
}

// A refreshed sandbox has the same login, and none of the rows that were there.
func TestWhatIsConfirmedIsSoOfOneOrg(t *testing.T) {
	t.Parallel()
	server := storetest.StartRedis(t)
	login := &loggedIn{org: "00D5f000001AbCd"}
	b := &Bridge{cfg: &config.Config{}, redis: storetest.Open(t, server.URL()), login: &Login{sessions: login}}
	shared := b.confirmed()
	get := func() []byte {
		t.Helper()
		values, err := shared.Get(t.Context(), []string{"00001"})
		require.NoError(t, err)
		require.Len(t, values, 1)
		return values[0]
	}
	require.NoError(t, shared.Set(t.Context(), map[string][]byte{"00001": []byte("row")}, time.Hour))
	assert.Equal(t, "row", string(get()))
	login.org = "00D5f000001AbCe"
	assert.Nil(t, get(), "the org was refreshed")
	login.org = ""
	assert.Nil(t, get(), "a login that doesn't tell its org")
	login.org = "00D5f000001AbCd"
	assert.Equal(t, "row", string(get()))

	login.err = errors.New("away")
	_, err := shared.Get(t.Context(), []string{"00001"})
	require.ErrorIs(t, err, login.err, "who can't log in asks the org later")
	assert.ErrorIs(t, shared.Set(t.Context(), nil, time.Hour), login.err)
}
