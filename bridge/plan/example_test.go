package plan_test

import (
	"fmt"

	"sfbridge/bridge/plan"
)

func ExampleMake() {
	report, err := plan.Make(plan.Load{
		EventsPerDay: 20_000, Burst: 10, Objects: 1, RetentionDays: 30, PayloadBytes: 2000, Budget: 0.8, Edition: "enterprise",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("calls a day at full batches:", plan.Count(report.Calls.FullPerDay))
	fmt.Println("storage:", plan.Size(report.Storage.MB))
	fmt.Println("fits:", report.Editions[0].Fits)
	// Output:
	// calls a day at full batches: 3,500
	// storage: 1.1 GB
	// fits: yes, later
}
