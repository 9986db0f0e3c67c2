package special_test

import (
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"hash/crc32"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/verify"
	"sfbridge/bridge/verify/special"
)

var now = time.Unix(1760000000, 0)

func judge(t *testing.T, scheme, secret string, req verify.Request) verify.Reason {
	t.Helper()
	table, err := verify.LoadTable()
	require.NoError(t, err)
	v, err := verify.New(verify.Config{
		Rules: []verify.Rule{table[scheme]}, Secrets: []string{secret}, Schemes: special.Schemes(),
		Params: map[string]string{"webhook_id": "WH-1"},
	})
	require.NoError(t, err)
	if req.Now.IsZero() {
		req.Now = now
	}
	if req.Header == nil {
		req.Header = http.Header{}
	}
	return v.Verify(req).Reason
}

func mac64(key []byte, text string) string {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(h.Sum(nil))
}

func TestAdyenItems(t *testing.T) {
	t.Parallel()
	const secret = "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056"
	key, err := hex.DecodeString(secret)
	require.NoError(t, err)
	good := `"pspReference":"p1","merchantAccountCode":"Acc","merchantReference":"r:1","amount":{"value":1130,"currency":"EUR"},"eventCode":"AUTHORISATION","success":"true"`
	signature := mac64(key, "p1::Acc:r:1:1130:EUR:AUTHORISATION:true")
	item := func(members, signature string) string {
		return `{"NotificationRequestItem":{` + members + `,"additionalData":{"hmacSignature":"` + signature + `"}}}`
	}
	body := func(items ...string) string { return `{"notificationItems":[` + strings.Join(items, ",") + `]}` }
	for name, c := range map[string]struct {
		body string
		want verify.Reason
	}{
		"one":                    {body(item(good, signature)), verify.OK},
		"two":                    {body(item(good, signature), item(good, signature)), verify.OK},
		"unsigned member":        {body(item(good+`,"reason":"x"`, signature)), verify.OK},
		"second one bad":         {body(item(good, signature), item(strings.Replace(good, "1130", "1131", 1), signature)), verify.BadSignature},
		"amount as text":         {body(item(strings.Replace(good, "1130", `"1130"`, 1), signature)), verify.OK},
		"amount spelled anew":    {body(item(strings.Replace(good, "1130", "1130.0", 1), signature)), verify.BadSignature},
		"no signature":           {body(item(good, "")), verify.MissingHeader},
		"not base64":             {body(item(good, "!")), verify.MalformedHeader},
		"no item":                {`{"notificationItems":[{}]}`, verify.MissingHeader},
		"null item":              {`{"notificationItems":[null]}`, verify.MissingHeader},
		"no items":               {body(), verify.MissingHeader},
		"no list":                {`{"notificationItems":7}`, verify.MissingHeader},
		"not an object":          {`[]`, verify.MalformedHeader},
		"not JSON":               {`{`, verify.NotJSON},
		"signed ones elsewhere":  {`{"notificationItems":[{}],"NotificationItems":[` + item(good, signature) + `]}`, verify.MissingHeader},
		"other spelling in item": {body(item(good+`,"PSPReference":"p2"`, signature)), verify.OK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, judge(t, "adyen-items", secret, verify.Request{Body: []byte(c.body)}))
		})
	}
}

func TestTwilioRefusesWhatItsSignatureDoesNotCover(t *testing.T) {
	t.Parallel()
	const secret = "12345"
	sign := func(text string) http.Header {
		h := hmac.New(sha1.New, []byte(secret))
		h.Write([]byte(text))
		return http.Header{"X-Twilio-Signature": {base64.StdEncoding.EncodeToString(h.Sum(nil))}}
	}
	form := func(h http.Header) http.Header {
		h.Set("Content-Type", "application/x-www-form-urlencoded")
		return h
	}
	const u = "https://h.example/t"
	sum := sha256.Sum256([]byte("{}"))
	hashed := u + "?bodySHA256=" + hex.EncodeToString(sum[:])
	for name, c := range map[string]struct {
		url    string
		header http.Header
		body   string
		want   verify.Reason
	}{
		"values of one field are sorted, each once": {u, form(sign(u + "a1a2b")), "a=2&b=&a=1&a=2", verify.OK},
		"JSON by its hash":                          {hashed, sign(hashed), "{}", verify.OK},
		"JSON without its hash":                     {u, sign(u), "{}", verify.BadSignature},
		"other body":                                {hashed, sign(hashed), "{ }", verify.BadSignature},
		"hash is no hex":                            {u + "?bodySHA256=zz", sign(u + "?bodySHA256=zz"), "{}", verify.BadSignature},
		"two hashes":                                {hashed + "&bodySHA256=00", sign(hashed + "&bodySHA256=00"), "{}", verify.BadSignature},
		"bad escape":                                {u, form(sign(u)), "a=%zz", verify.MalformedHeader},
		"not base64":                                {u, http.Header{"X-Twilio-Signature": {"?"}}, "", verify.MalformedHeader},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, judge(t, "twilio", secret, verify.Request{Method: "POST", URL: c.url, Header: c.header, Body: []byte(c.body)}))
		})
	}
}

