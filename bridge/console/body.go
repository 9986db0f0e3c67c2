package console

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/gin-gonic/gin"
)

// maxRequest bounds the body of an action.
const maxRequest = 256 << 10

// readBody reads one JSON object strictly: a member that is not known might have
// been meant to choose less. An empty body leaves into as it is.
func readBody(c *gin.Context, into any) error {
	d := json.NewDecoder(http.MaxBytesReader(c.Writer, c.Request.Body, maxRequest))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("data after the object")
		}
	}
	var large *http.MaxBytesError
	if err == nil || errors.As(err, &large) {
		return err
	}
	return badRequest("the body is not what this route takes: " + err.Error())
}
