package config_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/config"
)

var update = flag.Bool("update", false, "write the golden files anew")

// env is an environment of fixed variables and files.
func env(variables, files map[string]string) config.Env {
	return config.Env{
		Lookup: func(name string) (string, bool) {
			value, ok := variables[name]
			return value, ok
		},
		ReadFile: func(name string) ([]byte, error) {
			text, ok := files[name]
			if !ok {
				return nil, &os.PathError{Op: "open", Path: name, Err: errors.New("no such file")}
			}
			return []byte(text), nil
		},
	}
}

// minimal is the shortest file that can run.
const minimal = `salesforce: {auth: {flow: session, access_token: "${TOKEN}", instance_url: https://acme.my.salesforce.com}}
mappings: [config_test.go]
`

func parse(t *testing.T, text string) *config.Config {
	t.Helper()
	c, err := config.Parse("bridge.yaml", []byte(text))
	require.NoError(t, err)
	return c
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	c := parse(t, minimal)
	assert.Equal(t, "127.0.0.1:8080", c.Listen)
	assert.Equal(t, "127.0.0.1:8081", c.Admin.Listen)
	assert.False(t, c.Admin.Token.IsSet())
	assert.Equal(t, "https://login.salesforce.com", c.Salesforce.LoginURL)
	assert.Equal(t, "65.0", c.Salesforce.APIVersion)
	assert.InDelta(t, 0.8, c.Salesforce.DailyBudget, 0)
	assert.Equal(t, "data", c.Store.Dir)
	assert.Equal(t, config.Receiver{Ack: config.AckAuto, AckTimeout: 2 * time.Second, MaxBody: 1 << 20, Batch: 200, Linger: 5 * time.Millisecond, Calls: 4}, c.Receiver)
	assert.Equal(t, config.Poller{Interval: 2 * time.Second, Idle: time.Minute, Batch: 200, Lanes: 4, MaxAttempts: 12, ParentWait: 24 * time.Hour,
		Backoff: config.Backoff{Base: 2 * time.Second, Max: 15 * time.Minute}}, c.Poller)
	assert.Equal(t, config.Retention{PayloadAfter: 30 * 24 * time.Hour, RowAfter: 90 * 24 * time.Hour}, c.Retention)
	assert.Empty(t, c.Warnings())
}

// The example says what the defaults say, and its mappings are there.
func TestExample(t *testing.T) {
	t.Parallel()
	c, err := config.Load("examples/bridge.yaml")
	require.NoError(t, err)
	assert.Equal(t, []string{"examples/github.yaml", "examples/shopify.yaml", "examples/stripe.yaml"}, c.Mappings)
	assert.Equal(t, filepath.Join("examples", "server.key"), c.Salesforce.Auth.PrivateKeyFile)
	assert.Equal(t, "${SF_CLIENT_ID}", c.Salesforce.Auth.ClientID, "a reference until it is filled in")
	plain := parse(t, minimal)
	assert.Equal(t, plain.Receiver, c.Receiver)
	assert.Equal(t, plain.Poller, c.Poller)
	assert.Equal(t, plain.Retention, c.Retention)
	c, err = c.Fill(env(map[string]string{"SF_CLIENT_ID": "3MVG"}, nil))
	require.NoError(t, err)
	assert.Equal(t, "3MVG", c.Salesforce.Auth.ClientID)
}

// Every mistake of testdata/NAME.yaml is told at once, as in NAME.err.
func TestProblems(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			_, err := config.Load(file)
			var problems *config.Problems
			require.ErrorAs(t, err, &problems)
			got := strings.ReplaceAll(err.Error()+"\n", "testdata/", "")
			golden := strings.TrimSuffix(file, ".yaml") + ".err"
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, string(want), got)
			assert.NotContains(t, got, "canary", "a secret never shows")
		})
	}
}

