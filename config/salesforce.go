package config

import (
	"fmt"
	"regexp"
	"strings"

	"sfbridge/internal/strictyaml"
)

var apiVersion = regexp.MustCompile(`^[5-9][0-9]\.0$`)

// genericHosts log people in, whatever their org; some flows need the org's own.
const (
	productionLogin = "https://login.salesforce.com"
	sandboxLogin    = "https://test.salesforce.com"
)

func (l *loader) salesforce(top strictyaml.Map) {
	m := top.Need("salesforce", "write salesforce: {login_url: …, auth: {…}}").
		Map(l.Report, "login_url", "api_version", "auth", "daily_budget", "allow_http")
	sf := &l.cfg.Salesforce
	sf.AllowHTTP = m.Bool("allow_http", false)
	sf.LoginURL = l.orgURL(m, "login_url", productionLogin)
	sf.APIVersion = m.Text("api_version", "65.0")
	if n := m.Get("api_version"); n != nil && !n.Unfilled() && !apiVersion.MatchString(sf.APIVersion) {
		l.At(n, fmt.Sprintf("%q is not an API version that can be used", n.Spelled), `write for example "65.0"`)
	}
	sf.DailyBudget = m.Number("daily_budget", 0.8, 0.01, 1)
	l.auth(m)
}

// flowKeys are what a flow needs and what it may have besides.
var flowKeys = map[Flow]struct{ need, may []string }{
	FlowJWT:               {need: []string{"client_id", "username", "private_key_file"}, may: []string{"audience"}},
	FlowClientCredentials: {need: []string{"client_id", "client_secret"}},
	FlowPassword:          {need: []string{"username", "password"}, may: []string{"token"}},
	FlowSession:           {need: []string{"access_token", "instance_url"}},
}

func (l *loader) auth(salesforce strictyaml.Map) {
	n := salesforce.Need("auth", "write auth: {flow: jwt, client_id: …, username: …, private_key_file: …}")
	m := n.Map(l.Report, "flow", "client_id", "client_secret", "username", "password", "token", "audience",
		"private_key_file", "access_token", "instance_url")
	if n == nil || m.Need("flow", "write flow: jwt, client_credentials, password or session") == nil {
		return
	}
	a := Auth{
		Flow:     Flow(m.Enum("flow", string(FlowJWT), string(FlowClientCredentials), string(FlowPassword), string(FlowSession))),
		ClientID: m.Text("client_id", ""), Username: m.Text("username", ""), Audience: m.Text("audience", ""),
		ClientSecret: l.secret(m, "client_secret"), Password: l.secret(m, "password"),
		Token: l.secret(m, "token"), AccessToken: l.secret(m, "access_token"),
		InstanceURL: l.orgURL(m, "instance_url", ""),
	}
	if m.Has("private_key_file") {
		a.PrivateKeyFile = below(l.dir, m.Text("private_key_file", ""))
	}
	l.cfg.Salesforce.Auth = a
	if m.Get("flow").Text == string(a.Flow) {
		l.judgeFlow(m, a.Flow)
		l.judgeHost(salesforce, m)
	}
}

// judgeFlow refuses what a flow lacks and what it has no use for.
func (l *loader) judgeFlow(m strictyaml.Map, flow Flow) {
	keys := flowKeys[flow]
	for _, key := range keys.need {
		if n := m.Need(key, fmt.Sprintf("flow %s needs it", flow)); n != nil && n.Kind == strictyaml.Scalar && strings.TrimSpace(n.Spelled) == "" {
			l.At(n, key+" is empty", fmt.Sprintf("flow %s needs it", flow))
		}
	}
	useful := append(append([]string{"flow"}, keys.need...), keys.may...)
	for _, e := range m.Entries() {
		used := false
		for _, key := range useful {
			used = used || key == e.Key
		}
		if m.Has(e.Key) && !used {
			l.Key(e, fmt.Sprintf("flow %s has no use for %s", flow, e.Key), "remove it, or choose another flow")
		}
	}
	if flow == FlowPassword {
		l.warn.At(m.Get("flow"), "Salesforce retires the SOAP login that this flow uses", "move to flow: jwt")
	}
}

// judgeHost: client credentials work at the org's own host only.
func (l *loader) judgeHost(salesforce, auth strictyaml.Map) {
	sf := l.cfg.Salesforce
	if sf.Auth.Flow != FlowClientCredentials || salesforce.Get("login_url").Unfilled() {
		return
	}
	generic := sf.LoginURL == productionLogin || sf.LoginURL == sandboxLogin
	if !generic && !strings.HasSuffix(sf.LoginURL, ".lightning.force.com") {
		return
	}
	at := salesforce.Get("login_url")
	if at == nil {
		at = auth.Node()
	}
	l.At(at, fmt.Sprintf("client credentials are not given out at %s", sf.LoginURL), "write login_url: https://MYDOMAIN.my.salesforce.com")
}
