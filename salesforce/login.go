package salesforce

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"sfbridge/internal/failpoint"
)

const (
	stars = "***"
	// minSecret: shorter texts would be found by chance.
	minSecret = 4
	// maxLoginReply bounds the answer to a login.
	maxLoginReply = 1 << 20
)

// LoginRequest is a login to send with SendLogin.
type LoginRequest struct {
	// Op is OpToken or OpLogin.
	Op        string
	Request   *http.Request
	Transport http.RoundTripper
	// Hide are texts that must not show in an error if the answer echoes them.
	Hide []Secret
}

// SendLogin sends a login and gives the body of a good answer. Every other
// answer, and none, is an *Error whose class is decided where all classes are.
func SendLogin(ctx context.Context, login LoginRequest) ([]byte, error) {
	req := request{op: login.Op, login: true}
	failpoint.Hit(failpoint.Call(login.Op))
	resp, err := login.Transport.RoundTrip(login.Request.WithContext(ctx))
	if err != nil {
		return nil, transportError(ctx, req, err, true)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(&limitedReader{r: resp.Body, left: maxLoginReply})
	r := reply{op: login.Op, status: resp.StatusCode, header: resp.Header, body: body}
	switch {
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		r.body = []byte(hideIn(string(body), login.Hide...))
		return nil, r.refused(req)
	case errors.Is(err, errTooLong):
		return nil, r.lost("the answer is too long")
	case err != nil:
		return nil, transportError(ctx, req, err, true)
	}
	return body, nil
}

// UnreadableLogin is the error of a good answer that isn't one to a login.
func UnreadableLogin(op string) *Error {
	return &Error{Op: op, Status: http.StatusOK, Fault: Fault{Message: "the answer is none to a login", Class: ClassRetryable}}
}

// hideIn takes secrets that were echoed out of a text.
func hideIn(text string, secrets ...Secret) string {
	for _, s := range secrets {
		if len(s) >= minSecret {
			text = strings.ReplaceAll(text, s.Reveal(), stars)
		}
	}
	return text
}
