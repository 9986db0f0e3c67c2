package formula

import (
	"time"

	"sfbridge/salesforce/simorg/schema"
)

// Env is what a formula is asked about: a row about to be saved.
type Env struct {
	New   schema.Row // as it will be
	Old   schema.Row // as it is; not looked at when IsNew
	IsNew bool
	Now   time.Time
}

// Formula is a compiled formula. It is safe for concurrent use.
type Formula struct {
	eval func(*Env) (bool, error)
}

// Compile checks src against the fields of obj and compiles it. The formula
// must give true or false. The error is an *Error.
func Compile(src string, obj *schema.Object) (*Formula, error) { return &Formula{}, nil }

// True evaluates the formula: true means that the rule refuses the row.
func (f *Formula) True(env Env) (bool, error) { return f.eval(&env) }

// Error says what is wrong with a formula, in Salesforce's words, and where.
type Error struct {
	Line, Column int
	Message      string
}

func (e *Error) Error() string { return e.Message }
