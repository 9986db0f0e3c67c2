package special

import (
	"crypto"
	"crypto/rsa"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"

	"sfbridge/bridge/verify"
)

// snsMessage is what Amazon SNS signs, and the signature.
type snsMessage struct {
	Type, MessageId, TopicArn, Message, Timestamp string
	Subject                                       *string
	Token, SubscribeURL                           string
	SignatureVersion, Signature, SigningCertURL   string
}

var snsHost = regexp.MustCompile(`^sns\.[a-zA-Z0-9-]{3,}\.amazonaws\.com(\.cn)?$`)

// sns checks the signature inside the message.
func sns(in verify.Input) verify.Reason {
	if !json.Valid(in.Request.Body) {
		return verify.NotJSON
	}
	members, err := exactMembers(in.Request.Body)
	if err != nil {
		return verify.MalformedHeader
	}
	m := members.message()
	if m.Signature == "" || m.SigningCertURL == "" {
		return verify.MissingHeader
	}
	if !snsCertURL(m.SigningCertURL) {
		return verify.UntrustedURL
	}
	hash, ok := map[string]crypto.Hash{"1": crypto.SHA1, "2": crypto.SHA256}[m.SignatureVersion]
	if !ok {
		return verify.MalformedHeader
	}
	return checkRSA(in.Key.(*rsa.PublicKey), hash, m.text(), m.Signature)
}

// texts holds the text members of an object under their exact names: the
// decoder's own matching ignores case, which would let a second spelling pass
// unsigned.
type texts map[string]string

func exactMembers(body []byte) (texts, error) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(body, &raw); err != nil {
		return nil, err
	}
	t := texts{}
	for name, value := range raw {
		var text string
		if len(value) > 0 && value[0] == '"' && json.Unmarshal(value, &text) == nil {
			t[name] = text
		}
	}
	return t, nil
}

func (t texts) message() snsMessage {
	m := snsMessage{
		Type: t["Type"], MessageId: t["MessageId"], TopicArn: t["TopicArn"], Message: t["Message"], Timestamp: t["Timestamp"],
		Token: t["Token"], SubscribeURL: t["SubscribeURL"],
		SignatureVersion: t["SignatureVersion"], Signature: t["Signature"], SigningCertURL: t["SigningCertURL"],
	}
	if subject, ok := t["Subject"]; ok {
		m.Subject = &subject
	}
	return m
}

// text is the signed text: name and value of each member on lines of their own.
func (m snsMessage) text() string {
	var b strings.Builder
	line := func(name, value string) {
		b.WriteString(name + "\n" + value + "\n")
	}
	line("Message", m.Message)
	line("MessageId", m.MessageId)
	if m.Type != "Notification" {
		line("SubscribeURL", m.SubscribeURL)
		line("Timestamp", m.Timestamp)
		line("Token", m.Token)
	} else {
		if m.Subject != nil {
			line("Subject", *m.Subject)
		}
		line("Timestamp", m.Timestamp)
	}
	line("TopicArn", m.TopicArn)
	line("Type", m.Type)
	return b.String()
}

func snsCertURL(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && u.Scheme == "https" && u.User == nil &&
		snsHost.MatchString(u.Host) && strings.HasSuffix(u.Path, ".pem")
}
