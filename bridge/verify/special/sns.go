package special

import (
	"crypto"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"net/url"
	"regexp"
	"slices"
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
	if topics := in.Params["topics"]; topics != "" && !slices.Contains(strings.Split(topics, ","), m.TopicARN) {
		return verify.BadSignature // rightly signed, perhaps, for somebody else's topic
	}
	key, _ := in.Key.(*rsa.PublicKey)
	if key == nil {
		var reason verify.Reason
		if key, reason = snsCertificate(in, m.SigningCertURL); reason != verify.OK {
			return reason
		}
	}
	return checkRSA(key, hash, m.text(), m.Signature)
}

// snsFetched asks for the topics: anybody can sign for a topic of their own.
func snsFetched(params map[string]string) (any, error) {
	if params["topics"] == "" {
		return nil, errors.New("params.topics is missing: name the ARNs of the topics that may deliver")
	}
	return (*rsa.PublicKey)(nil), nil
}

// snsCertificate fetches a certificate. It comes without its chain: that the
// right host serves it over TLS is what vouches for it.
func snsCertificate(in verify.Input, address string) (*rsa.PublicKey, verify.Reason) {
	chain, reason := fetchCertificates(in, address)
	if reason != verify.OK {
		return nil, reason
	}
	c := chain[0]
	if in.Request.Now.Before(c.NotBefore) || in.Request.Now.After(c.NotAfter) || !named(c, ".amazonaws.com", ".amazonaws.com.cn") {
		return nil, verify.UntrustedURL
	}
	return rsaKey(c)
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
