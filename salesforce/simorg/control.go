package simorg

import (
	"encoding/json"
	"io"
	"net"
	"net/http"

	"sfbridge/salesforce/simorg/fault"
)

const maxControlBody = 1 << 20

// control serves /_sim/: for the machine's own tests and tools only.
func (s *Server) control(w http.ResponseWriter, r *http.Request) {
	if !fromLoopback(r) {
		http.Error(w, "control routes answer on loopback only", http.StatusForbidden)
		return
	}
	switch r.Method + " " + r.URL.Path {
	case "GET /_sim/stats":
		s.showStats(w)
	case "POST /_sim/faults":
		s.plant(w, r)
	case "DELETE /_sim/faults":
		s.ClearFaults()
		w.WriteHeader(http.StatusNoContent)
	case "POST /_sim/reset":
		s.Reset()
		w.WriteHeader(http.StatusNoContent)
	default:
		http.Error(w, "there are GET /_sim/stats, POST and DELETE /_sim/faults, POST /_sim/reset", http.StatusNotFound)
	}
}

// fromLoopback says whether the peer is this machine. Only the connection
// counts, no header.
func fromLoopback(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func (s *Server) showStats(w http.ResponseWriter) {
	data, err := json.Marshal(s.Stats())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(data) // the client is gone: nobody to tell
}

func (s *Server) plant(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxControlBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	faults, err := fault.Parse(data)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.AddFaults(faults...)
	w.WriteHeader(http.StatusNoContent)
}
