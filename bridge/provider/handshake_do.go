package provider

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"regexp"
	"strings"

	"sfbridge/mapping/path"
)

// do is what handshakes do that no table can say. ok is false when the request
// is not that handshake after all.
var do = map[string]func(Ask) (Reply, bool){
	"hash-token":       hashToken,
	"signed-challenge": signedChallenge,
	"verify-token":     verifyToken,
	"numbered-ping":    numberedPing,
	"echo-challenge":   echoChallenge,
	"confirm":          confirm,
}

var (
	tokenForm     = regexp.MustCompile(`^[A-Za-z0-9+/=_-]{1,200}$`)
	challengeForm = regexp.MustCompile(`^[a-f0-9]{20,32}$`)
	pingForm      = regexp.MustCompile(`^webhook_id=[0-9]{1,20}$`)
)

// hashToken answers with the HMAC of a token. What could be the text of a
// signature (it has a colon) is never hashed, but refused: it is no event either.
func hashToken(a Ask) (Reply, bool) {
	token := member(a.Value, "payload", "plainToken")
	if !tokenForm.MatchString(token) || a.Secret == "" {
		return refused(http.StatusBadRequest), true
	}
	h := hmac.New(sha256.New, []byte(a.Secret))
	_, _ = h.Write([]byte(token))
	return Reply{Answer: jsonAnswer(map[string]string{
		"plainToken": token, "encryptedToken": hex.EncodeToString(h.Sum(nil)),
	})}, true
}

// signedChallenge signs what only can be a challenge, with the key that signs
// deliveries: anything else would make it sign for strangers.
func signedChallenge(a Ask) (Reply, bool) {
	challenge := a.Query.Get("bt_challenge")
	public, private, ok := strings.Cut(a.Secret, ":")
	if !ok || !challengeForm.MatchString(challenge) {
		return refused(http.StatusBadRequest), true
	}
	key := sha1.Sum([]byte(private))
	h := hmac.New(sha1.New, key[:])
	_, _ = h.Write([]byte(challenge))
	return Reply{Answer: &Answer{
		Status: http.StatusOK, ContentType: "text/plain", Body: public + "|" + hex.EncodeToString(h.Sum(nil)),
	}}, true
}

// verifyToken repeats a challenge to who knows the token.
func verifyToken(a Ask) (Reply, bool) {
	want, got := a.Params["verify_token"], a.Query.Get("hub.verify_token")
	x, y := sha256.Sum256([]byte(want)), sha256.Sum256([]byte(got))
	challenge := a.Query.Get("hub.challenge")
	if want == "" || subtle.ConstantTimeCompare(x[:], y[:]) != 1 ||
		a.Query.Get("hub.mode") != "subscribe" || len(challenge) > maxRepeated {
		return refused(http.StatusForbidden), true
	}
	return Reply{Answer: &Answer{Status: http.StatusOK, ContentType: "text/plain", Body: challenge}}, true
}

// numberedPing is a form with the number of a new webhook and nothing else.
func numberedPing(a Ask) (Reply, bool) {
	return Reply{}, pingForm.Match(a.Body)
}

// echoChallenge repeats a challenge that is all there is in the body.
func echoChallenge(a Ask) (Reply, bool) {
	members, _ := a.Value.(map[string]any)
	challenge, ok := members["challenge"].(string)
	if !ok || len(members) != 1 || challenge == "" || len(challenge) > maxRepeated {
		return Reply{}, false
	}
	return Reply{Answer: jsonAnswer(map[string]string{"challenge": challenge})}, true
}

// confirm asks for the address in the message to be called. Signature and topic
// were judged before, if topics are named; whoever calls judges the address.
func confirm(a Ask) (Reply, bool) {
	if a.Params["topics"] == "" {
		return refused(http.StatusForbidden), true
	}
	address := member(a.Value, "SubscribeURL")
	return Reply{Confirm: address}, address != ""
}

func refused(status int) Reply {
	return Reply{Refused: true, Answer: &Answer{Status: status, Empty: true}}
}

// member is a text inside a value; "" when it isn't one.
func member(v any, names ...string) string {
	for _, name := range names {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	text, _ := path.Text(v)
	return text
}
