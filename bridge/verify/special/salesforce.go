package special

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"

	"sfbridge/bridge/verify"
)

const outboundNamespace = "http://soap.sforce.com/2005/09/outbound"

// organisation compares the organization id of a Salesforce outbound message,
// which signs nothing, with the one configured.
func organisation(in verify.Input) verify.Reason {
	got, err := organisationID(in.Request.Body)
	switch {
	case err != nil:
		return verify.MalformedHeader
	case got == "":
		return verify.MissingHeader
	case caseSafe(got) != caseSafe(string(in.Key.([]byte))):
		return verify.BadSignature
	}
	return verify.OK
}

// caseSafe cuts an 18 character id to the 15 that identify.
func caseSafe(id string) string {
	if len(id) == 18 {
		return id[:15]
	}
	return id
}

// maxTokens is how far into a message its organization id may stand: it comes
// first, and a message without one shall not be read to its end.
const maxTokens = 64

// organisationID reads notifications/OrganizationId.
func organisationID(body []byte) (string, error) {
	d := xml.NewDecoder(bytes.NewReader(body))
	for range maxTokens {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local != "OrganizationId" || start.Name.Space != outboundNamespace {
			continue
		}
		var text string
		err = d.DecodeElement(&text, &start)
		return text, err
	}
	return "", nil
}
