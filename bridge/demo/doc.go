// Package demo shows the main job: a simulated org, the bridge on it, and
// signed deliveries that end as the right records. Nine checks say whether the
// promise held: every accepted event has exactly one completed business
// effect, or waits visibly for a person.
package demo
