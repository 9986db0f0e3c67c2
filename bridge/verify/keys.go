package verify

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"strings"
)

var hashes = map[string]func() hash.Hash{
	"sha1":   sha1.New,
	"sha256": sha256.New,
	"sha512": sha512.New,
}

// strictBase64 refuses missing padding and unused bits that are not zero.
var strictBase64 = base64.StdEncoding.Strict()

// decoders write the decoded form into dst and return its length. The bytes
// are worthless when an error comes with them. The standard base64 decoder
// skips line breaks, which no header value may hold.
var decoders = map[string]func(dst []byte, s string) (int, error){
	"hex": func(dst []byte, s string) (int, error) {
		if hex.DecodedLen(len(s)) > len(dst) {
			return 0, errWrongLength
		}
		return hex.Decode(dst, []byte(s))
	},
	"base64": func(dst []byte, s string) (int, error) {
		if base64.StdEncoding.DecodedLen(len(s)) > len(dst)+2 || strings.ContainsAny(s, "\r\n") {
			return 0, errWrongLength
		}
		var room [maxSignature + 2]byte
		n, err := strictBase64.Decode(room[:], []byte(s))
		if err != nil || n > len(dst) {
			return 0, errWrongLength
		}
		return copy(dst, room[:n]), nil
	},
}

// maxSignature is the longest binary signature that the engine compares: a
// SHA-512 digest, or an ECDSA P-256 signature in DER (72 bytes).
const maxSignature = 80

var errWrongLength = errors.New("not of the right form")

// keyForms turn the text of a secret, as the provider shows it, into key
// bytes. Their errors never quote the secret.
var keyForms = map[string]func(secret string) ([]byte, error){
	"raw": func(secret string) ([]byte, error) { return []byte(secret), nil },
	"hex": func(secret string) ([]byte, error) {
		key, err := hex.DecodeString(secret)
		if err != nil {
			return nil, errors.New("it is not hexadecimal: paste the key as the provider shows it")
		}
		return key, nil
	},
	"whsec":       whsecKey,
	"spki-base64": decodeBase64Key,
}

// whsecKey takes "whsec_" + base64 (some paste "v1,whsec_…", some leave the
// prefix out).
func whsecKey(secret string) ([]byte, error) {
	text := strings.TrimPrefix(strings.TrimPrefix(secret, "v1,"), "whsec_")
	return decodeBase64Key(text)
}

func decodeBase64Key(text string) ([]byte, error) {
	key, err := strictBase64.DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") {
		return nil, errors.New("it is not base64: paste the key as the provider shows it")
	}
	return key, nil
}

// parseECDSA reads a SubjectPublicKeyInfo.
func parseECDSA(der []byte) (*ecdsa.PublicKey, error) {
	parsed, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, errors.New("it is no public key")
	}
	key, ok := parsed.(*ecdsa.PublicKey)
	if !ok || key.Curve != elliptic.P256() {
		return nil, errors.New("it is no P-256 public key")
	}
	return key, nil
}

// SecretError says which secret can't be used; it never holds the secret.
type SecretError struct {
	Position int // in Config.Secrets; -1: there is none
	Problem  string
}

func (e *SecretError) Error() string {
	switch {
	case e.Position < 0 && e.Problem != "":
		return e.Problem
	case e.Position < 0:
		return "no secret is configured"
	}
	return fmt.Sprintf("secret %d can't be used: %s", e.Position+1, e.Problem)
}

// blank says that a secret is empty, or would be to a person who looks at it.
func blank(secret string) bool { return strings.TrimSpace(secret) == "" }

// key is one usable secret.
type key struct {
	position int    // in Config.Secrets
	secret   string // as configured: tokens, Basic, {secret}
	bytes    []byte // HMAC key
	ecdsa    *ecdsa.PublicKey
	ed25519  ed25519.PublicKey
	special  any // what a Scheme made of it
}

// prepare makes the key of a rule out of one secret.
func (c *check) prepare(position int, secret string) (key, error) {
	k := key{position: position, secret: secret}
	fail := func(problem string) (key, error) {
		return key{}, &SecretError{Position: position, Problem: problem}
	}
	if blank(secret) {
		return fail("it is empty")
	}
	var err error
	switch c.rule.Kind {
	case KindHMAC, KindECDSA:
		err = c.prepareBytes(&k)
	case KindBasic:
		if !strings.Contains(secret, ":") {
			err = errors.New(`write it as "user:password"`)
		}
	case KindToken, KindDigest:
	default:
		k.special, err = c.scheme.Key(secret, c.params)
	}
	if err != nil {
		return fail(err.Error())
	}
	return k, nil
}

// publicMark begins a public key where others begin with "whsec_".
const publicMark = "whpk_"

func (c *check) prepareBytes(k *key) (err error) {
	if text, ok := strings.CutPrefix(k.secret, publicMark); ok && c.rule.Sig.PublicPrefix != "" {
		raw, err := decodeBase64Key(text)
		if err == nil && len(raw) != ed25519.PublicKeySize {
			err = errors.New("it is no Ed25519 public key")
		}
		k.ed25519 = raw
		return err
	}
	if k.bytes, err = keyForms[c.rule.Key](k.secret); err != nil {
		return err
	}
	if len(k.bytes) == 0 {
		return errors.New("the key in it is empty")
	}
	if c.rule.Kind == KindECDSA {
		k.ecdsa, err = parseECDSA(k.bytes)
	}
	return err
}
