// Package trial tries out how deliveries are judged, without a service: Check
// is one delivery offline (the command "verify"), Sender signs and sends test
// deliveries (the command "send").
//
//	report, err := trial.Check(catalog, trial.Delivery{Provider: "stripe", Secrets: s, Request: r})
//	result, err := sender.Run(ctx)
//
// Neither needs settings or a mapping file, and neither shows a secret or the
// signature that would have been right.
package trial
