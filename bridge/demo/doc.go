// Package demo shows the main job: a simulated org, the bridge on it, and
// signed deliveries that end as the right records.
//
//	d, err := demo.Start(ctx, demo.Config{})
//	report, err := d.Run(ctx)   // report.OK(): every promise held
//	err = d.Close()
//
// Nine checks say whether the promise held: every accepted event has exactly
// one completed business effect, or waits visibly for a person. Four scenes show
// what comes after a record is written: an effect sent once, drift found and
// repaired, a conflict accepted, an archive restored. They look at the org and at
// the receiver of the effects; of the bridge they ask only whether what a person
// orders, a replay or a comparison, was carried out.
//
// How fast the machine is decides nothing: whatever must come is waited for.
package demo
