package identify_test

import (
	"fmt"
	"net/http"
	"time"

	"sfbridge/bridge/identify"
	"sfbridge/mapping/path"
)

// A batch: every element is an event, also the one that can't be identified.
func Example() {
	id, _ := path.ParseTemplate("{$.order}:{$.version}", path.EventID)
	split, _ := path.ParseList("$.events[*]")
	identifier, err := identify.New(identify.Config{
		Source: "shop", Identity: identify.Identity{ID: []path.Template{id}, Split: split},
	})
	if err != nil {
		panic(err)
	}
	doc, err := identifier.Read(identify.Delivery{
		Header:     http.Header{"Content-Type": {"application/json"}},
		Body:       []byte(`{"events":[{"order":820982911946154508,"version":4},{"order":7}]}`),
		ReceivedAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	})
	if err != nil {
		panic(err)
	}
	events, err := doc.Events()
	if err != nil {
		panic(err)
	}
	for _, found := range events {
		fmt.Println(found.Event.ID, found.Review)
	}
	// Output:
	// shop:820982911946154508:4 <nil>
	// shop:sha256:8bcbace4a85bfd655264d50663d1000092824d9421d416b685402a8a18ea32d3 &{NO_ID no event id: $.version: is missing}
}
