package reconcile

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sfbridge/bridge/outbound"
	"sfbridge/mapping"
	"sfbridge/mapping/path"
)

// page is one answer of a provider's list.
type page struct {
	asked  time.Time // when it was asked for
	at     string    // its address
	value  any
	header http.Header
}

// Tries of one page.
const (
	tries     = 3
	firstWait = 2 * time.Second
	longest   = time.Minute // that a provider may have us wait
)

// errBusy is an answer after which another try may help.
type errBusy struct {
	reason string
	pause  time.Duration
}

func (e *errBusy) Error() string { return e.reason }

// fetch asks for a page, again while the provider is busy or down.
func (r *Reconciler) fetch(ctx context.Context, c Comparison, address string) (page, error) {
	wait := firstWait
	for try := 1; ; try++ {
		if err := r.pace.Wait(ctx); err != nil {
			return page{}, err
		}
		p, err := r.ask(ctx, c, address)
		var busy *errBusy
		if !errors.As(err, &busy) || try == tries {
			return p, err
		}
		if busy.pause > longest {
			return p, fmt.Errorf("%w: it asks to wait %s", err, busy.pause)
		}
		if err := r.cfg.Sleep(ctx, max(wait, busy.pause)); err != nil {
			return page{}, err
		}
		wait *= 2
	}
}

func (r *Reconciler) ask(ctx context.Context, c Comparison, address string) (page, error) {
	h := http.Header{"Accept": {"application/json"}, "User-Agent": {"sfbridge"}}
	if c.Plan.Auth != "" {
		credential, known := r.cfg.Credential(c.Mapping.Source, c.Plan.Auth)
		if !known {
			return page{}, errors.New("the provider's credential is not filled in")
		}
		h.Set("Authorization", credential)
	}
	p := page{asked: r.cfg.Now(), at: address}
	reply, err := r.cfg.HTTP.Do(ctx, outbound.Request{URL: address, Header: h})
	switch {
	case err != nil && ctx.Err() != nil:
		return p, ctx.Err()
	case errors.Is(err, outbound.ErrForbidden):
		return p, errors.New("the list must not be called: it must be https and public, or stand in outbound.allow")
	case errors.Is(err, outbound.ErrTooLarge):
		return p, errors.New("a page of the list is too large: ask for fewer objects a page")
	case err != nil:
		return p, &errBusy{reason: "the provider does not answer: " + err.Error()}
	case reply.Status == http.StatusTooManyRequests, reply.Status == http.StatusRequestTimeout, reply.Status >= 500:
		return p, &errBusy{fmt.Sprintf("the provider answers with status %d", reply.Status), outbound.RetryAfter(reply.Header, r.cfg.Now())}
	case reply.Status != http.StatusOK:
		return p, fmt.Errorf("the provider answers with status %d", reply.Status)
	}
	if p.value, err = path.DecodeJSON(reply.Body); err != nil {
		return p, errors.New("a page of the list is no JSON")
	}
	p.header = reply.Header
	return p, nil
}

// next is the address of the page after this one; "" when it is the last.
// Credentials go to the list's own host only.
func (p page) next(plan *mapping.Reconcile) (string, error) {
	scope := path.Scope{Event: p.value, Outer: path.Delivery{Body: p.value, Header: p.header}}
	var text string
	switch {
	case !plan.NextURL.IsZero():
		expanded, present, err := plan.NextURL.Expand(scope)
		if err != nil || !present {
			return "", nil //nolint:nilerr // a part that is empty or missing: there is no next page
		}
		text = expanded
	case plan.NextPath.Root() == path.RootHeader && plan.NextPath.Header() == "link":
		text = linked(p.header.Values("Link"))
	case !plan.NextPath.IsZero():
		v, _ := plan.NextPath.Get(scope)
		switch v := v.(type) {
		case string:
			text = v
		case nil:
		case bool:
			if v {
				return "", errors.New("next is true, which is no address")
			}
		default:
			return "", fmt.Errorf("next is %s, which is no address", path.Kind(v))
		}
	}
	if text == "" {
		return "", nil
	}
	return p.resolve(plan, text)
}

func (p page) resolve(plan *mapping.Reconcile, text string) (string, error) {
	first, errFirst := url.Parse(plan.List)
	here, errHere := url.Parse(p.at)
	ref, err := url.Parse(text)
	if err := errors.Join(errFirst, errHere, err); err != nil {
		return "", errors.New("the address of the next page can't be read")
	}
	to := here.ResolveReference(ref)
	if to.Scheme != first.Scheme || !strings.EqualFold(to.Host, first.Host) || to.User != nil {
		return "", errors.New("the next page is on another host than the list")
	}
	if to.String() == p.at {
		return "", errors.New("the next page is this page")
	}
	return to.String(), nil
}

// linked finds the target of rel="next" among Link headers.
func linked(headers []string) string {
	for _, h := range headers {
		for rest := h; ; {
			open := strings.IndexByte(rest, '<')
			if open < 0 {
				break
			}
			target, after, closed := strings.Cut(rest[open+1:], ">")
			if !closed {
				break
			}
			params := after
			if i := strings.IndexByte(after, '<'); i >= 0 {
				params = after[:i]
			}
			if isNext(params) {
				return target
			}
			rest = after
		}
	}
	return ""
}

func isNext(params string) bool {
	for _, param := range strings.FieldsFunc(params, func(r rune) bool { return r == ';' || r == ',' }) {
		name, value, _ := strings.Cut(strings.TrimSpace(param), "=")
		if !strings.EqualFold(strings.TrimSpace(name), "rel") {
			continue
		}
		for _, rel := range strings.Fields(strings.Trim(strings.TrimSpace(value), `"`)) {
			if strings.EqualFold(rel, "next") {
				return true
			}
		}
	}
	return false
}
