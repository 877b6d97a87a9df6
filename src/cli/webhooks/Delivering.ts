/** `usher webhooks deliver`: a process that delivers webhooks and does nothing else. It listens on no port. */
import { Console, Effect, Layer } from "effect"
import { Delivery } from "../../delivery/Delivery.ts"
import { Settings, StartRefused } from "../../settings/Settings.ts"
import { Heartbeat } from "../../store/coordination/Heartbeat.ts"
import * as InstallationState from "../../store/coordination/Installation.ts"
import { Installation } from "../../store/coordination/Installation.ts"
import { Invalidations } from "../../store/coordination/Invalidations.ts"
import * as WebhookDeliveries from "../../workers/WebhookDeliveries.ts"

/** As in `serve`: no other version changes the schema while this process runs. */
const heartbeat = Layer.unwrap(Effect.map(Settings, ({ nodeName }) => Heartbeat.layer({ name: nodeName })))

const layer = WebhookDeliveries.layer.pipe(
  Layer.provide(Layer.merge(Delivery.layer, Invalidations.layer)),
  Layer.provideMerge(heartbeat)
)

/** Delivers until it is interrupted. Refuses a database on hold, and ends when a restore has replaced it. */
export const deliver = Effect.gen(function* () {
  if ((yield* Installation).heldAt !== undefined) {
    return yield* new StartRefused({ message: "The database is on hold after a restore. Run `usher resume` first." })
  }
  yield* Effect.gen(function* () {
    yield* Console.log("Delivering webhooks.")
    yield* (yield* Heartbeat).changed
  }).pipe(Effect.provide(layer))
  return yield* new StartRefused({ message: "The database was restored from a backup. Start this process again." })
}).pipe(Effect.provide(InstallationState.layer))
