package simorg_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"sfbridge/salesforce/simorg"
	"sfbridge/salesforce/simorg/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const base = "/services/data/v65.0"

// sim is a started org and a client of its own.
type sim struct {
	t *testing.T
	*simorg.Server
	client *http.Client
}

func setup(t *testing.T, change ...func(*simorg.Config)) *sim {
	t.Helper()
	cfg := simorg.Config{Samples: true}
	for _, c := range change {
		c(&cfg)
	}
	srv, err := simorg.New(cfg)
	require.NoError(t, err)
	require.NoError(t, srv.Start())
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		assert.NoError(t, srv.Close())
	})
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &sim{t, srv, &http.Client{Transport: transport, CheckRedirect: noRedirect}}
}

// answer is a response with its body read.
type answer struct {
	*http.Response
	body string
}

// try sends a request; path without a leading slash is below the data URL.
func (s *sim) try(method, path, body string, headers ...string) (answer, error) {
	if !strings.HasPrefix(path, "/") {
		path = base + "/" + path
	}
	req, err := http.NewRequest(method, s.URL()+path, strings.NewReader(body))
	require.NoError(s.t, err)
	req.Header.Set("Authorization", "Bearer "+s.AccessToken())
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return answer{resp, string(data)}, err
}

func (s *sim) do(method, path, body string, headers ...string) answer {
	s.t.Helper()
	a, err := s.try(method, path, body, headers...)
	require.NoError(s.t, err)
	return a
}

// want sends a request and compares status and body.
func (s *sim) want(method, path, body string, status int, wantBody string) answer {
	s.t.Helper()
	a := s.do(method, path, body)
	require.Equal(s.t, status, a.StatusCode, a.body)
	if wantBody == "" {
		require.Empty(s.t, a.body)
	} else {
		require.JSONEq(s.t, wantBody, a.body, a.body)
	}
	return a
}

// into decodes a body.
func (a answer) into(t *testing.T, v any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader([]byte(a.body)))
	dec.UseNumber()
	require.NoError(t, dec.Decode(v), a.body)
}

// insert creates a row and returns its id.
func (s *sim) insert(object, body string) string {
	s.t.Helper()
	a := s.do("POST", "sobjects/"+object, body)
	require.Equal(s.t, 201, a.StatusCode, a.body)
	var out struct{ ID string }
	a.into(s.t, &out)
	return out.ID
}

// query returns the records of a query.
func (s *sim) query(soql string) []map[string]any {
	s.t.Helper()
	a := s.do("GET", "query?q="+escape(soql), "")
	require.Equal(s.t, 200, a.StatusCode, a.body)
	var out struct{ Records []map[string]any }
	a.into(s.t, &out)
	return out.Records
}

func escape(text string) string {
	return strings.NewReplacer(" ", "+", "'", "%27", "+", "%2B", "=", "%3D").Replace(text)
}

func plant(f fault.Fault) func(*simorg.Config) {
	return func(c *simorg.Config) { c.Faults = append(c.Faults, f) }
}
