// Package world is what a fault test breaks: a simulated org, one or more
// processes of the real service, a Redis where they share one, and somebody's
// receiver of effects.
//
//	w := world.Start(t, world.Config{Instances: 2, Redis: true, Ack: "auto"})
//	flow := traffic.Send(ctx, plan.Deliveries, traffic.Senders{Target: w.Target, Parallel: 32})
//	w.Kill(t, 0)
//	...
//	w.Settle(t)
//	sight, cost := w.Look(t), w.Cost(t)
//
// The service is built with the failpoints compiled in; see Arm.
package world
