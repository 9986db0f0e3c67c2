package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"sfbridge/internal/strictyaml"
)

// address reads host:port to listen on. Port 0 lets the system choose.
func (l *loader) address(m strictyaml.Map, key, fallback string) string {
	n := m.Get(key)
	text := m.Text(key, fallback)
	if n == nil || n.Unfilled() {
		return text
	}
	_, port, err := net.SplitHostPort(text)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil && n.Kind == strictyaml.Scalar {
		l.At(n, fmt.Sprintf("%q is not host:port", n.Spelled), "write for example "+fallback)
	}
	return text
}

// isLoopbackAddress tells whether host:port is reachable from this machine
// alone.
func isLoopbackAddress(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && isLoopback(host)
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// url reads an absolute http or https URL without query, fragment and user.
func (l *loader) url(m strictyaml.Map, key, fallback string) string {
	n := m.Get(key)
	text := strings.TrimRight(m.Text(key, fallback), "/")
	if n == nil || n.Unfilled() || n.Kind != strictyaml.Scalar {
		return text
	}
	u, err := url.Parse(text)
	bad := ""
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		bad = "is not an https:// URL"
	case u.User != nil:
		bad = "holds a user"
	case u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		bad = "holds a query or fragment"
	}
	if bad != "" {
		l.At(n, fmt.Sprintf("%q %s", withoutUser(n.Spelled), bad), "write for example https://hooks.example.com")
	}
	return text
}

// withoutUser keeps a password in a URL out of messages.
func withoutUser(text string) string {
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		return "…" + text[at:]
	}
	return text
}

// orgURL reads the URL of an org: https, or http to loopback where that is
// allowed; host only.
func (l *loader) orgURL(m strictyaml.Map, key, fallback string) string {
	n := m.Get(key)
	before := len(l.List())
	text := l.url(m, key, fallback)
	if n == nil || n.Unfilled() || len(l.List()) > before {
		return text
	}
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	switch {
	case u.Path != "":
		l.At(n, fmt.Sprintf("%q holds a path", n.Spelled), "write scheme and host only")
	case u.Scheme == "http" && !l.cfg.Salesforce.AllowHTTP:
		l.At(n, "credentials must not go over plain http", "write https://, or allow_http: true for a simulator on this machine")
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		l.At(n, "allow_http is for simulators on this machine only", "write https://, or a loopback address such as http://127.0.0.1:8089")
	}
	return text
}