func certificate(t *testing.T) (*rsa.PrivateKey, string) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	return key, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func rsaSign(t *testing.T, key *rsa.PrivateKey, hash crypto.Hash, text string) string {
	t.Helper()
	h := hash.New()
	h.Write([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, hash, h.Sum(nil))
	require.NoError(t, err)
	return base64.StdEncoding.EncodeToString(signature)
}

func TestPayPal(t *testing.T) {
	t.Parallel()
	key, cert := certificate(t)
	body := []byte(`{"id":"WH-2"}`)
	text := fmt.Sprintf("id-1|2026-01-01T00:00:00Z|WH-1|%d", crc32.ChecksumIEEE(body))
	delivery := func(change func(http.Header)) verify.Request {
		h := http.Header{}
		h.Set("PAYPAL-TRANSMISSION-ID", "id-1")
		h.Set("PAYPAL-TRANSMISSION-TIME", "2026-01-01T00:00:00Z")
		h.Set("PAYPAL-TRANSMISSION-SIG", rsaSign(t, key, crypto.SHA256, text))
		h.Set("PAYPAL-CERT-URL", "https://api.paypal.com/v1/notifications/certs/CERT-1")
		h.Set("PAYPAL-AUTH-ALGO", "SHA256withRSA")
		change(h)
		return verify.Request{Header: h, Body: body}
	}
	assert.Equal(t, verify.OK, judge(t, "paypal", cert, delivery(func(http.Header) {})))
	assert.Equal(t, verify.BadSignature, judge(t, "paypal", cert, delivery(func(h http.Header) { h.Set("PAYPAL-TRANSMISSION-ID", "id-2") })))
	assert.Equal(t, verify.MalformedHeader, judge(t, "paypal", cert, delivery(func(h http.Header) { h.Set("PAYPAL-AUTH-ALGO", "SHA1withRSA") })))
	assert.Equal(t, verify.RepeatedHeader, judge(t, "paypal", cert, delivery(func(h http.Header) { h.Add("PAYPAL-CERT-URL", "x") })))
	for _, foreign := range []string{
		"https://api.paypal.com.evil.example/v1/notifications/certs/x", "https://evil.example/v1/notifications/certs/x",
		"https://api.paypal.com@evil.example/v1/notifications/certs/x", "http://api.paypal.com/v1/notifications/certs/x",
		"https://api.paypal.com/other/x", "https://api.paypal.com:8443/v1/notifications/certs/x", "https://x@api.paypal.com/v1/notifications/certs/x",
		"https://api.paypal.com/v1/notifications/certs/../../x", "://",
	} {
		assert.Equal(t, verify.UntrustedURL, judge(t, "paypal", cert, delivery(func(h http.Header) { h.Set("PAYPAL-CERT-URL", foreign) })), foreign)
	}
}

func TestSNS(t *testing.T) {
	t.Parallel()
	key, cert := certificate(t)
	const certURL = "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem"
	message := func(members map[string]any) []byte {
		data, err := json.Marshal(members)
		require.NoError(t, err)
		return data
	}
	confirm := map[string]any{
		"Type": "SubscriptionConfirmation", "MessageId": "m", "TopicArn": "arn", "Message": "hello", "Timestamp": "2026",
		"Token": "tok", "SubscribeURL": "https://s", "SignatureVersion": "2", "SigningCertURL": certURL,
		"Signature": rsaSign(t, key, crypto.SHA256, "Message\nhello\nMessageId\nm\nSubscribeURL\nhttps://s\nTimestamp\n2026\nToken\ntok\nTopicArn\narn\nType\nSubscriptionConfirmation\n"),
	}
	assert.Equal(t, verify.OK, judge(t, "aws-sns", cert, verify.Request{Body: message(confirm)}))
	confirm["SubscribeURL"] = "https://evil.example"
	assert.Equal(t, verify.BadSignature, judge(t, "aws-sns", cert, verify.Request{Body: message(confirm)}))
	confirm["SubscribeURL"] = "https://s"
	for _, foreign := range []string{
		"https://sns.eu-west-1.amazonaws.com.evil.example/x.pem", "https://evil.example/sns.eu-west-1.amazonaws.com/x.pem",
		"http://sns.eu-west-1.amazonaws.com/x.pem", "https://sns.eu-west-1.amazonaws.com/x.txt", "https://a@sns.eu-west-1.amazonaws.com/x.pem",
		"https://sns.e.amazonaws.com/x.pem", "https://bucket.s3.amazonaws.com/x.pem", "%",
	} {
		confirm["SigningCertURL"] = foreign
		assert.Equal(t, verify.UntrustedURL, judge(t, "aws-sns", cert, verify.Request{Body: message(confirm)}), foreign)
	}
	confirm["SigningCertURL"] = certURL
	confirm["message"] = "another spelling"
	assert.Equal(t, verify.OK, judge(t, "aws-sns", cert, verify.Request{Body: message(confirm)}), "exact names only")
	for body, want := range map[string]verify.Reason{`{`: verify.NotJSON, `[]`: verify.MalformedHeader, `{}`: verify.MissingHeader} {
		assert.Equal(t, want, judge(t, "aws-sns", cert, verify.Request{Body: []byte(body)}), body)
	}
}

func TestBraintreeTakesItsOwnSignatureOnly(t *testing.T) {
	t.Parallel()
	key := sha1.Sum([]byte("private"))
	sign := func(text string) string {
		h := hmac.New(sha1.New, key[:])
		h.Write([]byte(text))
		return hex.EncodeToString(h.Sum(nil))
	}
	form := func(pairs, payload string) verify.Request {
		return verify.Request{Body: []byte(url.Values{"bt_signature": {pairs}, "bt_payload": {payload}}.Encode())}
	}
	assert.Equal(t, verify.OK, judge(t, "braintree", "public:private", form("a|00&public|"+sign("x\n"), "x\n")))
	assert.Equal(t, verify.OK, judge(t, "braintree", "public:private", form("public|"+sign("x\n"), "x")), "the last line break was lost")
	assert.Equal(t, verify.BadSignature, judge(t, "braintree", "public:private", form("public|"+sign("x"), "y")))
	assert.Equal(t, verify.MalformedHeader, judge(t, "braintree", "public:private", form("other|"+sign("x"), "x")))
	assert.Equal(t, verify.MalformedHeader, judge(t, "braintree", "public:private", form("public|zz", "x")))
	assert.Equal(t, verify.MissingHeader, judge(t, "braintree", "public:private", verify.Request{Body: []byte("bt_payload=x&bt_payload=y&bt_signature=a")}))
}

func TestSalesforceOrganisation(t *testing.T) {
	t.Parallel()
	message := func(ids string) verify.Request {
		return verify.Request{Body: []byte(`<e xmlns="http://schemas.xmlsoap.org/soap/envelope/"><notifications xmlns="http://soap.sforce.com/2005/09/outbound">` + ids + `</notifications></e>`)}
	}
	const id = "<OrganizationId>00D000000000062EAA</OrganizationId>"
	assert.Equal(t, verify.OK, judge(t, "salesforce-om", "00D000000000062EAA", message(id)))
	assert.Equal(t, verify.OK, judge(t, "salesforce-om", "00D000000000062", message(id)), "15 characters")
	assert.Equal(t, verify.BadSignature, judge(t, "salesforce-om", "00d000000000062EAA", message(id)), "case counts")
	assert.Equal(t, verify.MissingHeader, judge(t, "salesforce-om", "00D000000000062EAA", message("")))
	assert.Equal(t, verify.MissingHeader, judge(t, "salesforce-om", "00D000000000062EAA", message(strings.Repeat("<a/>", 100)+id)), "it comes first")
	assert.Equal(t, verify.MalformedHeader, judge(t, "salesforce-om", "00D000000000062EAA", message("<a")))
	assert.Equal(t, verify.NoSecret, judge(t, "mollie-classic", "x", verify.Request{}), "nothing is signed")
}
