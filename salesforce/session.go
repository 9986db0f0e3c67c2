package salesforce

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
)

// Secret is a text that is never shown: every way of printing or encoding it
// gives stars.
type Secret string

// Format hides the secret from every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(stars)) }

// String hides the secret.
func (s Secret) String() string { return stars }

// MarshalText hides the secret from encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(stars), nil }

// LogValue hides the secret from structured logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(stars) }

// Reveal gives the text itself, for the one place that sends it.
func (s Secret) Reveal() string { return string(s) }

// Session is a way into one org: a token and the host it is good for.
type Session struct {
	Token Secret
	// Instance is scheme and host, without a slash at the end.
	Instance string
	// Org is the id of the org in its short form; "" when the login didn't tell.
	// An org that is refreshed gets another one behind the same addresses.
	Org string
}

// orgIDLength is the length of an id without the suffix that tells of its case.
const orgIDLength = 15

// ShortOrgID gives the short form of an org's id, and "" for what is none.
func ShortOrgID(id string) string {
	if !strings.HasPrefix(id, "00D") || len(id) != orgIDLength && len(id) != orgIDLength+3 {
		return ""
	}
	for _, c := range []byte(id) {
		if c < '0' || c > '9' && c < 'A' || c > 'Z' && c < 'a' || c > 'z' {
			return ""
		}
	}
	return id[:orgIDLength]
}

// Sessions gives the client its session. The implementation is salesforce/auth.
type Sessions interface {
	// Session gives the current session, logging in when there is none.
	Session(ctx context.Context) (Session, error)
	// Renew replaces a session that was refused. When stale is no longer the
	// current one, the current one is the answer and nobody logs in.
	Renew(ctx context.Context, stale Session) (Session, error)
}

// InstanceURL makes one scheme and host of what a login named as instance: with
// or without scheme, path or slash. Plain http is refused unless allowHTTP is
// set and the host is this machine.
func InstanceURL(raw string, allowHTTP bool) (string, error) {
	raw = strings.TrimSpace(raw)
	if !strings.Contains(raw, "://") {
		raw = "https://" + strings.TrimLeft(raw, "/")
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.User != nil {
		return "", fmt.Errorf("the instance address is not a host: want https://<mydomain>.my.salesforce.com")
	}
	switch scheme := strings.ToLower(u.Scheme); {
	case scheme == "https":
	case scheme == "http" && allowHTTP && Loopback(u.Hostname()):
	case scheme == "http":
		return "", fmt.Errorf("plain http to %s is refused: use https, or allow_http with a simulator on this machine", u.Host)
	default:
		return "", fmt.Errorf("scheme %q is refused: use https", u.Scheme)
	}
	return strings.ToLower(u.Scheme) + "://" + strings.ToLower(u.Host), nil
}

// Loopback reports whether a host name is this machine by its spelling.
func Loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
