// Package harness runs the product for tests the way people run it: the built
// binary, as processes of its own, spoken to over HTTP. It knows nothing of the
// product's packages, so what it sees is what anybody sees.
//
// A test package gives the harness its TestMain, starts an org, and on it as
// many bridges as it likes:
//
//	func TestMain(m *testing.M) { harness.Main(m) }
//
//	func TestSomething(t *testing.T) {
//		org := harness.StartOrg(t, "--samples")
//		bridge := harness.StartBridge(t, harness.Config{
//			Org:      org,
//			Mappings: map[string]string{"demo.yaml": mapping},
//			Env:      map[string]string{"DEMO_SECRET": "secret"},
//		})
//		answer, err := bridge.Post(t.Context(), "demo", header, body)
//		...
//		org.Settle(t)
//		rows := org.Query(t, "SELECT Event_Id__c, Status__c FROM Inbound_Event__c")
//	}
//
// Everything ends with the test that started it; the logs of a failed test are
// printed. Under the race detector the binary is built with it too, and a race
// in it fails the test.
package harness