func TestFill(t *testing.T) {
	t.Parallel()
	c := parse(t, `listen: "${LISTEN}"
admin: {token: "${ADMIN}"}
salesforce:
  login_url: "https://${DOMAIN}.my.salesforce.com/"
  auth: {flow: client_credentials, client_id: "${ID}", client_secret: "${file:secret.txt}"}
poller: {lanes: "${LANES}"}
mappings: [config_test.go]
`)
	assert.True(t, c.Salesforce.Auth.ClientSecret.IsSet())
	assert.Empty(t, c.Salesforce.Auth.ClientSecret.Value())
	assert.Equal(t, 4, c.Poller.Lanes, "the default until it is filled in")
	variables := map[string]string{"LISTEN": ":9000", "ADMIN": "token", "DOMAIN": "acme", "ID": "id", "LANES": "2"}
	files := map[string]string{"secret.txt": " s3cret \n\n"}
	full, err := c.Fill(env(variables, files))
	require.NoError(t, err)
	assert.Equal(t, ":9000", full.Listen)
	assert.Equal(t, "token", full.Admin.Token.Value())
	assert.Equal(t, "https://acme.my.salesforce.com", full.Salesforce.LoginURL)
	assert.Equal(t, " s3cret \n", full.Salesforce.Auth.ClientSecret.Value(), "one trailing newline is dropped, no more")
	assert.Equal(t, 2, full.Poller.Lanes)
	assert.Empty(t, c.Salesforce.Auth.ClientSecret.Value(), "the settings it came from are not changed")

	part, err := c.Fill(env(variables, files), "salesforce")
	require.NoError(t, err)
	assert.Equal(t, "id", part.Salesforce.Auth.ClientID)
	assert.Empty(t, part.Admin.Token.Value(), "the values of other sections are not needed")

	_, err = c.Fill(env(map[string]string{"LISTEN": "canary", "ADMIN": " \t", "DOMAIN": "login", "ID": "", "LANES": "99"}, nil))
	assert.EqualError(t, err, `bridge.yaml:1:9: listen: "${LISTEN}" is not host:port: write for example 127.0.0.1:8080
bridge.yaml:2:16: admin.token: ${ADMIN} is empty: give it a value, or leave the key out to switch the setting off
bridge.yaml:5:47: salesforce.auth.client_id: ${ID} is empty: give it a value, or leave the key out to switch the setting off
bridge.yaml:5:71: salesforce.auth.client_secret: ${file:secret.txt} can't be read: no such file: set it, or leave the key out to switch the setting off
bridge.yaml:6:17: poller.lanes: "${LANES}" is not a whole number from 1 to 16: write for example 4`)
}

