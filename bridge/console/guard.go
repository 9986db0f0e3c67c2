package console

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// authorize lets only those through who know the token, and not too often.
// Digests are compared, so that not even the length of the token shows.
func (a *api) authorize(c *gin.Context) {
	scheme, given, _ := strings.Cut(c.GetHeader("Authorization"), " ")
	digest := sha256.Sum256([]byte(given))
	known := subtle.ConstantTimeCompare(digest[:], a.token[:]) == 1 && strings.EqualFold(scheme, "Bearer")
	c.Header("Cache-Control", "no-store")
	c.Header("X-Content-Type-Options", "nosniff")
	switch {
	case !known && !a.misses.Allow():
		refuse(c, tooMany())
	case !known:
		a.cfg.Log.Warn("admin API: the token is missing or wrong", "from", c.Request.RemoteAddr)
		c.Header("WWW-Authenticate", "Bearer")
		refuse(c, &problem{http.StatusUnauthorized, "unauthorized", "the admin token is missing or wrong"})
	case !a.calls.Allow():
		refuse(c, tooMany())
	default:
		c.Next()
	}
}

// recover answers a request that made a handler panic. The text of the panic
// may hold payload and stays out of the log.
func (a *api) recover(c *gin.Context) {
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler { //nolint:errorlint // it is panicked with as it is
				panic(p)
			}
			a.cfg.Log.Error("a request made the admin API panic", "route", c.FullPath())
			refuse(c, &problem{http.StatusInternalServerError, "failed", "this is a fault of the bridge"})
		}
	}()
	c.Next()
}
