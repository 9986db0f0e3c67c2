// Package app joins the parts of the bridge into what the commands run.
//
//	bridge, err := app.New(app.Options{Config: cfg, Env: config.OS(), Log: log})
//	err = bridge.Start(ctx)   // listens; bridge.URL() is where
//	err = bridge.Run(ctx)     // until ctx ends, then stops in order
//
// It is the only place that knows every package; it copies the parts of a
// mapping file to the steps that need them.
package app
