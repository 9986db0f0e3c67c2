package scaffold

import (
	"strings"

	"sfbridge/bridge/event"
	"sfbridge/internal/metadata"
)

const (
	ruleName        = "Refuse_Moved"
	ruleNameLength  = 40
	ruleDescription = "Refuses a decision made on an old read: the writer must name the event that the record carries now."
	ruleMessage     = event.TokenMoved + ": this record was written by another event meanwhile. Read it again before writing it."
	defaultPrior    = "source_prior__c"
)

// movedFormula is true for a write whose prior event is not the one that the
// record carries. Whoever leaves the event id alone is not concerned.
const movedFormula = `OR(AND(ISNEW(), NOT(ISBLANK({prior}))),
   AND(NOT(ISNEW()), ISCHANGED({event}),
     OR(AND(ISBLANK({prior}), NOT(ISBLANK(PRIORVALUE({event})))),
        AND(NOT(ISBLANK({prior})), ISBLANK(PRIORVALUE({event}))),
        AND(NOT(ISBLANK({prior})), NOT(ISBLANK(PRIORVALUE({event}))),
            {prior} <> PRIORVALUE({event})))))`

func (g guard) formula() string {
	return strings.NewReplacer("{event}", g.event, "{prior}", g.prior).Replace(movedFormula)
}

// ruleFor is the name of a guard's rule. An object has more than one when
// mappings keep their order in different fields of it.
func (n *need) ruleFor(g guard) string {
	if len(n.guards) == 1 || strings.EqualFold(g.prior, defaultPrior) {
		return ruleName
	}
	name := ruleName + "_" + strings.TrimSuffix(strings.TrimSuffix(g.prior, "__c"), "__C")
	return strings.TrimRight(name[:min(len(name), ruleNameLength)], "_")
}

// rule plans the rule of one guard.
func (p *Plan) rule(n *need, g guard) error {
	name := n.ruleFor(g)
	file := p.folder.part(n.object, "validationRules/"+name+ruleSuffix)
	d, err := p.folder.read(file, "ValidationRule")
	if err != nil {
		return err
	}
	if d == nil {
		d = metadata.New("ValidationRule")
		d.Set("fullName", name)
		d.Set("active", "true")
		d.Set("description", ruleDescription)
		d.Set("errorConditionFormula", g.formula())
		d.Set("errorMessage", ruleMessage)
		p.add(file, false, d, nil)
		return nil
	}
	changes := lacking(d, change{"active", "true", "it is not active"})
	if squeeze(d.Text("errorConditionFormula")) != squeeze(g.formula()) {
		changes = append(changes, change{"errorConditionFormula", g.formula(), "its formula is another"})
	}
	if !strings.Contains(d.Text("errorMessage"), event.TokenMoved) {
		changes = append(changes, change{"errorMessage", ruleMessage, "its message lacks " + event.TokenMoved + ", which the bridge tells it by"})
	}
	p.add(file, true, d, mend(d, changes))
	return nil
}

// squeeze leaves white space out, which means nothing in these formulas.
func squeeze(text string) string { return strings.Join(strings.Fields(text), "") }
