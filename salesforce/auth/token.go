package auth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
	"golang.org/x/oauth2/jwt"

	"sfbridge/salesforce"
)

const (
	tokenPath = "/services/oauth2/token"
	// assertionLife stays within the shortest limit reported for Salesforce, three
	// minutes, with room for a clock that runs ahead of theirs.
	assertionLife = 150 * time.Second
)

// tokenLogin asks the token host for a session by the JWT bearer or the client
// credentials flow.
type tokenLogin struct {
	cfg  Config
	host string
}

func (t tokenLogin) login(ctx context.Context) (salesforce.Session, error) {
	x := &tokenExchange{ctx: ctx, cfg: t.cfg}
	token, err := t.source(context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: x})).Token()
	if x.err != nil {
		return salesforce.Session{}, t.advise(x.err)
	}
	if err != nil {
		return salesforce.Session{}, salesforce.UnreadableLogin(salesforce.OpToken)
	}
	raw, _ := token.Extra("instance_url").(string)
	instance, err := salesforce.InstanceURL(raw, t.cfg.AllowHTTP)
	if err != nil {
		return salesforce.Session{}, &salesforce.Error{Op: salesforce.OpToken, Status: http.StatusOK,
			Fault: salesforce.Fault{Message: err.Error(), Class: salesforce.ClassAuth}}
	}
	identity, _ := token.Extra("id").(string)
	return salesforce.Session{Token: salesforce.Secret(token.AccessToken), Instance: instance, Org: orgOf(identity)}, nil
}

// orgOf reads the org's id in the address of an identity, .../id/<org>/<user>.
func orgOf(identity string) string {
	_, rest, _ := strings.Cut(identity, "/id/")
	id, _, _ := strings.Cut(rest, "/")
	return salesforce.ShortOrgID(id)
}

func (t tokenLogin) source(ctx context.Context) oauth2.TokenSource {
	if t.cfg.Flow == JWT {
		return (&jwt.Config{
			Email:      t.cfg.ClientID,
			Subject:    t.cfg.Username,
			PrivateKey: []byte(t.cfg.PrivateKey.Reveal()),
			Audience:   t.audience(),
			TokenURL:   t.host + tokenPath,
			Expires:    assertionLife,
		}).TokenSource(ctx)
	}
	return (&clientcredentials.Config{
		ClientID:     t.cfg.ClientID,
		ClientSecret: t.cfg.ClientSecret.Reveal(),
		TokenURL:     t.host + tokenPath,
		AuthStyle:    oauth2.AuthStyleInParams,
	}).TokenSource(ctx)
}

func (t tokenLogin) audience() string {
	if t.cfg.Audience != "" {
		return strings.TrimRight(t.cfg.Audience, "/")
	}
	return Audience(t.host)
}

// advise says what to do about the refusals that have a known cause.
func (t tokenLogin) advise(err error) error {
	var e *salesforce.Error
	if !errors.As(err, &e) {
		return err
	}
	message := strings.ToLower(e.Message)
	for _, known := range []struct{ part, advice string }{
		{"audience is invalid", "the audience sent was " + t.audience() + ": set salesforce.auth.audience"},
		{"not supported on this domain", "salesforce.login_url: " + useMyDomain},
		{"no client credentials user", "set the Run As user of the app"},
		{"hasn't approved this consumer", "let an administrator pre-authorize the app for the user"},
		{"expired authorization code", "set the clock of this machine"},
		{"app must be installed into org", "install the app in the org"},
		{"client identifier invalid", "check salesforce.auth.client_id"},
		{"invalid client credentials", "check salesforce.auth.client_id and client_secret"},
		{"no valid scopes", "give the app the scope api"},
		{"authentication failure", "check that the user is active and may log in from this address"},
		{"redirected to", "correct salesforce.login_url"},
	} {
		if strings.Contains(message, known.part) {
			e.Advice = known.advice
			return e
		}
	}
	return e
}

// tokenExchange is the transport below x/oauth2, for one login: it owns context
// and size, judges the real answer, and shows the library either a plain token
// or a plain refusal.
type tokenExchange struct {
	ctx context.Context
	cfg Config
	err error
}

// RoundTrip implements http.RoundTripper.
func (x *tokenExchange) RoundTrip(req *http.Request) (*http.Response, error) {
	var token []byte
	token, x.err = x.exchange(req)
	if x.err != nil {
		return answer(req, http.StatusBadRequest, []byte(`{"error":"refused"}`)), nil
	}
	return answer(req, http.StatusOK, token), nil
}

func (x *tokenExchange) exchange(req *http.Request) ([]byte, error) {
	req.Header.Set("Accept", "application/json")
	body, err := salesforce.SendLogin(x.ctx, salesforce.LoginRequest{
		Op: salesforce.OpToken, Request: req, Transport: x.cfg.Transport, Hide: x.cfg.hide(req)})
	if err != nil {
		return nil, err
	}
	// expires_in is a number, a text or missing, and only a hint: a session ends
	// when Salesforce says so. It is left out.
	var token struct {
		AccessToken string `json:"access_token"`
		InstanceURL string `json:"instance_url"`
		Identity    any    `json:"id"`
	}
	if json.Unmarshal(body, &token) != nil || token.AccessToken == "" {
		return nil, salesforce.UnreadableLogin(salesforce.OpToken)
	}
	identity, _ := token.Identity.(string) // not needed to log in
	return json.Marshal(map[string]string{
		"access_token": token.AccessToken, "instance_url": token.InstanceURL, "id": identity, "token_type": "Bearer"})
}

func answer(req *http.Request, status int, body []byte) *http.Response {
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:  http.Header{"Content-Type": {"application/json"}},
		Body:    io.NopCloser(bytes.NewReader(body)),
		Request: req,
	}
}
