/** `usher webhooks`: sends events to developers and operators as webhooks do, and delivers them without a server. */
import { Effect, Layer, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Organizations } from "../auth/keys/Organizations.ts"
import { WebhookClient } from "../delivery/webhook/WebhookClient.ts"
import { Mode } from "../domain/values/Ids.ts"
import { eventTypes } from "../domain/webhook/Catalogue.ts"
import { Invalidations } from "../store/coordination/Invalidations.ts"
import { AssignedProducts } from "../store/experience/AssignedProducts.ts"
import { WebhookOutbox } from "../store/webhook/WebhookOutbox.ts"
import { WebhookDeliveries } from "../store/webhook/WebhookDeliveries.ts"
import { Webhooks } from "../store/webhook/Webhooks.ts"
import { example, examples, idFlag, json, orDatabaseProblem, organization } from "./runtime/Arguments.ts"
import * as Environment from "./runtime/Environment.ts"
import { withModule } from "./runtime/LazyModule.ts"
import { interruptible } from "./runtime/Signals.ts"
import { replaySelection } from "./webhooks/ReplayStart.ts"

const webhook = idFlag("webhook", "a webhook").pipe(
  Flag.withDescription("The webhook's id, as `GET /api/webhooks` shows it")
)

const listen = Command.make(
  "listen",
  {
    forwardTo: Flag.String("forward-to").pipe(
      Flag.withDescription("The URL that gets the events: `http` or `https`, also on this machine"),
      Flag.filter(isHttpUrl, () => "an http or https URL, such as http://127.0.0.1:3000/webhooks")
    ),
    organization: organization.pipe(
      Flag.withDescription("The organization's id. Default: the only one there is"),
      Flag.optional
    ),
    mode: Flag.Literals("mode", Mode.literals).pipe(
      Flag.withDescription("Events of the live or of the test mode"),
      Flag.withDefault("live" as const)
    ),
    json
  },
  ({ forwardTo, organization, mode, json }) =>
    withModule(
      () => Promise.all([import("./webhooks/Listening.ts"), import("./webhooks/Targets.ts")]),
      ([{ listen }, { tenantOf }]) =>
        Effect.flatMap(tenantOf(Option.getOrUndefined(organization), mode), (tenant) =>
          listen({ tenant, forwardTo, json })
        )
    ).pipe(
      orDatabaseProblem,
      Effect.provide(Layer.mergeAll(Organizations.layer, WebhookOutbox.layer, WebhookClient.layerUnchecked, products)),
      Effect.provide(Environment.withDatabase),
      interruptible
    )
).pipe(
  Command.withDescription(
    "Send the events of an organization to a URL of yours, for development: each once, signed like a webhook's, " +
      "until Ctrl-C. Prints every response. Stores nothing. Works while servers run."
  ),
  examples("usher webhooks listen --forward-to http://127.0.0.1:3000/webhooks")
)

const trigger = Command.make(
  "trigger",
  {
    type: Argument.Literals("type", eventTypes).pipe(Argument.withDescription("The type of the event")),
    webhook: webhook.pipe(
      Flag.withDescription("The webhook that gets the event. Default: the only one there is"),
      Flag.optional
    ),
    json
  },
  ({ type, webhook, json }) =>
    withModule(
      () => import("./webhooks/Requests.ts"),
      ({ trigger }) => trigger(type, Option.getOrUndefined(webhook), json)
    ).pipe(orDatabaseProblem, Effect.provide(stored), interruptible)
).pipe(
  Command.withDescription(
    "Send an example event of a type to a webhook, whatever it subscribes to, and print the response. The event is " +
      "not repeated. Ends with code 1 unless the endpoint accepted it."
  ),
  examples("usher webhooks trigger distribution.admitted --webhook 0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a")
)

const replay = Command.make("replay", { webhook, from: replaySelection, json }, ({ webhook, from, json }) =>
  withModule(
    () => import("./webhooks/Requests.ts"),
    ({ replay }) => replay(webhook, from, json)
  ).pipe(orDatabaseProblem, Effect.provide(stored), interruptible)
).pipe(
  Command.withDescription(
    "Send events to a webhook again, with the ids they had. A serving process or `usher webhooks deliver` sends them."
  ),
  Command.withExamples([
    {
      command: "usher webhooks replay --webhook 0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a --from 2026-11-22T18:00:00Z",
      description: "All events from an instant on"
    },
    {
      command: "usher webhooks replay --webhook 0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a --from failed",
      description: "Deliveries that failed permanently"
    }
  ])
)

const deliver = Command.make("deliver", {}, () =>
  withModule(
    () => import("./webhooks/Delivering.ts"),
    ({ deliver }) => deliver
  ).pipe(orDatabaseProblem, Effect.provide(Environment.withDatabase), interruptible)
).pipe(
  Command.withDescription(
    "Deliver webhooks until SIGTERM or Ctrl-C, without listening on a port. With WEBHOOK_DELIVERY=false the servers of " +
      "the same database leave all deliveries to such processes."
  ),
  example("DATABASE_URL=postgres://usher@db.example.com/usher usher webhooks deliver", "As many of them as you like")
)

/** The command with its subcommands. */
export const command = Command.make("webhooks").pipe(
  Command.withDescription("Events for webhooks"),
  Command.withSubcommands([listen, trigger, replay, deliver])
)

const products = Layer.provide(AssignedProducts.layer, Invalidations.layer)

const stored = Layer.mergeAll(Webhooks.layer, WebhookDeliveries.layer, WebhookClient.layer).pipe(
  Layer.provideMerge(Environment.withDatabase)
)

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && (url.protocol === "http:" || url.protocol === "https:")
}
