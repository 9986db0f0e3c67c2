package mapping

// DryEvent is an identified event for a dry run. "" and nil mean absent.
type DryEvent struct {
	Input    Input
	ObjectID string
	Hash     string
	Reason   string // why identification itself sends the event to review
}

// DryReport is what a delivery would do, as `bridge map` prints it.
type DryReport struct {
	Events []DryResult `json:"events"`
}

// DryResult is one event's part of a DryReport. Absent values are null.
type DryResult struct {
	EventID  *string     `json:"event_id"`
	Type     *string     `json:"type"`
	ObjectID *string     `json:"object_id"`
	Order    *int64      `json:"order"`
	Hash     *string     `json:"hash"`
	Route    *string     `json:"route"`
	Outcome  DryOutcome  `json:"outcome"`
	Records  []DryRecord `json:"records"`
	Errors   []DryError  `json:"errors"`
}

// DryOutcome is where an event would go.
type DryOutcome string

// The outcomes of a dry run.
const (
	DryApply  DryOutcome = "apply"
	DryIgnore DryOutcome = "ignore"
	DryReview DryOutcome = "review"
)

// DryRecord is a record with its fields exactly as sent to Salesforce for a
// target that an upsert creates, and an update or delete finds.
type DryRecord struct {
	Object string         `json:"object"`
	Action Action         `json:"action"`
	Key    DryKey         `json:"key"`
	Fields map[string]any `json:"fields"`
}

// DryKey is a record's external ID.
type DryKey struct {
	Field string `json:"field"`
	Value string `json:"value"`
}

// DryError says why the event goes to review.
type DryError struct {
	Field  *string `json:"field"`
	Path   *string `json:"path"`
	Reason string  `json:"reason"`
}

// Review tells whether any event would end in review.
func (r DryReport) Review() bool {
	for _, e := range r.Events {
		if e.Outcome == DryReview {
			return true
		}
	}
	return false
}

// DryRun maps events without writing anything.
func (f *File) DryRun(events []DryEvent) DryReport {
	report := DryReport{Events: []DryResult{}}
	for _, e := range events {
		report.Events = append(report.Events, f.dry(e))
	}
	return report
}

func (f *File) dry(e DryEvent) DryResult {
	out := DryResult{
		EventID: known(e.Input.EventID), Type: known(e.Input.Type), ObjectID: known(e.ObjectID),
		Order: e.Input.Order, Hash: known(e.Hash),
		Outcome: DryApply, Records: []DryRecord{}, Errors: []DryError{},
	}
	route, found := f.Route(e.Input)
	if found {
		out.Route = &route.Name
	}
	switch {
	case e.Reason != "":
		out.review(DryError{Reason: e.Reason})
	case !found && f.Unmatched == UnmatchedIgnore, found && route.Ignore:
		out.Outcome = DryIgnore
	case !found:
		out.review(DryError{Reason: "no route fits the event"})
	default:
		out.apply(route, e.Input)
	}
	return out
}

// apply fills in what the route makes of the event.
func (d *DryResult) apply(route *Route, in Input) {
	for _, fault := range route.faults(in.Scope.Event) {
		d.review(DryError{Path: known(fault.path), Reason: "schema: " + fault.rule})
	}
	if d.Outcome == DryReview {
		return
	}
	records, errs := route.Records(in)
	if len(errs) == 0 {
		_, errs = route.Effects(in, records)
	}
	for _, e := range errs {
		reason := e.Reason
		if e.Value != "" {
			reason += ": " + e.Value
		}
		d.review(DryError{Field: known(e.Field), Path: known(e.Path), Reason: reason})
	}
	if len(errs) > 0 {
		return
	}
	for _, r := range records {
		d.Records = append(d.Records, DryRecord{
			Object: r.Object, Action: r.Action, Key: DryKey(r.Key), Fields: r.Sent(r.Action == Upsert),
		})
	}
}

func (d *DryResult) review(e DryError) {
	d.Outcome = DryReview
	d.Errors = append(d.Errors, e)
}

// known is nil for an absent value.
func known(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
