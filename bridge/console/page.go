package console

import (
	"embed"
	"io/fs"
	"net/http"
	"path"
)

// The operators' page: what the browser gets, as it is.
//
//go:embed page
var pageFiles embed.FS

// pagePolicy lets the page load and ask nothing but this server, and be shown
// nowhere but by itself.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// NewPage returns the operators' page under /console. It holds no data and asks
// for no token: the operator types it, and the page sends it to the admin API.
func NewPage() http.Handler {
	files, err := fs.Sub(pageFiles, "page")
	if err != nil {
		panic("console: the page is not embedded: " + err.Error()) // the compiler has seen to it
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /console", func(w http.ResponseWriter, r *http.Request) { servePage(w, r, files, "index.html") })
	mux.HandleFunc("GET /console/{file}", func(w http.ResponseWriter, r *http.Request) { servePage(w, r, files, r.PathValue("file")) })
	mux.HandleFunc("GET /console/{$}", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/console", http.StatusFound) })
	return mux
}

func servePage(w http.ResponseWriter, r *http.Request, files fs.FS, name string) {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", contentType(name))
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if r.Method != http.MethodHead {
		_, _ = w.Write(text) // the browser is gone
	}
}

// contentType doesn't ask the machine, whose table may say anything.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return "application/octet-stream"
}
