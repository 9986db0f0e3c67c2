package console

import (
	"context"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"sfbridge/bridge/operate"
)

// problem is a request that is not answered as it was meant.
type problem struct {
	status  int
	code    string
	message string
}

func (p *problem) Error() string { return p.message }

func badRequest(message string) *problem {
	return &problem{http.StatusBadRequest, "bad_request", message}
}

func notFound(message string) *problem { return &problem{http.StatusNotFound, "not_found", message} }

func wrongMethod() *problem {
	return &problem{http.StatusMethodNotAllowed, "method", "this route has other methods"}
}

func tooMany() *problem {
	return &problem{http.StatusTooManyRequests, "rate_limited", "too many requests: wait a second"}
}

// problemOf is the one place where errors become answers.
func problemOf(err error) *problem {
	var known *problem
	var usage *operate.UsageError
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &usage):
		return badRequest(usage.Problem)
	case errors.As(err, &large):
		return &problem{http.StatusRequestEntityTooLarge, "too_large", "the body is too large"}
	case errors.Is(err, operate.ErrNotFound):
		return notFound(err.Error())
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return &problem{http.StatusGatewayTimeout, "timeout", "it took too long: what was done so far stands, ask again to go on"}
	}
	return &problem{http.StatusBadGateway, "unavailable", err.Error()}
}

// refuse answers with what went wrong.
func refuse(c *gin.Context, err error) {
	p := problemOf(err)
	if p.status == http.StatusTooManyRequests {
		c.Header("Retry-After", "1")
	}
	c.AbortWithStatusJSON(p.status, gin.H{"error": p.code, "message": p.message})
}
