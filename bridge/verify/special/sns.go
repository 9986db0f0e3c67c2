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
	Type, MessageID, TopicARN, Message, Timestamp string
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
	body, err := exactMembers(in.Request.Body)
	if err != nil {
		return verify.MalformedHeader
	}
	m := body.message()
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

func (m members) message() snsMessage {
	get := func(name string) string {
		value, _ := m.text(name)
		return value
	}
	message := snsMessage{
		Type: get("Type"), MessageID: get("MessageId"), TopicARN: get("TopicArn"), Message: get("Message"),
		Timestamp: get("Timestamp"), Token: get("Token"), SubscribeURL: get("SubscribeURL"),
		SignatureVersion: get("SignatureVersion"), Signature: get("Signature"), SigningCertURL: get("SigningCertURL"),
	}
	if subject, ok := m.text("Subject"); ok {
		message.Subject = &subject
	}
	return message
}

// text is the signed text: name and value of each member on lines of their own.
func (m snsMessage) text() string {
	var b strings.Builder
	line := func(name, value string) {
		b.WriteString(name + "\n" + value + "\n")
	}
	line("Message", m.Message)
	line("MessageId", m.MessageID)
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
	line("TopicArn", m.TopicARN)
	line("Type", m.Type)
	return b.String()
}

func snsCertURL(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && u.Scheme == "https" && u.User == nil &&
		snsHost.MatchString(u.Host) && strings.HasSuffix(u.Path, ".pem")
}
