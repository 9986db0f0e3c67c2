package app

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"sfbridge/config"
	"sfbridge/salesforce"
	"sfbridge/salesforce/auth"
)

// Org is everything that the steps ask of Salesforce.
type Org interface {
	Query(ctx context.Context, soql string) ([]salesforce.Record, error)
	QueryFrom(ctx context.Context, next string) ([]salesforce.Record, error)
	QueryEach(ctx context.Context, soql string, fn func(salesforce.Record) error) error
	InsertAll(ctx context.Context, rows []salesforce.Row, allOrNone bool) ([]salesforce.SaveResult, error)
	UpsertAll(ctx context.Context, keyField string, rows []salesforce.Row, allOrNone bool) ([]salesforce.SaveResult, error)
	UpdateAll(ctx context.Context, rows []salesforce.Row, allOrNone bool) ([]salesforce.SaveResult, error)
	Composite(ctx context.Context, subs []salesforce.Subrequest, allOrNone bool) ([]salesforce.Subresponse, error)
	Graph(ctx context.Context, graphs []salesforce.Graph) ([]salesforce.GraphResult, error)
	Describe(ctx context.Context, object string) (*salesforce.Object, error)
}

// Login is a client for the configured org.
type Login struct {
	Client   *salesforce.Client
	Warnings []string

	sessions salesforce.Sessions
}

// Instance is the address of the org that the login leads to.
func (l *Login) Instance(ctx context.Context) (string, error) {
	s, err := l.sessions.Session(ctx)
	return s.Instance, err
}

// callTimeout bounds one call to Salesforce. It is longer than any call of the
// bridge should take and shorter than what a stop may wait.
const callTimeout = 30 * time.Second

// Connect makes the client that the settings describe. It sends nothing yet.
// cfg must be filled.
func Connect(cfg *config.Config, env config.Env, observe salesforce.Observer) (*Login, error) {
	return connect(cfg, env, nil, observe)
}

// connect does so for a process that shares its login with others; nil: with
// nobody.
func connect(cfg *config.Config, env config.Env, shared auth.Shared, observe salesforce.Observer) (*Login, error) {
	s := cfg.Salesforce
	var key []byte
	if s.Auth.PrivateKeyFile != "" {
		var err error
		if key, err = env.ReadFile(s.Auth.PrivateKeyFile); err != nil {
			return nil, fmt.Errorf("salesforce.auth.private_key_file: %w", err)
		}
	}
	var transport http.RoundTripper = salesforce.NewTransport()
	source, err := auth.New(auth.Config{
		Flow: auth.Flow(s.Auth.Flow), LoginURL: s.LoginURL, AllowHTTP: s.AllowHTTP,
		ClientID: s.Auth.ClientID, ClientSecret: salesforce.Secret(s.Auth.ClientSecret.Value()),
		Username: s.Auth.Username, Password: salesforce.Secret(s.Auth.Password.Value()),
		SecurityToken: salesforce.Secret(s.Auth.Token.Value()),
		PrivateKey:    salesforce.Secret(key), Audience: s.Auth.Audience,
		AccessToken: salesforce.Secret(s.Auth.AccessToken.Value()), InstanceURL: s.Auth.InstanceURL,
		Transport: transport, Shared: shared, Observer: observe,
	})
	if err != nil {
		return nil, err
	}
	client, err := salesforce.New(salesforce.Config{
		Sessions: source, APIVersion: s.APIVersion, Transport: transport, Timeout: callTimeout, Observer: observe,
	})
	if err != nil {
		return nil, err
	}
	return &Login{Client: client, Warnings: source.Warnings(), sessions: source}, nil
}
