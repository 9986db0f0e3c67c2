package verify

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Vector is one recorded delivery with the judgement it must get.
type Vector struct {
	ID         string                 `json:"id"`
	Provider   string                 `json:"provider"`
	Scheme     string                 `json:"scheme"` // row of the table
	Secret     string                 `json:"secret"`
	Secrets    []string               `json:"secrets"` // replaces Secret
	URL        string                 `json:"url"`
	Method     string                 `json:"method"`
	Headers    map[string]HeaderLines `json:"headers"`
	Body       string                 `json:"body"`
	BodyBase64 string                 `json:"body_base64"`
	Now        int64                  `json:"timestamp_now"`
	Valid      bool                   `json:"valid"`
	Case       string                 `json:"case"`
	Extra      map[string]any         `json:"extra"` // its texts become Params
	Skip       bool                   `json:"skip"`
}

// HeaderLines is the value of a header, written as a text, or the values of a repeated header.
type HeaderLines []string

func (h *HeaderLines) UnmarshalJSON(data []byte) error {
	var one string
	if err := json.Unmarshal(data, &one); err == nil {
		*h = HeaderLines{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(h))
}

// Difference is a vector that got another judgement than it must.
type Difference struct {
	ID     string `json:"id"`
	Want   bool   `json:"want"`
	Got    bool   `json:"got"`
	Reason string `json:"reason"`
}

// VectorRun checks files of vectors.
type VectorRun struct {
	Table   Table
	Schemes Schemes
}

// VectorReport is the outcome of a run; skipped vectors are in neither count.
type VectorReport struct {
	Passed, Failed, Skipped int
	Differences             []Difference
}

// Summary is the closing line of a run.
func (r VectorReport) Summary() string {
	return fmt.Sprintf("%d passed, %d failed", r.Passed, r.Failed)
}

// Write prints one JSON line per difference and the closing line.
func (r VectorReport) Write(w io.Writer) error {
	for _, d := range r.Differences {
		line, err := json.Marshal(d)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s\n", line); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w, r.Summary())
	return err
}

// Run reads an array of vectors and judges each. A vector whose scheme is
// unknown fails, whatever it wants.
func (v VectorRun) Run(r io.Reader) (VectorReport, error) {
	var report VectorReport
	d := json.NewDecoder(r)
	if open, err := d.Token(); err != nil || open != json.Delim('[') {
		return report, errors.Join(errors.New("a vector file is a JSON array"), err)
	}
	for d.More() {
		var vector Vector
		if err := d.Decode(&vector); err != nil {
			return report, fmt.Errorf("reading vector %d: %w", report.Passed+report.Failed+report.Skipped+1, err)
		}
		v.count(&report, vector)
	}
	if _, err := d.Token(); err != nil {
		return report, fmt.Errorf("the vector file ends early: %w", err)
	}
	return report, nil
}

func (v VectorRun) count(report *VectorReport, vector Vector) {
	if vector.Skip {
		report.Skipped++
		return
	}
	result, err := v.Judge(vector)
	if err == nil && result.Valid == vector.Valid {
		report.Passed++
		return
	}
	difference := Difference{ID: vector.ID, Want: vector.Valid, Got: result.Valid, Reason: string(result.Reason)}
	if err != nil {
		difference.Reason = err.Error()
	}
	report.Failed++
	report.Differences = append(report.Differences, difference)
}

// Judge verifies one vector. Secrets that can't be used give NoSecret.
func (v VectorRun) Judge(vector Vector) (Result, error) {
	rule, ok := v.Table[vector.Scheme]
	if !ok {
		return Result{}, fmt.Errorf("scheme %q is unknown", vector.Scheme)
	}
	req, err := vector.Request()
	if err != nil {
		return Result{}, err
	}
	verifier, err := New(Config{
		Rules: []Rule{rule}, Secrets: vector.secrets(), Params: vector.params(), Schemes: v.Schemes,
	})
	if secret := (*SecretError)(nil); errors.As(err, &secret) {
		return Result{Rule: rule.Name, Reason: NoSecret, Secret: -1}, nil
	}
	if err != nil {
		return Result{}, err
	}
	return verifier.Verify(req), nil
}

// Request is the delivery that the vector records.
func (vector Vector) Request() (Request, error) {
	req := Request{
		Method: vector.Method, URL: vector.URL, Header: http.Header{}, Body: []byte(vector.Body),
		Now: time.Unix(vector.Now, 0),
	}
	for name, lines := range vector.Headers {
		for _, line := range lines {
			req.Header.Add(name, line)
		}
	}
	if vector.BodyBase64 != "" {
		body, err := base64.StdEncoding.DecodeString(vector.BodyBase64)
		if err != nil {
			return req, fmt.Errorf("body_base64: %w", err)
		}
		req.Body = body
	}
	return req, nil
}

func (vector Vector) secrets() []string {
	if len(vector.Secrets) > 0 {
		return vector.Secrets
	}
	return []string{vector.Secret}
}

func (vector Vector) params() map[string]string {
	params := map[string]string{}
	for name, value := range vector.Extra {
		if text, ok := value.(string); ok {
			params[name] = text
		}
	}
	return params
}
