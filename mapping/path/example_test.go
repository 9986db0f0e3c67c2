package path_test

import (
	"fmt"

	"sfbridge/mapping/path"
)

func Example() {
	event, err := path.DecodeJSON([]byte(`{"order":{"id":820982911946154508,"lines":[{"sku":"A/1"},{"sku":"B"}]}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	lines, _ := path.ParseList("$.order.lines[*]")
	key, _ := path.ParseTemplate("{$.order.id}/{@.sku}", path.Key)
	elements, _ := lines.Elements(path.Scope{Event: event})
	for _, e := range elements {
		text, _, err := key.Expand(path.Scope{Event: event, Element: e})
		fmt.Println(text, err)
	}
	_, err = path.Parse("$.order.first-line")
	fmt.Println(err)
	// Output:
	// 820982911946154508/A%2F1 <nil>
	// 820982911946154508/B <nil>
	// $.order.first-line: has a name that needs quotes: write $.order['first-line']
}
