package simorg

import (
	"net/http"

	"sfbridge/salesforce/simorg/fault"
)

// Stats counts what the org was asked and what it holds.
type Stats struct {
	APICalls Calls          `json:"api_calls"`
	Logins   map[string]int `json:"logins"` // token and soap requests; not API calls
	Rows     map[string]int `json:"rows"`   // by object, only those with rows
}

// Calls are the counted API calls.
type Calls struct {
	Total       int            `json:"total"`
	ByOperation map[string]int `json:"by_operation"`
}

// Server is one simulated org.
type Server struct{}

// New builds an org from its settings.
func New(cfg Config) (*Server, error) { return nil, nil }

// Handler serves the org.
func (s *Server) Handler() http.Handler { return nil }

// Start listens on Config.Listen and serves until Close.
func (s *Server) Start() error { return nil }

// Close stops serving, waits for work in flight and frees everything.
func (s *Server) Close() error { return nil }

// URL is the base address of a started server.
func (s *Server) URL() string { return "" }

// AccessToken is a session of the API user that never expires by time.
func (s *Server) AccessToken() string { return "" }

// Row is a record as a test sees it: API name to nil, string, bool,
// decimal.Decimal or time.Time.
type Row = map[string]any

// Rows returns copies of all rows of an object, oldest first.
func (s *Server) Rows(object string) []Row { return nil }

// Stats returns counters and row counts.
func (s *Server) Stats() Stats { return Stats{} }

// AddFaults plants faults.
func (s *Server) AddFaults(faults ...fault.Fault) {}

// ClearFaults takes all planted faults away.
func (s *Server) ClearFaults() {}

// Reset empties rows, counters and faults; sessions stay.
func (s *Server) Reset() {}
