package simorg

import (
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

// Row is a record as a test sees it: API name to nil, string, bool,
// decimal.Decimal or time.Time.
type Row = map[string]any

// Rows returns copies of all rows of an object, oldest first; nil for an
// object that does not exist.
func (s *Server) Rows(object string) []Row {
	obj := s.org.Schema().Object(object)
	if obj == nil {
		return nil
	}
	var rows []Row
	for _, stored := range s.org.Rows(obj) {
		row := make(Row, len(obj.Fields))
		for _, f := range obj.Fields {
			row[f.Name] = stored[f.Slot]
		}
		rows = append(rows, row)
	}
	return rows
}

// Stats returns counters and row counts.
func (s *Server) Stats() Stats {
	calls, logins := s.api.Counts()
	stats := Stats{APICalls: Calls{ByOperation: calls}, Logins: logins, Rows: s.org.Counts()}
	for _, n := range calls {
		stats.APICalls.Total += n
	}
	return stats
}

// AddFaults plants faults after those already there.
func (s *Server) AddFaults(faults ...fault.Fault) { s.faults.Add(faults...) }

// ClearFaults takes all planted faults away.
func (s *Server) ClearFaults() { s.faults.Clear() }

// Reset empties rows, counters and faults; sessions stay.
func (s *Server) Reset() {
	s.faults.Clear()
	s.api.Reset()
	s.org.Reset()
}
