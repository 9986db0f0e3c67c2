package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"

	"sfbridge/bridge/spool"
)

// adminAPI speaks to a running bridge: to the one that admin.listen names, and
// to nobody on the way, who would get the token.
type adminAPI struct {
	listen, token string
	user          string // who asks, for its log
}

// maxAdminAnswer bounds an answer.
const maxAdminAnswer = 8 << 20

func (a adminAPI) listApart(ctx context.Context, limit int) ([]spool.ApartEntry, error) {
	var answer struct {
		Entries []spool.ApartEntry `json:"entries"`
	}
	err := a.call(ctx, adminCall{method: http.MethodGet, path: "/admin/v1/spool?limit=" + strconv.Itoa(limit)}, &answer)
	return answer.Entries, err
}

func (a adminAPI) retryApart(ctx context.Context, ids []string, all bool) (int, error) {
	body := map[string]any{"ids": ids}
	if all {
		body = map[string]any{"all": true}
	}
	var answer struct {
		Retried int `json:"retried"`
	}
	err := a.call(ctx, adminCall{method: http.MethodPost, path: "/admin/v1/spool/retry", body: body}, &answer)
	return answer.Retried, err
}

// base is where the bridge is to be asked: a listener on every address is on
// loopback too.
func (a adminAPI) base() (string, error) {
	host, port, err := net.SplitHostPort(a.listen)
	if err != nil {
		return "", fmt.Errorf("admin.listen: %w", err)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port), nil
}

// adminCall is one request.
type adminCall struct {
	method, path string
	body         any // sent as JSON; nil: none
}

func (a adminAPI) call(ctx context.Context, c adminCall, into any) error {
	base, err := a.base()
	if err != nil {
		return err
	}
	var content io.Reader
	if c.body != nil {
		text, err := json.Marshal(c.body)
		if err != nil {
			return err
		}
		content = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, c.method, base+c.path, content)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+a.token)
	if a.user != "" {
		r.Header.Set("X-Actor", a.user)
	}
	client := adminClient()
	defer client.CloseIdleConnections()
	answer, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("a running bridge holds the spool file and can't be asked at admin.listen: %w", err)
	}
	defer answer.Body.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAdminAnswer))
	if err != nil {
		return fmt.Errorf("asking the running bridge: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		return refusedBy(answer.StatusCode, text)
	}
	return json.Unmarshal(text, into)
}

// adminClient follows no redirect and uses no proxy, whatever the environment
// says of one.
func adminClient() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{Proxy: nil},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func refusedBy(status int, text []byte) error {
	var problem struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(text, &problem) != nil || problem.Message == "" {
		problem.Message = http.StatusText(status)
	}
	if status == http.StatusBadRequest {
		return usage("the running bridge refuses: %s", problem.Message)
	}
	return errors.New("the running bridge refuses: " + problem.Message)
}
