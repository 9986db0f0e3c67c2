package demo

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"sfbridge/salesforce/simorg"
)

// expect gathers what was not as promised.
type expect struct{ problems []error }

func (e *expect) failed(err error) {
	if err != nil {
		e.problems = append(e.problems, err)
	}
}

func (e *expect) equal(what string, got, want any) {
	if got != want {
		e.problems = append(e.problems, fmt.Errorf("%s: %v, want %v", what, got, want))
	}
}

// payment expects one payment of the check with this state and amount.
func (e *expect) payment(w *world, check string, n int, status, amount string) {
	all := w.payments(check)
	e.equal("payments", len(all), n)
	p := all[chargeID(check, 1)]
	e.equal("payment status", text(p["Status__c"]), status)
	e.amount(p, amount)
}

// amount expects a payment of this amount.
func (e *expect) amount(payment simorg.Row, amount string) {
	got, ok := payment["Amount__c"].(decimal.Decimal)
	want, err := decimal.NewFromString(amount)
	e.failed(err)
	e.equal("payment amount "+got.String()+" is "+amount, ok && got.Equal(want), true)
}

// detail is the check's result.
func (e *expect) detail(held string) (string, error) {
	if len(e.problems) > 5 {
		e.problems = append(e.problems[:5], fmt.Errorf("and %d more", len(e.problems)-5))
	}
	return held, errors.Join(e.problems...)
}

// tally counts answers by their status: "1 accepted, 9 duplicate".
func tally(answers []answer) string {
	n := map[string]int{}
	for _, a := range answers {
		name := a.Status
		if !a.ok() {
			name = fmt.Sprintf("%d %s", a.Code, a.Error)
		}
		n[name]++
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(n)) {
		parts = append(parts, fmt.Sprintf("%d %s", n[name], name))
	}
	return strings.Join(parts, ", ")
}
