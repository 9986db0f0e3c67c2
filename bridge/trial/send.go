package trial

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"sfbridge/bridge/provider"
	"sfbridge/bridge/verify"
	"sfbridge/bridge/verify/special"
)

// Sender signs a body as its provider would and sends it.
type Sender struct {
	URL     string
	Signed  string // the URL that is signed, where it is another one than is called; empty: URL
	Preset  *provider.Preset
	Rule    *verify.Rule // nil: the preset's first
	Secret  string
	Body    []byte
	Header  http.Header // sent besides, and instead of the preset's sample headers
	Times   int         // deliveries to send; at least one is sent
	Workers int         // how many at once; at least one

	Client *http.Client     // nil: one with Timeout that follows no redirects
	Now    func() time.Time // nil: time.Now
	// Each, when set, is told of every answer, one at a time.
	Each func(Sent)
}

// Timeout bounds one test delivery.
const Timeout = 30 * time.Second

// answerCap is how much of an answer is kept to be shown.
const answerCap = 64 << 10

// Sent is the answer to one delivery.
type Sent struct {
	Number int           `json:"number"`
	Status int           `json:"status"` // 0: no answer
	Answer Answer        `json:"answer,omitempty"`
	Took   time.Duration `json:"took_ns"`
	Error  string        `json:"error,omitempty"`
}

// Answer is the body of an answer. In JSON it stands as it came where it is JSON
// itself, and as text where it is not.
type Answer string

// MarshalJSON implements json.Marshaler.
func (a Answer) MarshalJSON() ([]byte, error) {
	if json.Valid([]byte(a)) {
		return []byte(a), nil
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false) // XML answers stay readable
	err := e.Encode(string(a))
	return text.Bytes(), err
}

// Accepted says whether the receiver took the delivery.
func (s Sent) Accepted() bool { return s.Status >= 200 && s.Status < 300 }

// Results are what the bridge says of a delivery that it took.
func Results() []string { return []string{"accepted", "conflict", "spooled", "duplicate", "ignored"} }

// result is what an answer says of a delivery that was taken; "" when it says
// nothing, since some providers want an answer of their own.
func (s Sent) result() string {
	var body struct {
		Status string `json:"status"`
	}
	if !s.Accepted() || json.Unmarshal([]byte(s.Answer), &body) != nil || !slices.Contains(Results(), body.Status) {
		return ""
	}
	return body.Status
}

// SendReport sums up a run.
type SendReport struct {
	Sent     int            `json:"sent"`
	Accepted int            `json:"accepted"`          // deliveries that were taken: any 2xx
	Results  map[string]int `json:"results,omitempty"` // of these, by what the answers say (Results)
	Statuses map[int]int    `json:"statuses"`          // deliveries by status; 0: no answer
	First    Sent           `json:"first"`
}

// Run sends the deliveries until all are sent or ctx ends; it returns what was
// sent so far. An error means that nothing could be signed or ctx ended.
func (s Sender) Run(ctx context.Context) (SendReport, error) {
	s = s.withDefaults()
	if _, err := s.signed(); err != nil {
		return SendReport{}, err
	}
	numbers, answers := make(chan int), make(chan Sent)
	var workers sync.WaitGroup
	for range s.Workers {
		workers.Go(func() {
			for n := range numbers {
				answers <- s.one(ctx, n)
			}
		})
	}
	go func() {
		defer func() { close(numbers); workers.Wait(); close(answers) }()
		for n := 1; n <= s.Times; n++ {
			select {
			case numbers <- n:
			case <-ctx.Done():
				return
			}
		}
	}()
	report := SendReport{Statuses: map[int]int{}}
	for answer := range answers {
		report.add(answer)
		if s.Each != nil {
			s.Each(answer)
		}
	}
	return report, ctx.Err()
}

func (r *SendReport) add(s Sent) {
	r.Sent++
	r.Statuses[s.Status]++
	if s.Accepted() {
		r.Accepted++
	}
	if result := s.result(); result != "" {
		if r.Results == nil {
			r.Results = map[string]int{}
		}
		r.Results[result]++
	}
	if r.First.Number == 0 || s.Number < r.First.Number {
		r.First = s
	}
}

func (s Sender) withDefaults() Sender {
	s.Times, s.Workers = max(s.Times, 1), max(s.Workers, 1)
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Client == nil {
		s.Client = &http.Client{
			Timeout:       Timeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	return s
}

// signed builds one delivery, signed now.
func (s Sender) signed() (verify.Request, error) {
	rule := s.Rule
	if rule == nil {
		if len(s.Preset.Rules) == 0 {
			return verify.Request{}, verify.ErrNotSignable
		}
		rule = &s.Preset.Rules[0]
	}
	header := http.Header{"Content-Type": {"application/json"}}
	for name, values := range s.Preset.Send.For(s.Body) {
		header[name] = values
	}
	for name, values := range s.Header {
		header[http.CanonicalHeaderKey(name)] = values
	}
	address := s.Signed
	if address == "" {
		address = s.URL
	}
	made, err := verify.SignRequest(*rule, special.Schemes(), s.Secret, verify.Request{
		Method: http.MethodPost, URL: address, Header: header, Body: s.Body, Now: s.Now(),
	})
	if err != nil {
		return verify.Request{}, fmt.Errorf("signing for %s: %w", s.Preset.Name, err)
	}
	// Some schemes add to the query what they signed.
	made.URL = s.URL + strings.TrimPrefix(made.URL, address)
	return made, nil
}

func (s Sender) one(ctx context.Context, number int) Sent {
	sent := Sent{Number: number}
	made, err := s.signed()
	if err == nil {
		sent, err = s.post(ctx, number, made)
	}
	if err != nil {
		sent.Error = err.Error()
	}
	return sent
}

func (s Sender) post(ctx context.Context, number int, made verify.Request) (Sent, error) {
	sent := Sent{Number: number}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, made.URL, bytes.NewReader(made.Body))
	if err != nil {
		return sent, err
	}
	req.Header = made.Header
	start := s.Now()
	resp, err := s.Client.Do(req)
	sent.Took = s.Now().Sub(start)
	if err != nil {
		return sent, err
	}
	defer resp.Body.Close()
	sent.Status = resp.StatusCode
	answer, err := io.ReadAll(io.LimitReader(resp.Body, answerCap))
	sent.Answer = Answer(answer)
	return sent, err
}
