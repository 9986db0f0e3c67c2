package demo

import (
	"context"
	"fmt"

	"sfbridge/bridge/app"
	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

type updating func(app.Org, context.Context, []salesforce.Row) ([]salesforce.SaveResult, error)

// orgDouble is an org client of which some calls are not what they should be.
type orgDouble struct {
	app.Org
	query  func(app.Org, context.Context, string) ([]salesforce.Record, error)
	insert func(app.Org, context.Context, []salesforce.Row) ([]salesforce.SaveResult, error)
	update updating
	graph  func(app.Org, context.Context, []salesforce.Graph) ([]salesforce.GraphResult, error)
}

func (d orgDouble) Query(ctx context.Context, soql string) ([]salesforce.Record, error) {
	if d.query != nil {
		return d.query(d.Org, ctx, soql)
	}
	return d.Org.Query(ctx, soql)
}

func (d orgDouble) InsertAll(ctx context.Context, rows []salesforce.Row, allOrNone bool) ([]salesforce.SaveResult, error) {
	if d.insert != nil {
		return d.insert(d.Org, ctx, rows)
	}
	return d.Org.InsertAll(ctx, rows, allOrNone)
}

func (d orgDouble) UpdateAll(ctx context.Context, rows []salesforce.Row, allOrNone bool) ([]salesforce.SaveResult, error) {
	if d.update != nil {
		return d.update(d.Org, ctx, rows)
	}
	return d.Org.UpdateAll(ctx, rows, allOrNone)
}

func (d orgDouble) Graph(ctx context.Context, graphs []salesforce.Graph) ([]salesforce.GraphResult, error) {
	if d.graph != nil {
		return d.graph(d.Org, ctx, graphs)
	}
	return d.Org.Graph(ctx, graphs)
}

// oneCallAnEvent is an org client that doesn't batch.
func oneCallAnEvent(check string) func(app.Org) app.Org {
	return func(next app.Org) app.Org {
		return orgDouble{Org: next, insert: func(next app.Org, ctx context.Context, rows []salesforce.Row) ([]salesforce.SaveResult, error) {
			if !ownedBy(fmt.Sprint(rows[0].Fields[event.FieldID]), check) {
				return next.InsertAll(ctx, rows, false)
			}
			var results []salesforce.SaveResult
			for _, r := range rows {
				one, err := next.InsertAll(ctx, []salesforce.Row{r}, false)
				if err != nil {
					return nil, err
				}
				results = append(results, one...)
			}
			return results, nil
		}}
	}
}

// losesReplays is an org client that loses what makes a row due again, and says
// that it was saved.
func losesReplays(check string) func(app.Org) app.Org {
	return onReplay(check, func(row salesforce.Row) salesforce.SaveResult {
		return salesforce.SaveResult{ID: row.ID, Success: true}
	})
}

// refusesReplays is an org client that finds rows moved on whenever a person
// wants them due again.
func refusesReplays(check string) func(app.Org) app.Org {
	return onReplay(check, func(row salesforce.Row) salesforce.SaveResult {
		return salesforce.SaveResult{ID: row.ID, Errors: []salesforce.Fault{{
			Code: "FIELD_CUSTOM_VALIDATION_EXCEPTION", Message: salesforce.TokenRevision,
		}}}
	})
}

// sendsAgain is an org client that has the effects of a replayed event sent once
// more.
func sendsAgain(check string) func(app.Org) app.Org {
	return whenDueAgain(check, func(next app.Org, ctx context.Context, rows []salesforce.Row) ([]salesforce.SaveResult, error) {
		effects, err := next.Query(ctx, "SELECT Id FROM Outbound_Effect__c WHERE Event__c = '"+rows[0].ID+"'")
		if err != nil {
			return nil, err
		}
		for _, e := range effects {
			_, err := next.UpdateAll(ctx, []salesforce.Row{{Object: event.EffectObject, ID: e.String("Id"), Fields: map[string]any{
				event.EffectFieldStatus: string(event.EffectReady), event.EffectFieldQueue: rows[0].Fields[event.FieldQueue],
			}}}, false)
			if err != nil {
				return nil, err
			}
		}
		return next.UpdateAll(ctx, rows, false)
	})
}

// onReplay answers in the org's place when rows of a check become due again.
func onReplay(check string, saved func(salesforce.Row) salesforce.SaveResult) func(app.Org) app.Org {
	return whenDueAgain(check, func(_ app.Org, _ context.Context, rows []salesforce.Row) ([]salesforce.SaveResult, error) {
		results := make([]salesforce.SaveResult, len(rows))
		for i, r := range rows {
			results[i] = saved(r)
		}
		return results, nil
	})
}

// whenDueAgain replaces the update that makes rows of a check due again.
func whenDueAgain(check string, update updating) func(app.Org) app.Org {
	return func(next app.Org) app.Org {
		return orgDouble{Org: next, update: func(next app.Org, ctx context.Context, rows []salesforce.Row) ([]salesforce.SaveResult, error) {
			found, err := next.Query(ctx, "SELECT Event_Id__c FROM Inbound_Event__c WHERE Id = '"+rows[0].ID+"'")
			if err != nil {
				return nil, err
			}
			if len(found) == 0 || !ownedBy(found[0].String(event.FieldID), check) || rows[0].Fields[event.FieldStatus] != string(event.Received) {
				return next.UpdateAll(ctx, rows, false)
			}
			return update(next, ctx, rows)
		}}
	}
}

// seesNoState is an org client that always shows the first state of a payment,
// so that every event that says otherwise looks like a transition.
func seesNoState(check string) func(app.Org) app.Org {
	return func(next app.Org) app.Org {
		return orgDouble{Org: next, query: func(next app.Org, ctx context.Context, soql string) ([]salesforce.Record, error) {
			records, err := next.Query(ctx, soql)
			for _, r := range records {
				if ownedBy(source+":"+r.String("Stripe_Charge_Id__c"), check) && r.Has("Status__c") {
					r["Status__c"] = "Pending"
				}
			}
			return records, err
		}}
	}
}

// restoresAnother is an org client that puts rows back with another payload.
// Only restoring inserts one row in a transaction of its own.
func restoresAnother(next app.Org) app.Org {
	return orgDouble{Org: next, graph: func(next app.Org, ctx context.Context, graphs []salesforce.Graph) ([]salesforce.GraphResult, error) {
		for i, g := range graphs {
			if len(g.Requests) == 1 && g.Requests[0].Ref == "e" {
				graphs[i].Requests = append(g.Requests, salesforce.UpdateRow("spoilt", salesforce.Row{
					Object: event.Object, ID: "@{e.id}", Fields: map[string]any{event.FieldPayload: "{}"},
				}))
			}
		}
		return next.Graph(ctx, graphs)
	}}
}
