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
	"regexp"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"sfbridge/bridge/verify"
)

type jsonWebKey struct {
	id  string
	key *ecdsa.PublicKey
}

// plaidAPI is how keys are asked for: the credentials of the API.
type plaidAPI struct{ host, clientID, secret string }

// plaidKey takes a JSON Web Key, or the credentials with which keys are
// fetched as "client_id:secret".
func plaidKey(secret string, params map[string]string) (any, error) {
	if strings.HasPrefix(strings.TrimSpace(secret), "{") {
		return jwkKey([]byte(secret))
	}
	id, password, ok := strings.Cut(secret, ":")
	if !ok || id == "" || password == "" {
		return nil, errors.New(`it is no JSON Web Key and no "client_id:secret"`)
	}
	host := params["environment"]
	if host != "sandbox" {
		host = "production"
	}
	return plaidAPI{host + ".plaid.com", id, password}, nil
}

var keyID = regexp.MustCompile(`^[0-9a-zA-Z_-]{1,100}$`)

// fetch gets the key of an id. Keys that have been replaced are refused.
func (p plaidAPI) fetch(in verify.Input, id string) (jsonWebKey, verify.Reason) {
	if !keyID.MatchString(id) {
		return jsonWebKey{}, verify.MalformedHeader
	}
	body, err := json.Marshal(map[string]string{"client_id": p.clientID, "secret": p.secret, "key_id": id})
	if err != nil {
		return jsonWebKey{}, verify.NoSecret
	}
	data, reason := fetched(in, verify.Fetch{
		URL: "https://" + p.host + "/webhook_verification_key/get", Name: id, Body: body,
	})
	if reason != verify.OK {
		return jsonWebKey{}, reason
	}
	var answer struct{ Key json.RawMessage }
	var ends struct {
		Expired *json.Number `json:"expired_at"`
	}
	if json.Unmarshal(data, &answer) != nil || json.Unmarshal(answer.Key, &ends) != nil || ends.Expired != nil {
		return jsonWebKey{}, verify.BadSignature
	}
	key, err := jwkKey(answer.Key)
	if err != nil || key.id != id {
		return jsonWebKey{}, verify.BadSignature
	}
	return key, verify.OK
}

// jwkKey reads a P-256 public key in JWK form.
func jwkKey(text []byte) (jsonWebKey, error) {
	var j struct{ Kty, Crv, X, Y, Kid string }
	if err := json.Unmarshal(text, &j); err != nil {
		return jsonWebKey{}, errors.New("it is no JSON Web Key")
	}
	x, errX := base64.RawURLEncoding.DecodeString(j.X)
	y, errY := base64.RawURLEncoding.DecodeString(j.Y)
	if j.Kty != "EC" || j.Crv != "P-256" || errX != nil || errY != nil {
		return jsonWebKey{}, errors.New("it is no P-256 JSON Web Key")
	}
	const size = 32 // of a coordinate, with its leading zeros
	if len(x) != size || len(y) != size {
		return jsonWebKey{}, errors.New("it is no P-256 JSON Web Key")
	}
	point := append(append([]byte{4}, x...), y...) // 4: uncompressed
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil { // off the curve
		return jsonWebKey{}, errors.New("it is no P-256 JSON Web Key")
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
	fetch := verify.OK
	claims, reason := parseToken(token, "ES256", func(t *jwt.Token) (any, error) {
		id, _ := t.Header["kid"].(string)
		known, pinned := in.Key.(jsonWebKey)
		if api, ok := in.Key.(plaidAPI); ok {
			known, fetch = api.fetch(in, id)
		}
		if fetch != verify.OK || (pinned && id != known.id) {
			return nil, errors.New("signed with a key that is not known")
		}
		return known.key, nil
	})
	if fetch != verify.OK {
		return fetch
	}
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
