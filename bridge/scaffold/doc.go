// Package scaffold writes the Salesforce metadata that mappings need on their
// targets, in source format:
//
//	key fields       external ID, unique, case sensitive
//	order fields     Source_Order__c, Source_Event__c, Source_Prior__c, or as named
//	Refuse_Moved     the validation rule that refuses a decision made on an old read
//	permission set   what the integration user needs on objects and fields
//
// Use:
//
//	plan, err := scaffold.NewPlan(scaffold.Config{Mappings: files, Dir: "force-app/main/default"})
//	err = plan.Write(false)      // true: also change files that exist
//
// Files that exist are read first, wherever below the folder they lie. One that
// serves already is left alone; of one that doesn't, the plan says what differs,
// and only what differs is changed. Objects and the fields that a mapping fills
// are taken to exist: their types are a person's decision.
package scaffold
