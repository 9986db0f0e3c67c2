// Package strictyaml reads YAML files that people write by hand and reports
// every mistake at once, each with file, line, column, path, what is wrong and
// what to do.
//
// It accepts less than YAML: one document, no anchors, aliases, merge keys,
// tags, directives or explicit keys. Map keys are text, spelled as in the file
// (NO, 007, 1.10, true stay what they are); null and ~ as a key are refused; a
// key that stands twice is reported each time.
//
// Use:
//
//	report := strictyaml.NewReport("bridge.yaml")
//	root := strictyaml.Parse(data, report) // nil when the text can't be read
//	top := root.Map(report, "listen", "store") // unknown keys are reported
//	listen := top.Text("listen")
//	if err := report.Err(); err != nil { … } // *Problems, in file order
//
// Readers never stop at the first problem: a value that is wrong is reported
// and read as if its key were left out.
package strictyaml
