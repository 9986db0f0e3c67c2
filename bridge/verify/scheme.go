package verify

import (
	"crypto/x509"
	"errors"
)

// Scheme is a construction that no row of the table can express.
type Scheme struct {
	// Trust is what a delivery that passes has proved.
	Trust Trust
	// Key turns a secret into what Check needs, at start-up. Its error must
	// not quote the secret. params are what the source configures besides.
	Key func(secret string, params map[string]string) (any, error)
	// Fetched makes the key of a source without secrets, whose certificates
	// are fetched; nil: there is no verifying without a secret.
	Fetched func(params map[string]string) (any, error)
	// Check judges one delivery with one key.
	Check func(in Input) Reason
	// Sign makes req a rightly signed delivery; nil: a sender can't sign.
	Sign func(secret string, req Request) (Request, error)
}

// Input is what a Scheme gets to judge.
type Input struct {
	Rule    Rule
	Key     any // of Scheme.Key
	Params  map[string]string
	Request Request
	Fetcher Fetcher        // nil: nothing is fetched
	Roots   *x509.CertPool // of fetched certificates; nil: the system's
}

// Fetch is a key that a delivery names.
type Fetch struct {
	URL  string
	Name string // tells keys of one URL apart
	Body []byte // is sent, when there is one
}

// Fetcher gets certificates and keys. It owns deadline, cache and rate, and
// knows which hosts may be asked.
type Fetcher interface {
	Fetch(Fetch) ([]byte, error)
}

// ErrNoSuchKey is a Fetcher's error when the key doesn't exist, in contrast to
// one that can't be had now.
var ErrNoSuchKey = errors.New("there is no such key")

// Schemes is the registry of special constructions, by Rule.Kind.
type Schemes map[string]Scheme