func TestExpand(t *testing.T) {
	t.Parallel()
	e := env(map[string]string{"A": "x", "BLANK": " "}, map[string]string{"/run/a": "1\r\n", "dir/a": "2"})
	for text, want := range map[string]string{
		"plain": "plain", "${A}": "x", "Bearer ${A}-${A}": "Bearer x-x", "${file:/run/a}": "1", "${file:a}": "2",
	} {
		got, err := e.Expand(text, "dir")
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for text, want := range map[string]string{
		"${NONE}": "${NONE} is not set", "${BLANK}": "${BLANK} is empty", "${file:b}": "${file:b} can't be read: no such file",
		"${}": "${} is not a reference: write ${NAME} or ${file:/path}",
	} {
		_, err := e.Expand(text, "dir")
		assert.EqualError(t, err, want)
	}
}

// H01: whatever prints settings, no secret shows.
func TestSecretsNeverShow(t *testing.T) {
	t.Parallel()
	c := parse(t, minimal)
	c, err := c.Fill(env(map[string]string{"TOKEN": "canary"}, nil))
	require.NoError(t, err)
	require.Equal(t, "canary", c.Salesforce.Auth.AccessToken.Value())
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("settings", "config", c, "token", c.Salesforce.Auth.AccessToken)
	encoded, err := json.Marshal(c)
	require.NoError(t, err)
	for _, shown := range []string{
		fmt.Sprintf("%v", c), fmt.Sprintf("%+v", c), fmt.Sprintf("%#v", c), fmt.Sprint(c.Salesforce), string(encoded), log.String(),
		fmt.Sprintf("%s %q %x %d", c.Salesforce.Auth.AccessToken, c.Salesforce.Auth.AccessToken, c.Salesforce.Auth.AccessToken, c.Salesforce.Auth.AccessToken),
		config.NewSecret("canary").String(),
	} {
		assert.NotContains(t, shown, "canary")
		assert.NotContains(t, shown, fmt.Sprintf("%x", "canary"))
	}
}

func TestWarnsOfTheRetiredLogin(t *testing.T) {
	t.Parallel()
	c := parse(t, `salesforce: {auth: {flow: password, username: u, password: "${P}"}}
mappings: [config_test.go]
`)
	require.Len(t, c.Warnings(), 1)
	assert.Contains(t, c.Warnings()[0].String(), "bridge.yaml:1:27: salesforce.auth.flow: Salesforce retires")
}

func TestSimulatorsOnThisMachine(t *testing.T) {
	t.Parallel()
	for url, fine := range map[string]bool{
		"http://127.0.0.1:8089": true, "http://localhost:8089/": true, "http://[::1]:8089": true, "https://acme.my.salesforce.com": true,
		"http://10.0.0.1": false, "http://acme.my.salesforce.com": false, "http://127.0.0.1.example.com": false,
	} {
		text := fmt.Sprintf(`salesforce: {login_url: "%s", allow_http: true, auth: {flow: client_credentials, client_id: sim, client_secret: "${S}"}}
mappings: [config_test.go]
`, url)
		_, err := config.Parse("bridge.yaml", []byte(text))
		assert.Equal(t, fine, err == nil, url)
		_, err = config.Parse("bridge.yaml", []byte(strings.Replace(text, "allow_http: true", "allow_http: false", 1)))
		assert.Equal(t, strings.HasPrefix(url, "https"), err == nil, url)
	}
}

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("*/*.yaml")
	require.NoError(f, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := config.Parse("examples/bridge.yaml", data)
		if err != nil {
			var problems *config.Problems
			require.ErrorAs(t, err, &problems)
			require.NotEmpty(t, problems.List)
			return
		}
		_, err = c.Fill(env(nil, nil))
		if err != nil {
			assert.NotEmpty(t, err.Error())
		}
	})
}

// TestAMappingIsNamedOnce, under whatever names.
func TestAMappingIsNamedOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "m"), 0o755))
	for _, name := range []string{"a.yaml", "b.yaml"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "m", name), nil, 0o600))
	}
	require.NoError(t, os.Symlink("a.yaml", filepath.Join(dir, "m", "link")))
	load := func(mappings string) error {
		_, err := config.Parse(filepath.Join(dir, "bridge.yaml"), []byte(
			"salesforce: {login_url: https://acme.my.salesforce.com, auth: {flow: client_credentials, client_id: a, client_secret: \"${S}\"}}\nmappings: "+mappings+"\n"))
		return err
	}
	assert.NoError(t, load("[m/*.yaml]"))
	assert.NoError(t, load("[m/a.yaml, m/b.yaml]"))
	for _, twice := range []string{
		"[m/a.yaml, m/a.yaml]", "[m/a.yaml, ./m/../m/a.yaml]", "[m/*.yaml, m/a.yaml]", "[m/a.yaml, " + dir + "/m/a.yaml]", "[m/a.yaml, m/link]",
	} {
		err := load(twice)
		if assert.ErrorContains(t, err, "is named twice", twice) {
			assert.ErrorContains(t, err, "bridge.yaml:2:", twice)
			assert.ErrorContains(t, err, "mappings[1]", twice)
		}
	}
}
