package salesforce

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"html"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// decodeFaults reads the errors of a failed answer in any of the shapes that
// Salesforce, its token host and its edge use. It always gives at least one.
func decodeFaults(status int, body []byte, like Answer) []Fault {
	text := bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
	var found []faultReply
	switch {
	case len(text) == 0:
		found = []faultReply{{Message: "empty answer"}}
	case text[0] == '[' || text[0] == '{' || text[0] == '"':
		found = jsonFaults(status, text)
	case text[0] == '<':
		found = markupFaults(text)
	}
	if len(found) == 0 {
		found = []faultReply{{Message: excerpt(string(text))}}
	}
	faults := make([]Fault, len(found))
	for i, f := range found {
		a := like
		a.Code, a.Message, a.Status = f.code(), f.Message, status
		faults[i] = newFault(a, f.Fields)
	}
	return faults
}

// jsonFaults reads the JSON shapes: a list of errors, one error under several
// names, a list of addresses (several records match a key), a bare text.
func jsonFaults(status int, text []byte) []faultReply {
	switch text[0] {
	case '[':
		return listFaults(status, text)
	case '"':
		var s string
		if unmarshal(text, &s) {
			return []faultReply{{Message: excerpt(s)}}
		}
		return nil
	}
	var o struct {
		faultReply
		Code        looseText `json:"code"`
		Error       looseText `json:"error"`
		Description looseText `json:"error_description"`
	}
	if !unmarshal(text, &o) {
		return nil
	}
	f := o.faultReply
	f.ErrorCode = first(f.ErrorCode, string(o.Error), string(o.Code))
	f.Message = first(f.Message, string(o.Description))
	if f.code() == "" && f.Message == "" {
		return nil
	}
	return []faultReply{f}
}

func listFaults(status int, text []byte) []faultReply {
	if status == http.StatusMultipleChoices {
		var urls []string
		if unmarshal(text, &urls) {
			return []faultReply{{ErrorCode: "DUPLICATE_EXTERNAL_ID",
				Message: "more than one record has this external ID: " + strconv.Itoa(len(urls))}}
		}
	}
	var list []faultReply
	if !unmarshal(text, &list) {
		return nil
	}
	if len(list) == 0 {
		return []faultReply{{Message: "empty list of errors"}}
	}
	return list
}

// looseText takes a JSON string or number.
type looseText string

func (t *looseText) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = looseText(s)
		return nil
	}
	var n json.Number
	if json.Unmarshal(b, &n) == nil {
		*t = looseText(n)
	}
	return nil
}

// markupFaults reads an XML error list, a SOAP fault or an HTML page.
func markupFaults(text []byte) []faultReply {
	var x struct {
		Errors []struct {
			Code    string `xml:"errorCode"`
			Message string `xml:"message"`
		} `xml:"Error"`
		FaultCode string `xml:"Body>Fault>faultcode"`
		FaultText string `xml:"Body>Fault>faultstring"`
	}
	if err := xml.Unmarshal(text, &x); err == nil {
		if x.FaultCode != "" || x.FaultText != "" {
			return []faultReply{{ErrorCode: ruleKey(x.FaultCode), Message: excerpt(x.FaultText)}}
		}
		var list []faultReply
		for _, e := range x.Errors {
			list = append(list, faultReply{ErrorCode: e.Code, Message: excerpt(e.Message)})
		}
		if len(list) > 0 {
			return list
		}
	}
	return []faultReply{{Message: "a page instead of data: " + excerpt(pageText(text))}}
}

var (
	pageTitle = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)
	pageNoise = regexp.MustCompile(`(?is)<(script|style)[^>]*>.*?</(script|style)>|<[^>]*>`)
)

func pageText(text []byte) string {
	if m := pageTitle.FindSubmatch(text); m != nil && len(bytes.TrimSpace(m[1])) > 0 {
		return html.UnescapeString(string(m[1]))
	}
	return html.UnescapeString(string(pageNoise.ReplaceAll(text, []byte(" "))))
}

// maxExcerpt bounds what is kept of an answer that isn't in a known shape.
const maxExcerpt = 200

func excerpt(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	if len(s) <= maxExcerpt {
		return s
	}
	return strings.ToValidUTF8(s[:maxExcerpt], "") + "…"
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
