package app

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestTheRootLeadsToTheConsole: where there is one, an operator who knows only
// admin.listen finds it.
func TestTheRootLeadsToTheConsole(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		console  http.Handler // the admin API
		root     int
		location string
		page     int
		url      string
	}{
		{"with a token", http.NotFoundHandler(), http.StatusFound, "/console", http.StatusOK, "http://:0/console"},
		{"without one", nil, http.StatusNotFound, "", http.StatusNotFound, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := &Bridge{metrics: NewMetrics(func() float64 { return 0 }), admin: newPipes(), console: tt.console}
			routes := b.adminRoutes(http.NotFoundHandler())
			ask := func(path string) *httptest.ResponseRecorder {
				w := httptest.NewRecorder()
				routes.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
				return w
			}
			root := ask("/")
			assert.Equal(t, tt.root, root.Code)
			assert.Equal(t, tt.location, root.Header().Get("Location"))
			assert.Equal(t, http.StatusNotFound, ask("/other").Code)
			assert.Equal(t, tt.page, ask("/console").Code)
			assert.Equal(t, tt.url, b.ConsoleURL())
		})
	}
}
