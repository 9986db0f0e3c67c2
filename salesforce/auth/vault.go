package auth

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"sfbridge/salesforce"
)

// vault seals sessions so that only those open them who could log in anyway: its
// key is derived from the login's own secret, and what it sealed is bound to the
// login. The name under which it is left tells nothing of either.
type vault struct {
	name string
	aead cipher.AEAD
	bind []byte
}

// sealForm is the first byte of what was sealed.
const sealForm = 1

// newVault gives the vault of a login; nil where nothing may be shared: a session
// from outside is everybody's already, and a key made of a password that people
// choose could be guessed from what it sealed.
func (c Config) newVault() (*vault, error) {
	var secret string
	switch {
	case c.Shared == nil:
		return nil, nil
	case c.Flow == JWT:
		secret = c.PrivateKey.Reveal()
	case c.Flow == ClientCredentials:
		secret = c.ClientSecret.Reveal()
	case c.Flow == Password && c.SecurityToken != "":
		secret = c.SecurityToken.Reveal() + c.Password.Reveal()
	default:
		return nil, nil
	}
	v := &vault{bind: []byte(strings.Join([]string{string(c.Flow), c.LoginURL, c.ClientID, c.Username}, "\n"))}
	derive := func(purpose string, size int) ([]byte, error) {
		return hkdf.Key(sha256.New, []byte(secret), v.bind, "bridge session "+purpose, size)
	}
	key, err := derive("key", 32)
	if err != nil {
		return nil, fmt.Errorf("deriving the key of shared sessions: %w", err)
	}
	name, err := derive("name", 12)
	if err != nil {
		return nil, fmt.Errorf("deriving the name of shared sessions: %w", err)
	}
	v.name = "session-" + hex.EncodeToString(name)
	block, err := aes.NewCipher(key)
	if err == nil {
		v.aead, err = cipher.NewGCMWithRandomNonce(block)
	}
	if err != nil {
		return nil, fmt.Errorf("preparing the cipher of shared sessions: %w", err)
	}
	return v, nil
}

// sealed is what a vault holds.
type sealed struct {
	Token    string `json:"token"`
	Instance string `json:"instance"`
	Org      string `json:"org,omitempty"`
}

func (v *vault) seal(s salesforce.Session) ([]byte, error) {
	text, err := json.Marshal(sealed{Token: s.Token.Reveal(), Instance: s.Instance, Org: s.Org})
	if err != nil {
		return nil, fmt.Errorf("sealing a session: %w", err)
	}
	return v.aead.Seal([]byte{sealForm}, nil, text, v.bind), nil
}

// open is the reverse; ok is false for anything that this login has not sealed.
func (v *vault) open(text []byte) (s salesforce.Session, ok bool) {
	if len(text) == 0 || text[0] != sealForm {
		return salesforce.Session{}, false
	}
	plain, err := v.aead.Open(nil, nil, text[1:], v.bind)
	if err != nil {
		return salesforce.Session{}, false
	}
	var found sealed
	if err := json.Unmarshal(plain, &found); err != nil || found.Token == "" {
		return salesforce.Session{}, false
	}
	return salesforce.Session{Token: salesforce.Secret(found.Token), Instance: found.Instance, Org: found.Org}, true
}
