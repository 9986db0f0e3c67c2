package providers

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net/http"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func base64url(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

const (
	topic   = "arn:aws:sns:eu-west-1:1:orders"
	certURL = "https://sns.eu-west-1.amazonaws.com/cert.pem"
)

// amazon signs messages with a certificate of its own making.
type amazon struct {
	key  *rsa.PrivateKey
	cert []byte
}

func newAmazon(t *testing.T, name string) amazon {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Unix(1750000000, 0), NotAfter: time.Unix(1770000000, 0),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	return amazon{key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

func (a amazon) message(t *testing.T, m map[string]string) string {
	t.Helper()
	m["MessageId"], m["Timestamp"], m["SignatureVersion"] = "m1", "2025-10-09T08:53:20.000Z", "2"
	if m["SigningCertURL"] == "" {
		m["SigningCertURL"] = certURL
	}
	names := []string{"Message", "MessageId", "Timestamp", "TopicArn", "Type"}
	if m["Type"] != "Notification" {
		names = []string{"Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"}
	}
	text := ""
	for _, n := range names {
		text += n + "\n" + m[n] + "\n"
	}
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, a.key, crypto.SHA256, sum[:])
	require.NoError(t, err)
	m["Signature"] = base64.StdEncoding.EncodeToString(signature)
	body, err := json.Marshal(m)
	require.NoError(t, err)
	return string(body)
}

func TestSNSWithAFetchedCertificate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.source("sns", "aws-sns", nil, `params: {topics: ["`+topic+`"]}`)
	w.start()
	a := newAmazon(t, "sns.amazonaws.com")
	w.keys.served[certURL] = a.cert
	plain := http.Header{"Content-Type": {"text/plain; charset=UTF-8"}}
	send := func(m map[string]string) reply { return w.post("sns", plain, a.message(t, m)) }

	r := send(map[string]string{"Type": "Notification", "Message": "hello", "TopicArn": topic})
	assert.Equal(t, 202, r.status, r.body)
	require.Len(t, w.stager.taken(), 1)
	assert.Equal(t, 401, send(map[string]string{"Type": "Notification", "Message": "x", "TopicArn": topic + "x"}).status, "rightly signed, for another topic")
	asked := len(w.keys.asked)
	assert.Equal(t, 401, send(map[string]string{"Type": "Notification", "Message": "x", "TopicArn": topic, "SigningCertURL": "https://sns.eu-west-1.amazonaws.com.evil.example/c.pem"}).status)
	assert.Len(t, w.keys.asked, asked, "a foreign host is not even asked")

	confirm := "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=t"
	subscription := map[string]string{"Type": "SubscriptionConfirmation", "TopicArn": topic, "SubscribeURL": confirm, "Token": "t"}
	assert.Equal(t, 200, send(subscription).status)
	assert.Equal(t, []string{confirm}, w.keys.called)
	subscription["TopicArn"] = "arn:aws:sns:eu-west-1:2:evil"
	assert.Equal(t, 401, send(subscription).status)
	assert.Len(t, w.keys.called, 1)
	assert.Empty(t, w.stager.taken(), "a confirmation is no event")

	w.keys.down = true
	r = send(map[string]string{"Type": "Notification", "Message": "y", "TopicArn": topic})
	assert.Equal(t, 503, r.status, "the key can't be had now: send it again")
	assert.NotEmpty(t, r.header.Get("Retry-After"))
	w.keys.down = false
	w.keys.served[certURL] = newAmazon(t, "sns.evil.example").cert
	assert.Equal(t, 401, send(map[string]string{"Type": "Notification", "Message": "y", "TopicArn": topic}).status)
	w.now.Store(1780000000)
	w.keys.served[certURL] = a.cert
	assert.Equal(t, 401, send(map[string]string{"Type": "Notification", "Message": "y", "TopicArn": topic}).status, "the certificate has ended")
}

// TestSNSWithAPinnedCertificate takes any topic's events, as bridge check warns,
// and confirms nobody's subscription.
func TestSNSWithAPinnedCertificate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := newAmazon(t, "sns.amazonaws.com")
	w.source("sns", "aws-sns", []string{string(a.cert)}, "")
	w.start()
	assert.Equal(t, 202, w.post("sns", nil, a.message(t, map[string]string{"Type": "Notification", "Message": "x", "TopicArn": topic})).status)
	assert.Equal(t, 403, w.post("sns", nil, a.message(t, map[string]string{"Type": "SubscriptionConfirmation", "TopicArn": topic, "Token": "t",
		"SubscribeURL": "https://sns.eu-west-1.amazonaws.com/?Token=t"})).status)
	assert.Empty(t, w.keys.called)
	assert.Empty(t, w.keys.asked)
	assert.Len(t, w.stager.taken(), 1)
}

func TestPlaidWithAFetchedKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.source("plaid", "plaid", []string{"client:password"}, "params: {environment: sandbox}")
	w.start()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	w.keys.served["https://sandbox.plaid.com/webhook_verification_key/getk1"] = jwk(&key.PublicKey, "k1")
	body := `{"webhook_type":"TRANSACTIONS","webhook_code":"SYNC_UPDATES_AVAILABLE","item_id":"i1"}`
	sum := sha256.Sum256([]byte(body))
	send := func(id string) reply {
		token := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{"iat": w.now.Load(), "request_body_sha256": hex.EncodeToString(sum[:])})
		token.Header["kid"] = id
		text, err := token.SignedString(key)
		require.NoError(t, err)
		return w.post("plaid", http.Header{"Plaid-Verification": {text}}, body)
	}
	assert.Equal(t, 200, send("k1").status)
	row := w.stager.taken()
	require.Len(t, row, 1)
	assert.Equal(t, "TRANSACTIONS.SYNC_UPDATES_AVAILABLE", row[0].Type)
	assert.Contains(t, row[0].ID, "plaid:sha256:")
	assert.Equal(t, 401, send("k2").status, "there is no such key")
	assert.Equal(t, 401, send("../x").status, "no key has such a name, so none is asked for")
	assert.Len(t, w.keys.asked, 2)
}

// TestSendGridBatches: one row per event, signed with a private key.
func TestSendGridBatches(t *testing.T) {
	t.Parallel()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	require.NoError(t, err)
	w := newWorld(t)
	w.source("mail", "sendgrid", []string{base64.StdEncoding.EncodeToString(public)}, "")
	w.start()
	body := "[{\"sg_event_id\":\"1\",\"event\":\"open\",\"email\":\"a@x.test\",\"timestamp\":1760000000},{\"event\":\"open\"},\r\n{\"sg_event_id\":\"2\",\"event\":\"open\"}]\r\n"
	send := func(body, signed string) reply {
		sum := sha256.Sum256([]byte("1760000000" + signed))
		signature, err := ecdsa.SignASN1(rand.Reader, key, sum[:])
		require.NoError(t, err)
		return w.post("mail", http.Header{
			"X-Twilio-Email-Event-Webhook-Timestamp": {"1760000000"},
			"X-Twilio-Email-Event-Webhook-Signature": {base64.StdEncoding.EncodeToString(signature)},
		}, body)
	}
	assert.Equal(t, 202, send(body, body).status)
	rows := w.stager.taken()
	require.Len(t, rows, 3)
	assert.Equal(t, []string{"mail:1", "mail:2"}, []string{rows[0].ID, rows[2].ID})
	assert.Equal(t, "Review", string(rows[1].Status))
	assert.Equal(t, 200, send(body, body).status, "again")
	assert.Empty(t, w.stager.taken())
	assert.Equal(t, 401, send(body[:len(body)-2], body).status, "its last line break is signed too")
}
