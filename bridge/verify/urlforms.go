package verify

import (
	"slices"
	"strings"
)

// urlForms spell the configured URL as the senders that sign it may have. More
// spellings cost nothing: the signature still decides.
var urlForms = map[string]func(url string) string{
	"as-is":             func(url string) string { return url },
	"hubspot-decoded":   hubspotDecoded,
	"with-default-port": withDefaultPort,
	"without-port":      withoutPort,
}

// URLs lists the spellings of url that the rule tries, each once.
func (r Rule) URLs(url string) []string {
	if len(r.URLForms) == 0 {
		return []string{url}
	}
	urls := make([]string, 0, len(r.URLForms))
	for _, form := range r.URLForms {
		if u := urlForms[form](url); !slices.Contains(urls, u) {
			urls = append(urls, u)
		}
	}
	return urls
}

// hubspotEscapes are the characters that HubSpot writes out before it signs.
var hubspotEscapes = strings.NewReplacer(
	"%3A", ":", "%3a", ":", "%2F", "/", "%2f", "/", "%3F", "?", "%3f", "?", "%40", "@",
	"%21", "!", "%24", "$", "%27", "'", "%28", "(", "%29", ")", "%2A", "*", "%2a", "*",
	"%2C", ",", "%2c", ",", "%3B", ";", "%3b", ";",
)

func hubspotDecoded(url string) string { return hubspotEscapes.Replace(url) }

// splitHost cuts a URL around its host and port.
func splitHost(url string) (before, host, port, after string, ok bool) {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return "", "", "", "", false
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, after := rest[:end], rest[end:]
	before = scheme + "://"
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		before, authority = before+authority[:at+1], authority[at+1:]
	}
	if colon := strings.LastIndexByte(authority, ':'); colon > strings.LastIndexByte(authority, ']') {
		return before, authority[:colon], authority[colon+1:], after, true
	}
	return before, authority, "", after, true
}

func withDefaultPort(url string) string {
	before, host, port, after, ok := splitHost(url)
	if !ok || port != "" {
		return url
	}
	port = "443"
	if strings.HasPrefix(strings.ToLower(before), "http://") {
		port = "80"
	}
	return before + host + ":" + port + after
}

func withoutPort(url string) string {
	before, host, _, after, ok := splitHost(url)
	if !ok {
		return url
	}
	return before + host + after
}
