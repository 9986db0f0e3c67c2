package salesforce

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"sync"
	"sync/atomic"
	"time"
)

// Operations, as they stand in errors and metrics.
const (
	OpQuery     = "query"
	OpQueryMore = "query_more"
	OpRead      = "row_read"
	OpInsert    = "row_insert"
	OpUpdate    = "row_update"
	OpUpsert    = "row_upsert"
	OpDelete    = "row_delete"
	OpInsertAll = "collections_insert"
	OpUpdateAll = "collections_update"
	OpUpsertAll = "collections_upsert"
	OpDeleteAll = "collections_delete"
	OpComposite = "composite"
	OpGraph     = "graph"
	OpDescribe  = "describe"
	OpLimits    = "limits"
	// OpToken and OpLogin are the logins of salesforce/auth.
	OpToken = "token"
	OpLogin = "soap"
)

// Observer hears of every request sent to Salesforce: its operation, the class
// of its outcome (ClassOK when it worked; failed rows inside a call that worked
// don't count) and how long it took.
type Observer func(op string, class Class, took time.Duration)

// Config says how to reach an org. Sessions is required, all else has a default.
type Config struct {
	Sessions Sessions
	// APIVersion such as "65.0", from 50.0 on; default 65.0.
	APIVersion string
	// Transport carries the requests; default NewTransport(). Share one with
	// salesforce/auth.
	Transport http.RoundTripper
	// Timeout bounds every request, besides the caller's context; default 2 minutes,
	// the longest that Salesforce lets a query run.
	Timeout time.Duration
	// MaxReply bounds the size of an answer after decompression, in bytes;
	// default 64 MiB.
	MaxReply int64
	// AllowDuplicates saves rows that a duplicate rule only warns about.
	AllowDuplicates bool
	// CompressFrom is the size from which request bodies are compressed; default
	// 32 KiB, negative: never. To this machine nothing is compressed.
	CompressFrom int
	// Observer may be nil.
	Observer Observer
	// Now is the clock; default time.Now.
	Now func() time.Time
}

const (
	defaultVersion      = "65.0"
	minVersion          = "50.0"
	defaultTimeout      = 2 * time.Minute
	defaultMaxReply     = 64 << 20
	defaultCompressFrom = 32 << 10
)

var versionPattern = regexp.MustCompile(`^\d{2}\.0$`)

func (c Config) withDefaults() Config {
	if c.APIVersion == "" {
		c.APIVersion = defaultVersion
	}
	if c.Transport == nil {
		c.Transport = NewTransport()
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.MaxReply == 0 {
		c.MaxReply = defaultMaxReply
	}
	if c.CompressFrom == 0 {
		c.CompressFrom = defaultCompressFrom
	}
	if c.Observer == nil {
		c.Observer = func(string, Class, time.Duration) {}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

func (c Config) validate() error {
	var problems []error
	if c.Sessions == nil {
		problems = append(problems, errors.New("salesforce: Sessions is missing"))
	}
	if !versionPattern.MatchString(c.APIVersion) || c.APIVersion < minVersion {
		problems = append(problems, fmt.Errorf("salesforce: api_version %q: want a version such as %q, from %s on",
			c.APIVersion, defaultVersion, minVersion))
	}
	if c.Timeout < 0 || c.MaxReply < 0 {
		problems = append(problems, errors.New("salesforce: Timeout and MaxReply can't be negative"))
	}
	return errors.Join(problems...)
}

// Client speaks to one org. It is safe for use by many goroutines.
type Client struct {
	cfg   Config
	base  string // /services/data/v65.0/
	usage atomic.Pointer[Usage]
	zip   sync.Pool
}

// New makes a client. It sends nothing yet.
func New(cfg Config) (*Client, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	QuietCarrier()
	return &Client{cfg: cfg, base: "/services/data/v" + cfg.APIVersion + "/"}, nil
}

// CloseIdle closes connections that no call is using.
func (c *Client) CloseIdle() {
	if t, ok := c.cfg.Transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// request is one call as the operations hand it to the carrier.
type request struct {
	op       string
	object   string // where the call is about one
	method   string
	path     string // below base, escaped
	soql     string // instead of path: a query
	next     string // instead of path: the address of a query's next page
	body     []byte
	write    bool
	keyField string
	login    bool   // an answer to a login
	hide     Secret // the token the request carries, in case it is echoed
	// stream reads a successful answer while it comes in; without it the
	// answer is read first and handed to accept.
	stream func(answerStream) error
}

// call sends a request with the current session. A session that was refused is
// renewed once and the request sent once more, whole, to the new instance.
func (c *Client) call(ctx context.Context, req request, accept func(reply) error) error {
	session, err := c.cfg.Sessions.Session(ctx)
	if err != nil {
		return loginError(req.op, err)
	}
	err = c.observed(ctx, session, req, accept)
	verdict := sessionVerdict(err)
	if verdict == sessionGood {
		return err
	}
	renewed, renewErr := c.cfg.Sessions.Renew(ctx, session)
	switch {
	case renewErr != nil && verdict == sessionMoved:
		return err
	case renewErr != nil:
		return loginError(req.op, renewErr)
	case verdict == sessionMoved && renewed.Instance == session.Instance:
		return err
	}
	return c.observed(ctx, renewed, req, accept)
}

func (c *Client) observed(ctx context.Context, s Session, req request, accept func(reply) error) error {
	started := c.cfg.Now()
	err := c.attempt(ctx, s, req, accept)
	c.cfg.Observer(req.op, ClassOf(err), c.cfg.Now().Sub(started))
	return err
}

// loginError keeps the class a login decided and gives others one: nothing of
// the call itself was sent.
func loginError(op string, err error) error {
	if _, ok := AsError(err); ok {
		return fmt.Errorf("salesforce %s: %w", op, err)
	}
	return &Error{Op: op, Fault: Fault{Message: "no session", Class: ClassRetryable}, Err: err}
}
