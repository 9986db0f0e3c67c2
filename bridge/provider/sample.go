package provider

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// SampleHeaders are the headers that a test delivery needs beside its
// signature.
type SampleHeaders struct {
	Headers map[string]string `yaml:"headers"` // {uuid} is filled in
	Guess   *HeaderGuess      `yaml:"guess"`
}

// HeaderGuess finds a header's value by the first member that the body has.
type HeaderGuess struct {
	Header  string `yaml:"header"`
	Members []struct {
		Member string `yaml:"member"`
		Value  string `yaml:"value"`
	} `yaml:"members"`
	Otherwise string `yaml:"otherwise"`
}

// For returns the headers for a body. The same body always gets the same ones,
// so that sending it twice is a redelivery.
func (s SampleHeaders) For(body []byte) http.Header {
	h := http.Header{}
	for name, value := range s.Headers {
		h.Set(name, strings.ReplaceAll(value, "{uuid}", uuidOf(body)))
	}
	if s.Guess != nil {
		h.Set(s.Guess.Header, s.Guess.value(body))
	}
	return h
}

func (g *HeaderGuess) value(body []byte) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(bytes.TrimSpace(body), &members) == nil {
		for _, m := range g.Members {
			if _, ok := members[m.Member]; ok {
				return m.Value
			}
		}
	}
	return g.Otherwise
}

// uuidOf is a UUID made from a hash (version 8).
func uuidOf(body []byte) string {
	u := sha256.Sum256(body)
	u[6] = u[6]&0x0f | 0x80
	u[8] = u[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[0:4], u[4:6], u[6:8], u[8:10], u[10:16])
}
