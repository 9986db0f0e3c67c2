// Package propose drafts a first mapping from sample events and, where an org
// is at hand, the object's describe.
//
//	head := propose.Head(provider, required, payload)      // source, provider, identity
//	draft, err := propose.Draft(ctx, propose.Config{Head: head, Object: "Payment__c", Samples: samples, Org: client})
//	os.Stdout.WriteString(draft.Text)                      // loads as it is
//
// A draft is a guess. Every place where a person must decide carries a comment
// that begins with "decide:"; what nothing could be found for is a comment too,
// so that a draft always loads. The same samples give the same draft.
package propose
