package console_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/console"
)

// pageFiles are the files of the page by name.
func pageFiles(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("page/*")
	require.NoError(t, err)
	files := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		files[filepath.Base(name)] = string(text)
	}
	require.Contains(t, files, "index.html")
	require.Contains(t, files, "main.js")
	return files
}

func getPage(target string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	console.NewPage().ServeHTTP(w, httptest.NewRequest("GET", target, nil))
	return w
}

func TestThePageIsServedSafely(t *testing.T) {
	t.Parallel()
	types := map[string]string{
		".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
	}
	targets := map[string]string{"/console": "index.html"}
	for name := range pageFiles(t) {
		targets["/console/"+name] = name
	}
	for target, name := range targets {
		w := getPage(target)
		require.Equal(t, 200, w.Code, target)
		assert.Equal(t, pageFiles(t)[name], w.Body.String())
		assert.Equal(t, types[filepath.Ext(name)], w.Header().Get("Content-Type"), target)
		assert.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
		assert.Equal(t, "no-store", w.Header().Get("Cache-Control"))
		assert.Equal(t, "no-referrer", w.Header().Get("Referrer-Policy"))
		assert.Equal(t, "DENY", w.Header().Get("X-Frame-Options"))
		policy := w.Header().Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"} {
			assert.Contains(t, policy, part)
		}
		assert.NotContains(t, policy, "unsafe")
	}
	assert.Equal(t, "/console", getPage("/console/").Header().Get("Location"))
	for _, none := range []string{"/console/none.js", "/console/..%2fconsole.go", "/console/page/main.js", "/consoles"} {
		assert.Equal(t, 404, getPage(none).Code, none)
	}
	w := httptest.NewRecorder()
	console.NewPage().ServeHTTP(w, httptest.NewRequest("POST", "/console", nil))
	assert.Equal(t, 405, w.Code)
}

var (
	routeEntry = regexp.MustCompile(`\["(GET|POST)", "(/admin/v1[^"]*)"\]`)
	address    = regexp.MustCompile(`(?i)(https?:)?//[a-z0-9]`)
	reference  = regexp.MustCompile(`(?:src|href)="([^"#]+)"|from "([^"]+)"`)
)

// TestThePageCallsWhatIsDescribed: the table of routes in api.js is the only
// place that names any, and the document has every one of them.
func TestThePageCallsWhatIsDescribed(t *testing.T) {
	t.Parallel()
	doc := document(t)
	named := 0
	for name, text := range pageFiles(t) {
		entries := routeEntry.FindAllStringSubmatch(text, -1)
		assert.Equal(t, len(entries), strings.Count(text, "/admin/"), "%s names a route outside the table", name)
		if name != "api.js" {
			assert.NotContains(t, text, "fetch(", name)
			assert.NotContains(t, text, "sessionStorage", name)
		}
		for _, e := range entries {
			operation(t, doc, e[1], e[2])
			named++
		}
	}
	assert.Greater(t, named, 10)
}

// TestThePageStandsAlone: nothing comes from elsewhere, no text becomes markup
// or code, and the token goes nowhere but into a header.
func TestThePageStandsAlone(t *testing.T) {
	t.Parallel()
	files := pageFiles(t)
	for name, text := range files {
		text = strings.ReplaceAll(text, "http://www.w3.org/2000/svg", "") // a name, not an address
		code := regexp.MustCompile(`(?m)^\s*//.*$`).ReplaceAllString(text, "")
		assert.Empty(t, address.FindString(code), "%s points elsewhere", name)
		for _, sink := range []string{
			"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "javascript:", "DOMParser",
			"setHTML", "createContextualFragment", "srcdoc", "localStorage", "document.cookie", "postMessage", "@import", "url(",
		} {
			assert.NotContains(t, text, sink, name)
		}
		for _, r := range reference.FindAllStringSubmatch(text, -1) {
			target := filepath.Base(r[1] + r[2])
			assert.True(t, target == "svg" || files[target] != "" || strings.HasPrefix(r[1]+r[2], "#"), "%s refers to %s, which isn't here", name, target)
		}
	}
	assert.NotRegexp(t, `<script>|<style|\son[a-z]+=|\sstyle=`, files["index.html"])
	assert.Regexp(t, `Authorization: "Bearer " \+ session\.token`, files["api.js"])
	assert.Equal(t, 1, strings.Count(files["api.js"], "session.token"))
}

// TestThePageExplainsEveryReason: the page knows the codes that the bridge
// decides on.
func TestThePageExplainsEveryReason(t *testing.T) {
	t.Parallel()
	codes, err := os.ReadFile("../event/codes.go")
	require.NoError(t, err)
	var known, explained []string
	for _, c := range regexp.MustCompile(`Code\w+\s*= "(\w+)"`).FindAllStringSubmatch(string(codes), -1) {
		known = append(known, c[1])
	}
	for _, c := range regexp.MustCompile(`(?m)^  (\w+): "`).FindAllStringSubmatch(pageFiles(t)["reasons.js"], -1) {
		explained = append(explained, c[1])
	}
	slices.Sort(known)
	slices.Sort(explained)
	assert.Equal(t, known, explained)
}
