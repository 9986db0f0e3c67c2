package login

import (
	"crypto/hmac"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// Config says who may log in.
type Config struct {
	ClientID, ClientSecret string // of client_credentials
	Cert                   []byte // PEM; empty: signatures of assertions go unchecked
	Ceiling                bool   // refuse assertions that expire more than three minutes ahead
	PerHour                int    // logins of the user in an hour
	OrgID, UserID          string
	Username               string
	Now                    func() time.Time
}

// Service answers token requests and SOAP logins.
type Service struct {
	cfg      Config
	sessions *Sessions
	key      *rsa.PublicKey

	mu     sync.Mutex
	logins []time.Time // of the last hour
}

// New makes a service over sessions. A certificate that can't be read is an error.
func New(cfg Config, sessions *Sessions) (*Service, error) {
	s := &Service{cfg: cfg, sessions: sessions}
	if len(cfg.Cert) == 0 {
		return s, nil
	}
	key, err := jwt.ParseRSAPublicKeyFromPEM(cfg.Cert)
	if err != nil {
		return nil, err
	}
	s.key = key
	return s, nil
}

// refusal is an error of the token endpoint.
type refusal struct {
	Code        string `json:"error"`
	Description string `json:"error_description"`
}

func (r *refusal) Error() string { return r.Code + ": " + r.Description }

func invalidGrant(description string) *refusal { return &refusal{"invalid_grant", description} }

// Refuse writes an error of the token endpoint.
func Refuse(w http.ResponseWriter, status int, code, description string) {
	writeJSON(w, status, refusal{code, description})
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	data, err := json.Marshal(body)
	if err != nil {
		status, data = http.StatusInternalServerError, nil
	}
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	w.Header().Set("Cache-Control", "no-cache, no-store")
	w.WriteHeader(status)
	_, _ = w.Write(data) // the client is gone: nobody to tell
}

type token struct {
	AccessToken string `json:"access_token"`
	Signature   string `json:"signature"`
	Scope       string `json:"scope"`
	InstanceURL string `json:"instance_url"`
	ID          string `json:"id"`
	TokenType   string `json:"token_type"`
	IssuedAt    string `json:"issued_at"`
}

const maxForm = 64 << 10

// Token answers POST /services/oauth2/token.
func (s *Service) Token(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if r.Method != http.MethodPost {
		Refuse(w, http.StatusBadRequest, "invalid_request", "must use HTTP POST")
		return
	}
	if err := r.ParseForm(); err != nil {
		Refuse(w, http.StatusBadRequest, "invalid_request", "request body could not be read")
		return
	}
	if err := s.grant(r); err != nil {
		writeJSON(w, http.StatusBadRequest, err)
		return
	}
	if !s.underLoginLimit() {
		Refuse(w, http.StatusBadRequest, "rate_limit_exceeded", "login rate exceeded")
		return
	}
	now := strconv.FormatInt(s.cfg.Now().UnixMilli(), 10)
	id := BaseURL(r) + "/id/" + s.cfg.OrgID + "/" + s.cfg.UserID
	writeJSON(w, http.StatusOK, token{
		AccessToken: s.sessions.Issue(), Signature: s.sign(id + now), Scope: "api", InstanceURL: BaseURL(r),
		ID: id, TokenType: "Bearer", IssuedAt: now,
	})
}

func (s *Service) sign(text string) string {
	mac := hmac.New(sha256.New, []byte(s.cfg.ClientSecret))
	mac.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func (s *Service) grant(r *http.Request) *refusal {
	switch r.PostForm.Get("grant_type") {
	case "urn:ietf:params:oauth:grant-type:jwt-bearer":
		return s.bearer(r)
	case "client_credentials":
		return s.clientCredentials(r)
	case "password": // blocked in new orgs
		return invalidGrant("authentication failure")
	case "refresh_token": // the flows served here give none out
		return invalidGrant("expired access/refresh token")
	case "":
		return &refusal{"invalid_request", "grant_type is required"}
	}
	return &refusal{"unsupported_grant_type", "grant type not supported"}
}

func (s *Service) clientCredentials(r *http.Request) *refusal {
	if !myDomain(r.Host) {
		return invalidGrant("request not supported on this domain")
	}
	id, secret := r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	if user, password, ok := r.BasicAuth(); ok && id == "" {
		id, secret = user, password
	}
	switch {
	case id != s.cfg.ClientID:
		return &refusal{"invalid_client_id", "client identifier invalid"}
	case !hmac.Equal([]byte(secret), []byte(s.cfg.ClientSecret)):
		return &refusal{"invalid_client", "invalid client credentials"}
	}
	return nil
}

// myDomain says whether a host is an org's own. Loopback takes its part here.
func myDomain(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	if host == "localhost" || strings.HasSuffix(host, ".my.salesforce.com") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// underLoginLimit counts a login and reports whether it is allowed.
func (s *Service) underLoginLimit() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.cfg.Now()
	for len(s.logins) > 0 && now.Sub(s.logins[0]) >= time.Hour {
		s.logins = s.logins[1:]
	}
	if len(s.logins) >= s.cfg.PerHour {
		return false
	}
	s.logins = append(s.logins, now)
	return true
}

// BaseURL is the address the client used, as instance URL.
func BaseURL(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + r.Host
}
