package provider

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// AcceptUnsigned is the param that does without a signature, where a provider
// leaves signing to its user.
const AcceptUnsigned = "accept_unsigned"

// Param is something that a preset needs besides secrets.
type Param struct {
	Need bool `yaml:"need"`
	// NeedUnpinned says that it must be given when no secret is: the secret is
	// then fetched, and nothing else tells whose deliveries they are.
	NeedUnpinned bool `yaml:"need_unpinned"`
	// Without says what is not so well without it.
	Without string `yaml:"without"`

	List  bool     `yaml:"list"` // several values may be given
	About string   `yaml:"about"`
	OneOf []string `yaml:"one_of"`
}

// ParamProblem is what is wrong with one param.
type ParamProblem struct {
	Name     string
	Missing  bool   // it should stand there
	What, Do string // what is wrong, what to do
}

// CheckParams reports every problem of a mapping's params: what is missing, what
// the preset doesn't know, what is of the wrong form. pinned says that the
// mapping gives secrets.
func (p *Preset) CheckParams(given map[string]any, pinned bool) []ParamProblem {
	var problems []ParamProblem
	known := slices.Sorted(maps.Keys(p.Params))
	for _, name := range slices.Sorted(maps.Keys(given)) {
		param, ok := p.Params[name]
		if !ok {
			problems = append(problems, ParamProblem{Name: name, What: "is nothing that " + p.Name + " knows", Do: choice(known)})
			continue
		}
		if what := param.wrong(given[name]); what != "" {
			problems = append(problems, ParamProblem{Name: name, What: what, Do: "it is " + param.About})
		}
	}
	for _, name := range known {
		param := p.Params[name]
		if _, ok := given[name]; !ok && (param.Need || (param.NeedUnpinned && !pinned)) {
			problems = append(problems, ParamProblem{Name: name, Missing: true, What: "is missing", Do: "it is " + param.About})
		}
	}
	return problems
}

// MissedParams says what is not so well because of params that are left out.
func (p *Preset) MissedParams(given map[string]any) []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(p.Params)) {
		if _, ok := given[name]; !ok && p.Params[name].Without != "" {
			list = append(list, fmt.Sprintf("params.%s is left out: %s", name, p.Params[name].Without))
		}
	}
	return list
}

func choice(names []string) string {
	if len(names) == 0 {
		return "leave it out"
	}
	return "use " + strings.Join(names, ", ")
}

// wrong says what is wrong with a value.
func (p Param) wrong(value any) string {
	values, list := value.([]any)
	if !list {
		values = []any{value}
	}
	switch {
	case list && !p.List:
		return "takes one value"
	case len(values) == 0:
		return "is empty"
	}
	for _, v := range values {
		text := fmt.Sprint(v)
		if strings.TrimSpace(text) == "" || v == nil {
			return "is empty"
		}
		if len(p.OneOf) > 0 && !slices.Contains(p.OneOf, text) {
			return "is none of " + strings.Join(p.OneOf, ", ")
		}
	}
	return ""
}
