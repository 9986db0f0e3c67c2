// Package console is the operators' side of the service over HTTP: the admin
// API under /admin/v1, and under /console a page that uses it.
//
//	handler := console.NewHandler(console.Config{Desk: desk, Token: token, Stats: stats, …})
//	page := console.NewPage()
//
// Every request carries the admin token as a bearer token, which is compared in
// constant time. Requests are rate limited, those with a wrong token apart, so
// that a guesser can't keep the operators out. What changes anything leaves a
// line in the log: who, what, which, why (where a reason is given), and what came
// of it. The caller says who in the header X-Actor.
//
// openapi.yaml describes the routes; it is served at /admin/v1/openapi.yaml,
// and the tests hold routes and answers to it.
//
// The page is a few files in folder page, embedded as they are: no build, no
// dependency, nothing from other hosts, and a policy that holds the browser to
// that. The operator types the token; the page keeps it in the tab. All that
// the API tells is put in as text, never as markup.
package console
