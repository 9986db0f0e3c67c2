package special_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/verify"
)

func TestPlaid(t *testing.T) {
	t.Parallel()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	coordinate := func(n *big.Int) string { return base64.RawURLEncoding.EncodeToString(n.FillBytes(make([]byte, 32))) }
	jwk := fmt.Sprintf(`{"kty":"EC","crv":"P-256","kid":"k1","x":%q,"y":%q}`, coordinate(key.X), coordinate(key.Y))
	body := []byte("{\n  \"a\": 1\n}")
	sum := sha256.Sum256(body)
	for name, c := range map[string]struct {
		kid    any
		claims jwt.MapClaims
		want   verify.Reason
	}{
		"right":      {"k1", jwt.MapClaims{"iat": now.Unix(), "request_body_sha256": hex.EncodeToString(sum[:])}, verify.OK},
		"edge":       {"k1", jwt.MapClaims{"iat": now.Unix() - 300, "request_body_sha256": hex.EncodeToString(sum[:])}, verify.OK},
		"old":        {"k1", jwt.MapClaims{"iat": now.Unix() - 301, "request_body_sha256": hex.EncodeToString(sum[:])}, verify.TooOld},
		"new":        {"k1", jwt.MapClaims{"iat": now.Unix() + 301, "request_body_sha256": hex.EncodeToString(sum[:])}, verify.TooNew},
		"no time":    {"k1", jwt.MapClaims{"request_body_sha256": hex.EncodeToString(sum[:])}, verify.MalformedTimestamp},
		"time text":  {"k1", jwt.MapClaims{"iat": "x", "request_body_sha256": hex.EncodeToString(sum[:])}, verify.MalformedTimestamp},
		"other body": {"k1", jwt.MapClaims{"iat": now.Unix(), "request_body_sha256": strings.Repeat("00", 32)}, verify.BadSignature},
		"no hash":    {"k1", jwt.MapClaims{"iat": now.Unix()}, verify.BadSignature},
		"other key":  {"k2", jwt.MapClaims{"iat": now.Unix(), "request_body_sha256": hex.EncodeToString(sum[:])}, verify.BadSignature},
		"no key id":  {nil, jwt.MapClaims{"iat": now.Unix(), "request_body_sha256": hex.EncodeToString(sum[:])}, verify.BadSignature},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			token := jwt.NewWithClaims(jwt.SigningMethodES256, c.claims)
			token.Header["kid"] = c.kid
			text, err := token.SignedString(key)
			require.NoError(t, err)
			header := http.Header{"Plaid-Verification": {text}}
			assert.Equal(t, c.want, judge(t, "plaid", jwk, verify.Request{Header: header, Body: body}))
		})
	}
}

func TestMonday(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		claims jwt.MapClaims
		want   verify.Reason
	}{
		"right":         {jwt.MapClaims{"exp": now.Unix() + 1}, verify.OK},
		"over":          {jwt.MapClaims{"exp": now.Unix()}, verify.TooOld},
		"without end":   {jwt.MapClaims{}, verify.MalformedTimestamp},
		"not yet valid": {jwt.MapClaims{"exp": now.Unix() + 9, "nbf": now.Unix() + 5}, verify.TooNew},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := jwt.NewWithClaims(jwt.SigningMethodHS256, c.claims).SignedString([]byte("s3cret"))
			require.NoError(t, err)
			for _, lead := range []string{"", "Bearer "} {
				header := http.Header{"Authorization": {lead + text}}
				assert.Equal(t, c.want, judge(t, "monday", "s3cret", verify.Request{Header: header}))
				assert.Equal(t, verify.BadSignature, judge(t, "monday", "other", verify.Request{Header: header}))
			}
		})
	}
}
