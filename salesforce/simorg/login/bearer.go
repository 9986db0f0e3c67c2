package login

import (
	"encoding/json"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const bearerCeiling = 3 * time.Minute

// bearer checks a JWT bearer assertion.
func (s *Service) bearer(r *http.Request) *refusal {
	claims, err := s.claims(r.PostForm.Get("assertion"))
	if err != nil {
		return err
	}
	issuer, _ := claims["iss"].(string)
	subject, _ := claims["sub"].(string)
	expiry, ok := seconds(claims["exp"])
	now := s.cfg.Now()
	switch {
	case issuer == "":
		return &refusal{"invalid_client_id", "client identifier invalid"}
	case subject == "":
		return invalidGrant("user hasn't approved this consumer")
	case !s.audience(claims["aud"], r):
		return invalidGrant("audience is invalid")
	case !ok || !now.Before(expiry), s.cfg.Ceiling && expiry.After(now.Add(bearerCeiling)):
		return invalidGrant("expired authorization code")
	}
	return nil
}

// claims parses an assertion and, if there is a key, checks its signature.
func (s *Service) claims(assertion string) (jwt.MapClaims, *refusal) {
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"RS256"}), jwt.WithoutClaimsValidation(), jwt.WithJSONNumber())
	claims := jwt.MapClaims{}
	if s.key != nil {
		if _, err := parser.ParseWithClaims(assertion, claims, func(*jwt.Token) (any, error) { return s.key, nil }); err != nil {
			return nil, invalidGrant("invalid assertion")
		}
		return claims, nil
	}
	t, _, err := parser.ParseUnverified(assertion, claims)
	if err != nil || t.Method.Alg() != "RS256" {
		return nil, invalidGrant("invalid assertion")
	}
	return claims, nil
}

// seconds reads exp, which some clients send as text.
func seconds(v any) (time.Time, bool) {
	text, _ := v.(string)
	if n, ok := v.(json.Number); ok {
		text = n.String()
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.Abs(f) > 1<<53 {
		return time.Time{}, false
	}
	return time.Unix(int64(f), 0), true
}

// audience says whether the assertion is meant for a login host or this org.
func (s *Service) audience(v any, r *http.Request) bool {
	switch v := v.(type) {
	case string:
		return s.isAudience(v, r)
	case []any:
		if len(v) == 1 {
			text, _ := v[0].(string)
			return s.isAudience(text, r)
		}
	}
	return false
}

func (s *Service) isAudience(text string, r *http.Request) bool {
	u, err := url.Parse(text)
	if err != nil || strings.Trim(u.Path, "/") != "" {
		return false
	}
	switch u.Host {
	case "login.salesforce.com", "test.salesforce.com":
		return u.Scheme == "https"
	}
	return u.Scheme+"://"+u.Host == BaseURL(r) || u.Scheme == "https" && strings.HasSuffix(u.Host, ".my.salesforce.com")
}
