package formula

import (
	"errors"
	"fmt"
	"time"

	"sfbridge/salesforce/simorg/schema"
)

// maxSource is the longest formula the platform takes, in characters.
const maxSource = 3900

// Env is what a formula is asked about: a row about to be saved.
type Env struct {
	New   schema.Row // as it will be
	Old   schema.Row // as it is; not looked at when IsNew
	IsNew bool
	Now   time.Time
}

// Formula is a compiled formula. It is safe for concurrent use.
type Formula struct {
	eval func(*run) any
}

// run is one evaluation. The first failure is kept; what is evaluated after it
// doesn't matter.
type run struct {
	Env
	err error
}

func (r *run) fail(text string) any {
	if r.err == nil {
		r.err = errors.New(text)
	}
	return nil
}

// Compile checks src against the fields of obj and compiles it. The formula
// must give true or false. The error is an *Error.
func Compile(src string, obj *schema.Object) (*Formula, error) {
	if n := len([]rune(src)); n > maxSource {
		return nil, &Error{Line: 1, Column: 1, Message: fmt.Sprintf(
			"Formula is too long (%d characters). Maximum length is %d characters.", n, maxSource)}
	}
	p := &parser{src: src, obj: obj}
	n, err := p.formula()
	if err != nil {
		return nil, p.locate(err)
	}
	return &Formula{eval: n.eval}, nil
}

// True evaluates the formula: true means that the rule refuses the row. An
// error means that the formula has no value for this row, such as a division
// by zero.
func (f *Formula) True(env Env) (bool, error) {
	r := run{Env: env}
	v := f.eval(&r)
	if r.err != nil {
		return false, r.err
	}
	return v == true, nil
}

// Error says what is wrong with a formula, in Salesforce's words, and where.
type Error struct {
	Line, Column int // from 1, in characters
	Message      string
}

func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// failure is an error at a byte offset of the source.
type failure struct {
	pos     int
	message string
}

func (f *failure) Error() string { return f.message }

func failf(pos int, format string, args ...any) error {
	return &failure{pos, fmt.Sprintf(format, args...)}
}

// locate turns an offset into line and column.
func (p *parser) locate(err error) error {
	var f *failure
	if !errors.As(err, &f) {
		return err
	}
	e := &Error{Line: 1, Column: 1, Message: f.message}
	for i, c := range p.src {
		if i >= f.pos {
			break
		}
		e.Column++
		if c == '\n' {
			e.Line, e.Column = e.Line+1, 1
		}
	}
	return e
}
