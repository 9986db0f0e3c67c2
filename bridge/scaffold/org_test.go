package scaffold_test

import (
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/mapping"
	"sfbridge/salesforce"
	"sfbridge/salesforce/auth"
	"sfbridge/salesforce/simorg"
)

// org is a simulated org with what the scaffold wrote.
func org(t *testing.T, dir string) *salesforce.Client {
	t.Helper()
	sim, err := simorg.New(simorg.Config{Metadata: []fs.FS{os.DirFS(dir)}})
	require.NoError(t, err)
	server := httptest.NewServer(sim.Handler())
	transport := salesforce.NewTransport()
	sessions, err := auth.New(auth.Config{Flow: auth.ClientCredentials, LoginURL: server.URL, ClientID: "sim",
		ClientSecret: "sim", AllowHTTP: true, Transport: transport})
	require.NoError(t, err)
	client, err := salesforce.New(salesforce.Config{Sessions: sessions, Transport: transport})
	require.NoError(t, err)
	t.Cleanup(func() {
		client.CloseIdle()
		server.Close()
		assert.NoError(t, sim.Close())
	})
	return client
}

func TestTheOrgRefusesADecisionMadeOnAnOldRead(t *testing.T) {
	t.Parallel()
	for object, f := range map[string]struct{ key, event, prior string }{
		"Account":       {"Shop_Customer__c", "Source_Event__c", "Source_Prior__c"},
		"Shop_Order__c": {"Shop_Id__c", "Last_Event__c", "Prior_Event__c"},
	} {
		t.Run(object, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, plan(t, dir, load(t, "testdata/shop.yaml")...).Write(false))
			client := org(t, dir)
			write := func(key, id string, prior any) salesforce.Fault {
				results, err := client.UpsertAll(t.Context(), f.key, []salesforce.Row{{Object: object, Fields: map[string]any{
					"Name": "x", f.key: key, f.event: id, f.prior: prior,
				}}}, false)
				require.NoError(t, err)
				return results[0].Fault()
			}
			assert.Zero(t, write("k", "e1", nil), "created, as read")
			assert.Zero(t, write("k", "e2", "e1"), "the record carries what was read")
			for prior, why := range map[any]string{"e1": "it moved on", nil: "it was read as not there", "E2": "ids differ by letter case"} {
				refused := write("k", "e3", prior)
				assert.True(t, strings.HasPrefix(refused.Message, event.TokenMoved), "%s: %+v", why, refused)
			}
			refused := write("new", "e3", "e2")
			assert.True(t, strings.HasPrefix(refused.Message, event.TokenMoved), "read as there and gone: %+v", refused)
			assert.Zero(t, write("K", "e1", nil), "keys that differ by letter case are two records")
			_, err := client.UpsertAll(t.Context(), f.key, []salesforce.Row{{Object: object, Fields: map[string]any{f.key: "k", "Name": "by hand"}}}, true)
			assert.NoError(t, err, "people who leave the event id alone are free")
		})
	}
}

func TestWhatTheExamplesNeedLoadsInTheOrg(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("../../config/examples/*.yaml")
	require.NoError(t, err)
	for _, name := range names {
		if filepath.Base(name) == "bridge.yaml" {
			continue
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			dir, files := t.TempDir(), load(t, name)
			require.NoError(t, plan(t, dir, files...).Write(false))
			client := org(t, dir)
			for _, r := range files[0].Routes {
				for _, target := range r.Targets() {
					o, err := client.Describe(t.Context(), target.Object)
					require.NoError(t, err)
					guarded(t, o, target)
				}
			}
		})
	}
}

// guarded says whether an object has what the bridge relies on.
func guarded(t *testing.T, o *salesforce.Object, target mapping.Target) {
	t.Helper()
	key, found := o.Field(target.KeyField)
	require.True(t, found, "%s.%s", o.Name, target.KeyField)
	assert.True(t, key.ExternalID && key.Unique && key.CaseSensitive, "%s.%s", o.Name, target.KeyField)
	if target.Order == nil {
		return
	}
	for _, name := range []string{target.Order.Field, target.Order.Event, target.Order.Prior} {
		_, found := o.Field(name)
		assert.True(t, found, "%s.%s", o.Name, name)
	}
}
