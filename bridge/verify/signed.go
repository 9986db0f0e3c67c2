package verify

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/hmac"
	"hash"
	"io"
)

// matchSigned is the whole way of hmac, digest and ECDSA rules: read the
// signed time, compare every signature with every key, then judge the age.
// Signatures are looked for first, so that an unsigned delivery is told from
// one with a bad time.
func (c *check) matchSigned(r *request) (Reason, int) {
	received, reason := c.received(r)
	if reason != OK {
		return reason, -1
	}
	signed, reason := c.pieces(r)
	if reason != OK {
		return reason, -1
	}
	position, reason := c.compare(received, c.expected(signed))
	if reason != OK {
		return reason, -1
	}
	return c.age(r, signed), position
}

// compare finds the key that made one of the signatures.
func (c *check) compare(received []signature, expected []expectation) (int, Reason) {
	position, reason := -1, MalformedHeader
	for _, s := range received {
		var room [maxSignature]byte
		n, err := c.decode(room[:], s.text)
		if err != nil {
			continue
		}
		for _, e := range expected {
			if !e.sameKind(s) {
				continue
			}
			if e.equals(room[:n]) && position < 0 {
				position = e.position
			}
			reason = BadSignature
		}
	}
	if position >= 0 {
		return position, OK
	}
	return -1, reason
}

// signedText is what goes into the hash, in order; urls holds the spellings of
// {url} to try.
type signedText struct {
	pieces [][]byte // one per template part; nil for {url} and {secret}
	urls   []string
	ts     string
	hasTS  bool
}

// pieces collects the pieces of the signed bytes.
func (c *check) pieces(r *request) (*signedText, Reason) {
	s := &signedText{pieces: make([][]byte, len(c.parts)), urls: []string{""}}
	for i, p := range c.parts {
		reason := OK
		var text string
		switch p.kind {
		case partLiteral:
			text = p.text
		case partBody:
			s.pieces[i] = r.Body
			continue
		case partMethod:
			text = r.Method
		case partURL:
			s.urls = c.rule.URLs(r.URL)
			continue
		case partSecret:
			continue
		case partHeader:
			text, reason = Required(r.Header, p.text)
		case partJSON:
			text, reason = r.member(p.text)
		case partTS:
			text, reason = c.signedTime(r)
			s.ts, s.hasTS = text, true
		}
		if reason != OK {
			return nil, reason
		}
		s.pieces[i] = []byte(text)
	}
	return s, OK
}

// signedTime reads the timestamp's text and refuses what is no time.
func (c *check) signedTime(r *request) (string, Reason) {
	text, reason := c.timestampText(r)
	if reason != OK {
		return "", reason
	}
	if _, ok := tsUnits[c.rule.TS.Unit](text); !ok {
		return "", MalformedTimestamp
	}
	return text, OK
}

// age judges the time of a delivery whose signature is right.
func (c *check) age(r *request, s *signedText) Reason {
	if c.rule.TS == nil {
		return OK
	}
	if !s.hasTS { // it stands in the signed body, which may be read only now
		text, reason := c.signedTime(r)
		if reason != OK {
			return reason
		}
		s.ts = text
	}
	at, _ := tsUnits[c.rule.TS.Unit](s.ts)
	return Age(at, r.Now, c.rule.TS.Window())
}

// expectation is one signature that would be right, or how to tell it.
type expectation struct {
	position int
	digest   []byte            // an HMAC or hash: the signature itself
	ecdsa    *ecdsa.PublicKey  // or the key that signed digest
	ed25519  ed25519.PublicKey // or the key that signed message
	message  []byte
}

// sameKind says whether the signature is of the kind that the key makes.
func (e expectation) sameKind(s signature) bool { return s.public == (e.ed25519 != nil) }

func (e expectation) equals(signature []byte) bool {
	switch {
	case e.ed25519 != nil:
		return ed25519.Verify(e.ed25519, e.message, signature)
	case e.ecdsa != nil:
		return ecdsa.VerifyASN1(e.ecdsa, e.digest, signature)
	}
	return hmac.Equal(e.digest, signature)
}

func (c *check) expected(s *signedText) []expectation {
	list := make([]expectation, 0, len(c.keys)*len(s.urls))
	for _, k := range c.keys {
		for _, url := range s.urls {
			e := expectation{position: k.position, ecdsa: k.ecdsa, ed25519: k.ed25519}
			if k.ed25519 != nil {
				var message bytes.Buffer
				c.write(&message, k, s, url)
				e.message = message.Bytes()
			} else {
				e.digest = c.digest(k, s, url)
			}
			list = append(list, e)
		}
	}
	return list
}

func (c *check) digest(k key, s *signedText, url string) []byte {
	var h hash.Hash
	if c.rule.Kind == KindHMAC {
		h = hmac.New(c.hash, k.bytes)
	} else {
		h = c.hash()
	}
	c.write(h, k, s, url)
	return h.Sum(nil)
}

// write writes the signed bytes; w never fails.
func (c *check) write(w io.Writer, k key, s *signedText, url string) {
	for i, p := range c.parts {
		switch p.kind {
		case partURL:
			_, _ = io.WriteString(w, url)
		case partSecret:
			_, _ = io.WriteString(w, k.secret)
		default:
			_, _ = w.Write(s.pieces[i])
		}
	}
}
