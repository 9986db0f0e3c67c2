package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Config says which bridge to run. Org and Mappings are needed.
type Config struct {
	Name     string            // in messages; empty: bridge
	Org      *Org              // the org it works on, by client credentials
	Mappings map[string]string // mapping files: name and text
	Env      map[string]string // what the mappings' references name
	Only     []string          // roles; empty: all
	Via      *Wire             // between bridge and org; nil: none
	Debug    bool              // log more
	Within   string            // how long a stop waits for what is in flight; empty: the product's default
	Program  string            // of the test's own, see BuildProgram; empty: the product

	Admin string // section of the settings; empty: {listen: 127.0.0.1:0}
	Auth  string // how to log in; empty: by client credentials

	// Sections of the settings as YAML flow mappings, such as "{batch: 10}".
	// The empty ones hold Receiver and Poller to what suits a test: work is
	// looked for without long pauses.
	Receiver string
	Poller   string
	Store    string // empty: {dir: ./data}, in Dir

	Outbound  string // section of the settings; empty: left out
	Retention string // section of the settings; empty: left out
	PublicURL string // empty: left out
	Dir       string // holds settings, mappings and the store; empty: a folder of the test
}

const (
	defaultReceiver = "{linger: 5ms, ack_timeout: 10s}" // a busy machine is no outage
	defaultPoller   = "{interval: 100ms, idle: 1s, backoff: {base: 100ms, max: 2s}}"
	defaultStore    = "{dir: ./data}"
	defaultAdmin    = "{listen: 127.0.0.1:0}"
	defaultAuth     = `{flow: client_credentials, client_id: sim, client_secret: "${SF_CLIENT_SECRET}"}`
)

func (c Config) withDefaults(t testing.TB) Config {
	t.Helper()
	for field, value := range map[*string]string{
		&c.Name: "bridge", &c.Receiver: defaultReceiver, &c.Poller: defaultPoller, &c.Store: defaultStore,
		&c.Admin: defaultAdmin, &c.Auth: defaultAuth,
	} {
		if *field == "" {
			*field = value
		}
	}
	if c.Dir == "" {
		c.Dir = t.TempDir()
	}
	return c
}

// settings is the text of bridge.yaml.
func (c Config) settings() string {
	var b strings.Builder
	fmt.Fprintf(&b, "listen: 127.0.0.1:0\nadmin: %s\n", c.Admin)
	if c.PublicURL != "" {
		fmt.Fprintf(&b, "public_url: %s\n", c.PublicURL)
	}
	if c.Outbound != "" {
		fmt.Fprintf(&b, "outbound: %s\n", c.Outbound)
	}
	if c.Retention != "" {
		fmt.Fprintf(&b, "retention: %s\n", c.Retention)
	}
	login := c.Org.URL
	if c.Via != nil {
		login = c.Via.URL
	}
	fmt.Fprintf(&b, "salesforce:\n  login_url: %s\n  allow_http: true\n  api_version: %q\n  auth: %s\n", login, APIVersion, c.Auth)
	fmt.Fprintf(&b, "store: %s\nreceiver: %s\npoller: %s\nmappings: [mappings/*.yaml]\n", c.Store, c.Receiver, c.Poller)
	return b.String()
}

// Environment is what the process finds: NAME=value.
func (c Config) Environment() []string {
	env := []string{"SF_CLIENT_SECRET=sim"} // the test's own value of a name comes later and wins
	for name, value := range c.Env {
		env = append(env, name+"="+value)
	}
	return env
}

// write puts the settings and mappings into Dir and returns the settings file.
func (c Config) write(t testing.TB) string {
	t.Helper()
	mappings := filepath.Join(c.Dir, "mappings")
	require.NoError(t, os.MkdirAll(mappings, 0o755))
	for name, text := range c.Mappings {
		require.NoError(t, os.WriteFile(filepath.Join(mappings, name), []byte(text), 0o600))
	}
	file := filepath.Join(c.Dir, "bridge.yaml")
	require.NoError(t, os.WriteFile(file, []byte(c.settings()), 0o600))
	return file
}
