package special

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"sfbridge/bridge/verify"
)

type jsonWebKey struct {
	id  string
	key *ecdsa.PublicKey
}

// jwkKey reads a P-256 public key in JWK form.
func jwkKey(secret string, _ map[string]string) (any, error) {
	var j struct{ Kty, Crv, X, Y, Kid string }
	if err := json.Unmarshal([]byte(secret), &j); err != nil {
		return nil, errors.New("it is no JSON Web Key")
	}
	x, errX := base64.RawURLEncoding.DecodeString(j.X)
	y, errY := base64.RawURLEncoding.DecodeString(j.Y)
	if j.Kty != "EC" || j.Crv != "P-256" || errX != nil || errY != nil {
		return nil, errors.New("it is no P-256 JSON Web Key")
	}
	key := &ecdsa.PublicKey{Curve: elliptic.P256(), X: new(big.Int).SetBytes(x), Y: new(big.Int).SetBytes(y)}
	if _, err := key.ECDH(); err != nil { // off the curve
		return nil, errors.New("it is no P-256 JSON Web Key")
	}
	return jsonWebKey{j.Kid, key}, nil
}

// parseToken checks a JWT whose algorithm the rule fixes. Its own time claims
// are judged by the caller, so that they give reasons.
func parseToken(token, algorithm string, key func(*jwt.Token) (any, error)) (jwt.MapClaims, verify.Reason) {
	claims := jwt.MapClaims{}
	parser := jwt.NewParser(jwt.WithValidMethods([]string{algorithm}), jwt.WithoutClaimsValidation(), jwt.WithStrictDecoding())
	_, err := parser.ParseWithClaims(token, claims, key)
	switch {
	case err == nil:
		return claims, verify.OK
	case errors.Is(err, jwt.ErrTokenMalformed):
		return nil, verify.MalformedHeader
	}
	return nil, verify.BadSignature
}

// bodyToken is a JWT in a header that holds the hash of the body.
func bodyToken(in verify.Input) verify.Reason {
	token, reason := verify.Required(in.Request.Header, in.Rule.Sig.Headers[0])
	if reason != verify.OK {
		return reason
	}
	known := in.Key.(jsonWebKey)
	claims, reason := parseToken(token, "ES256", func(t *jwt.Token) (any, error) {
		if t.Header["kid"] != known.id {
			return nil, errors.New("signed with a key that is not known")
		}
		return known.key, nil
	})
	if reason != verify.OK {
		return reason
	}
	text, _ := claims["request_body_sha256"].(string)
	want, err := hex.DecodeString(text)
	sum := sha256.Sum256(in.Request.Body)
	if err != nil || !hmac.Equal(sum[:], want) {
		return verify.BadSignature
	}
	issued, err := claims.GetIssuedAt()
	if err != nil || issued == nil {
		return verify.MalformedTimestamp
	}
	if in.Rule.MaxAgeSeconds == nil {
		return verify.OK
	}
	return verify.Age(issued.Time, in.Request.Now, time.Duration(*in.Rule.MaxAgeSeconds)*time.Second)
}

// callerToken is a JWT that proves who calls, and nothing about the body.
func callerToken(in verify.Input) verify.Reason {
	header, reason := verify.Required(in.Request.Header, in.Rule.Sig.Headers[0])
	if reason != verify.OK {
		return reason
	}
	token := strings.TrimPrefix(header, "Bearer ")
	claims, reason := parseToken(token, "HS256", func(*jwt.Token) (any, error) { return in.Key, nil })
	if reason != verify.OK {
		return reason
	}
	expires, err := claims.GetExpirationTime()
	if err != nil || expires == nil {
		return verify.MalformedTimestamp
	}
	if !in.Request.Now.Before(expires.Time) {
		return verify.TooOld
	}
	if notBefore, err := claims.GetNotBefore(); err != nil || (notBefore != nil && in.Request.Now.Before(notBefore.Time)) {
		return verify.TooNew
	}
	return verify.OK
}
