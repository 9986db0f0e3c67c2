package trial

import (
	"errors"
	"slices"

	"sfbridge/bridge/identify"
	"sfbridge/bridge/provider"
	"sfbridge/bridge/verify"
	"sfbridge/bridge/verify/special"
)

// Delivery is one delivery to judge.
type Delivery struct {
	Provider string
	Scheme   string // a row of the signature table; empty: the provider's rules
	Secrets  []string
	Params   map[string]string // what a scheme needs besides, such as webhook_id
	Request  verify.Request
}

// Report is the judgement. Events is never nil.
type Report struct {
	Valid  bool          `json:"valid"`
	Reason verify.Reason `json:"reason"`
	Events []Event       `json:"events"`
	// Note says why a rightly signed delivery holds no events.
	Note string `json:"note,omitempty"`
	// Hint says in words that help why it was judged so.
	Hint string `json:"hint,omitempty"`
}

// Event is one event of the delivery; what is absent is null.
type Event struct {
	ID     string  `json:"event_id"`
	Type   *string `json:"type"`
	Object *string `json:"object_id"`
	Order  *int64  `json:"order"`
}

// Check verifies a delivery and names its events, with the provider's name as
// their source. An error means that the question makes no sense (an unknown
// provider or scheme), not that the delivery is refused.
func Check(catalog *provider.Catalog, d Delivery) (Report, error) {
	preset, err := catalog.Preset(d.Provider)
	if err != nil {
		return Report{}, err
	}
	rules, err := rulesOf(catalog, preset, d.Scheme)
	if err != nil {
		return Report{}, err
	}
	report := Report{Events: []Event{}}
	result, err := judge(rules, d)
	if err != nil {
		return Report{}, err
	}
	report.Valid, report.Reason = result.Valid, result.Reason
	report.Hint = hint(catalog, rules, d, result)
	if !report.Valid {
		return report, nil
	}
	events, err := eventsOf(preset, d)
	if err != nil {
		report.Note = err.Error()
		return report, nil
	}
	report.Events = append(report.Events, events...)
	return report, nil
}

func rulesOf(catalog *provider.Catalog, preset *provider.Preset, scheme string) ([]verify.Rule, error) {
	if scheme == "" {
		return preset.Rules, nil
	}
	rule, err := catalog.Rule(scheme)
	return []verify.Rule{rule}, err
}

// judge verifies; secrets that can't be used are a judgement, not an error.
func judge(rules []verify.Rule, d Delivery) (verify.Result, error) {
	v, err := verify.New(verify.Config{Rules: rules, Secrets: d.Secrets, Params: d.Params, Schemes: special.Schemes()})
	if secret := (*verify.SecretError)(nil); errors.As(err, &secret) {
		return verify.Result{Reason: verify.NoSecret}, nil
	}
	if err != nil {
		return verify.Result{}, err
	}
	return v.Verify(d.Request), nil
}

func eventsOf(preset *provider.Preset, d Delivery) ([]Event, error) {
	if slices.Contains(preset.Required, "id") {
		return nil, errors.New("where this provider's events have their id is said by the mapping: try bridge map")
	}
	identifier, err := identify.New(identify.Config{Source: preset.Name, Identity: preset.Identity, Content: preset.Content})
	if err != nil {
		return nil, err
	}
	doc, err := identifier.Read(identify.Delivery{Header: d.Request.Header, Body: d.Request.Body, ReceivedAt: d.Request.Now})
	if err != nil {
		return nil, err
	}
	if reply, found := preset.Handshake(provider.Ask{
		Method: d.Request.Method, Header: d.Request.Header, Value: doc.Value, Body: d.Request.Body,
		Signed: true, Params: d.Params, Secret: firstOf(d.Secrets),
	}); found {
		return nil, errors.New("this is the provider's " + reply.Name + ", which is answered and never stored")
	}
	found, err := doc.Events()
	if err != nil {
		return nil, err
	}
	events := make([]Event, 0, len(found))
	for _, f := range found {
		e := f.Event
		events = append(events, Event{ID: e.ID, Type: orNull(e.Type), Object: orNull(e.ObjectID), Order: e.Order})
	}
	return events, nil
}

func firstOf(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
