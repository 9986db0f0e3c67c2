package receive

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/bridge/identify"
	"sfbridge/bridge/stage"
)

// Results of an event, as the answer names them.
const (
	resultAccepted  = string(stage.Accepted)
	resultDuplicate = string(stage.Duplicate)
	resultConflict  = string(stage.Conflict)
	resultSpooled   = string(stage.Spooled)
	resultIgnored   = "ignored"
)

// precedence of the results in the status of a delivery with several events.
var precedence = []string{resultAccepted, resultConflict, resultSpooled, resultDuplicate, resultIgnored}

// decided is one event's result.
type decided struct {
	Status  string `json:"status"`
	EventID string `json:"event_id,omitempty"`
}

// reply is a successful answer and the result it stands for.
type reply struct {
	Answer
	result    string
	handshake bool
}

// as is the reply in a provider's own form.
func (r reply) as(own Answer) Answer {
	if len(own.Body) == 0 && !own.Empty {
		own.Body, own.ContentType = r.Body, r.ContentType
	}
	return own
}

// handshakeReply answers a request that carries no event.
func handshakeReply(h Handshaken) (reply, error) {
	result := "handshake"
	if h.Refused {
		result = kindBadSignature
	}
	ignored, err := answerFor(nil)
	if h.Answer == nil {
		ignored.result = result
		return ignored, err
	}
	return reply{Answer: ignored.as(*h.Answer), result: result, handshake: true}, err
}

// stage makes the events durable that the mapping doesn't ignore, and builds
// the answer. It fails when one of them is not durable.
func (h *handler) stage(ctx context.Context, d *delivery) (reply, error) {
	d.decided = make([]decided, len(d.events))
	var requests []stage.Request
	var places []int
	for i := range d.events {
		verdict := d.source.Judge(d.events[i])
		if verdict.Ignore {
			d.decided[i] = decided{Status: resultIgnored, EventID: d.events[i].Event.ID}
			continue
		}
		requests = append(requests, stage.Request{
			Event: h.complete(d, d.events[i], verdict), RejectConflict: d.source.RejectConflict,
		})
		places = append(places, i)
	}
	if len(requests) > 0 {
		ctx, cancel := context.WithTimeout(ctx, h.patience(d.source))
		defer cancel()
		for n, a := range h.cfg.Stager.Stage(ctx, requests) {
			if a.Err != nil {
				return reply{}, a.Err
			}
			d.decided[places[n]] = decided{Status: string(a.Status), EventID: a.EventID}
		}
	}
	return answerFor(d.decided)
}

// patience is how long a delivery may take to be durable: an answer after the
// provider's deadline would be for nobody, and 503 before it is at least heard.
func (h *handler) patience(s *Source) time.Duration {
	if s.Deadline <= 0 {
		return h.cfg.Timeout
	}
	return min(h.cfg.Timeout, s.Deadline*9/10)
}

// complete fills in what the receiver knows of the row.
func (h *handler) complete(d *delivery, found identify.Identified, v Verdict) *event.Event {
	e := found.Event
	e.Trust = event.Trust(d.verified.Trust)
	e.HomeQueue = event.HomeQueue(d.source.Processor, e.Entity())
	e.Status = event.Received
	review := found.Review
	if review == nil {
		review = v.Review
	}
	if review != nil {
		e.Status, e.ErrorCode, e.Error = event.Review, review.Code, review.Reason
		e.History = event.AppendHistory("", event.Line{At: d.received, To: event.Review, Who: "bridge", Why: review.Reason})
	}
	return &e
}

// answerFor builds the JSON answer: one event plainly, several as a list.
func answerFor(events []decided) (reply, error) {
	for _, e := range events {
		if e.Status == string(stage.Rejected) {
			return reply{}, refuse(kindConflict, "an event of this id was accepted with other content")
		}
	}
	result := resultIgnored
	for _, p := range precedence {
		if slices.ContainsFunc(events, func(e decided) bool { return e.Status == p }) {
			result = p
			break
		}
	}
	status := http.StatusAccepted
	if result == resultDuplicate || result == resultIgnored {
		status = http.StatusOK
	}
	var shape any = decided{Status: result}
	switch {
	case len(events) == 1:
		shape = events[0]
	case len(events) > 1:
		shape = struct {
			Status string    `json:"status"`
			Events []decided `json:"events"`
		}{result, events}
	}
	body, err := json.Marshal(shape)
	if err != nil {
		return reply{}, err
	}
	return reply{Answer: Answer{Status: status, ContentType: "application/json; charset=utf-8", Body: body}, result: result}, nil
}
