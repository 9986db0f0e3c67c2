package config

import (
	"time"

	"sfbridge/internal/strictyaml"
)

// Problem is one mistake in a settings file:
// file:line:column: path: what: what to do.
type Problem = strictyaml.Problem

// Problems is every mistake of a settings file, in file order.
type Problems = strictyaml.Problems

// Config is a settings file. It is not changed after it was read.
type Config struct {
	File       string // as named by the caller
	Listen     string // host:port of the receiver
	PublicURL  string // what providers call, without a trailing slash; "" when left out
	Admin      Admin
	Salesforce Salesforce
	Store      Store
	Receiver   Receiver
	Poller     Poller
	Outbound   Outbound
	Retention  Retention
	Mappings   []string // mapping files, ready to open, sorted

	data     []byte
	orgOnly  bool // for a command that needs no mapping
	warnings []Problem
}

// Warnings are findings that don't keep the bridge from running.
func (c *Config) Warnings() []Problem { return append([]Problem(nil), c.warnings...) }

// Admin is the listener for people and machines that run the bridge.
type Admin struct {
	Listen string
	Token  Secret // not set: no admin API and no console
}

// Flow is a way to log in to Salesforce.
type Flow string

// The flows.
const (
	FlowJWT               Flow = "jwt"
	FlowClientCredentials Flow = "client_credentials"
	FlowPassword          Flow = "password"
	FlowSession           Flow = "session"
)

// Salesforce says which org, and how to log in.
type Salesforce struct {
	LoginURL    string // without a trailing slash
	APIVersion  string // 65.0
	Auth        Auth
	DailyBudget float64 // share of the daily API calls above which less urgent work yields
	AllowHTTP   bool    // http:// to loopback simulators
}

// Auth holds what its Flow needs; the rest is zero.
type Auth struct {
	Flow           Flow
	ClientID       string // jwt, client_credentials
	Username       string // jwt, password
	Audience       string // jwt, optional
	PrivateKeyFile string // jwt, ready to open
	ClientSecret   Secret // client_credentials
	Password       Secret // password
	Token          Secret // password, optional: the security token
	AccessToken    Secret // session
	InstanceURL    string // session
}

// Store is where a process keeps what must survive it.
type Store struct {
	Dir     string // ready to open
	Redis   Secret // URL; not set: a file in Dir
	Durable bool   // a person vouches for a Redis whose CONFIG can't be read
}

// Ack says what must be durable before a delivery is answered.
type Ack string

// The kinds of acknowledgement.
const (
	AckAuto    Ack = "auto"    // Salesforce within AckTimeout, else the spool
	AckStaged  Ack = "staged"  // Salesforce
	AckSpooled Ack = "spooled" // the spool
)

// Receiver bounds what is taken in and how it is staged.
type Receiver struct {
	Ack        Ack
	AckTimeout time.Duration
	MaxBody    int64
	Batch      int           // rows of a staging call
	Linger     time.Duration // how long a batch waits to fill
	Calls      int           // staging calls at once
	Rate       float64       // events a second and source, 0 for no limit
}

// Poller bounds how due rows are worked on.
type Poller struct {
	Interval    time.Duration // between polls while there is work
	Idle        time.Duration // between polls when there is none
	Batch       int
	Lanes       int
	MaxAttempts int
	ParentWait  time.Duration // how long a missing parent costs no attempt
	Backoff     Backoff
}

// Backoff is capped exponential.
type Backoff struct {
	Base, Max time.Duration
}

// Outbound is what requests to others may reach.
type Outbound struct {
	Allow []string // host:port, although private or plain http
}

// Retention is how long finished rows are kept.
type Retention struct {
	PayloadAfter time.Duration
	RowAfter     time.Duration
	ArchiveDir   string // ready to open; "" for no archive
}
