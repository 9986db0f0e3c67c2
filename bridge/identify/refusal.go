package identify

// Kind says why a delivery holds no event.
type Kind string

const (
	Empty           Kind = "empty"             // no body
	NotJSON         Kind = "not_json"          // what should be JSON is not
	NoID            Kind = "no_id"             // nothing tells this event from others
	Unsupported     Kind = "unsupported"       // a content type that the source doesn't take
	ContextTooLarge Kind = "context_too_large" // the values to keep beside the payload don't fit
	TooMany         Kind = "too_many"          // more events than one delivery may hold
)

// Refusal is a delivery that can't be staged. Its message is for the sender and
// holds nothing of the payload.
type Refusal struct {
	Kind    Kind
	Message string
}

func (r *Refusal) Error() string { return r.Message }
