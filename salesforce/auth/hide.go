package auth

import (
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/url"
	"strings"

	"sfbridge/salesforce"
)

// hide lists what must not come back in an error: the settings that are secret
// and the assertion of this request, in the spellings in which an answer may
// echo them.
func (c Config) hide(req *http.Request) []salesforce.Secret {
	secrets := []salesforce.Secret{c.ClientSecret, c.Password, c.SecurityToken, c.PrivateKey, assertionOf(req)}
	var all []salesforce.Secret
	for _, s := range secrets {
		if s != "" {
			all = append(all, spellings(s.Reveal())...)
		}
	}
	return all
}

func spellings(s string) []salesforce.Secret {
	quoted, _ := json.Marshal(s) // a string always marshals
	return []salesforce.Secret{
		salesforce.Secret(s),
		salesforce.Secret(url.QueryEscape(s)),
		salesforce.Secret(html.EscapeString(s)),
		salesforce.Secret(strings.Trim(string(quoted), `"`)),
	}
}

// assertionOf reads the assertion that the OAuth library signed.
func assertionOf(req *http.Request) salesforce.Secret {
	if req.GetBody == nil {
		return ""
	}
	body, err := req.GetBody()
	if err != nil {
		return ""
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	if err != nil {
		return ""
	}
	form, err := url.ParseQuery(string(text))
	if err != nil {
		return ""
	}
	return salesforce.Secret(form.Get("assertion"))
}
