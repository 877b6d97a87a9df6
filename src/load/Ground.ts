/** The leave to load a deployment, and the experience and queue that a run makes for itself. */
import { Clock, Effect, Redacted, Schema } from "effect"
import { StartRefused } from "../settings/Settings.ts"
import { type Client, orRefused, type Target } from "./Client.ts"
import { Recorded } from "./Proofs.ts"

/** Consumer API requests of a consumer at its arrival: the session and the entry. */
const requestsPerArrival = 2

const Organization = Schema.Struct({
  name: Schema.String,
  loadLeave: Schema.optionalKey(Schema.NullOr(Schema.Struct({ until: Schema.String, perSecond: Schema.Int })))
})
const Created = Schema.Struct({ id: Schema.String })
const Page = Schema.Struct({
  data: Schema.Array(Recorded),
  pageInfo: Schema.Struct({ endCursor: Schema.NullOr(Schema.String) })
})

/** Refuses keys that are not of test mode, before any request. */
export const requireTestKeys = ({ publishableKey, secretKey }: Target) =>
  publishableKey.startsWith("pk_test_") && Redacted.value(secretKey).startsWith("sk_test_")
    ? Effect.void
    : Effect.fail(
        new StartRefused({
          message: "Load needs the keys of test mode: pk_test_… and sk_test_…. It never runs with live keys."
        })
      )

/** Refuses a deployment whose operator has given no leave, or less than the run needs. */
export const requireLeave = Effect.fnUntraced(function* (client: Client, need: { peak: number; seconds: number }) {
  const { name, loadLeave } = yield* client
    .admin(Organization, "GET", "/organizations/me")
    .pipe(orRefused("The organization could not be read"))
  const now = yield* Clock.currentTimeMillis
  const remedy =
    "Its operator gives it: usher organizations allow-load --organization ID --minutes 60 --per-second 5000"
  const refuse = (problem: string) => Effect.fail(new StartRefused({ message: `${problem} ${remedy}` }))
  if (loadLeave === undefined || loadLeave === null || Date.parse(loadLeave.until) <= now) {
    return yield* refuse(`The organization "${name}" has no leave to be loaded.`)
  }
  if (Date.parse(loadLeave.until) < now + need.seconds * 1_000) {
    return yield* refuse(`The leave ends at ${loadLeave.until}, before the arrivals do.`)
  }
  const perSecond = need.peak * requestsPerArrival
  if (perSecond > loadLeave.perSecond) {
    return yield* refuse(
      `The leave is for ${loadLeave.perSecond} requests a second. These arrivals make ${perSecond} at their peak.`
    )
  }
})

/** Creates a queue, and archives it with its parents when the scope closes. Returns its id. */
export const acquireQueue = (client: Client, admitRate: number, label: string) =>
  Effect.gen(function* () {
    const create = (path: string, body: object) =>
      client.admin(Created, "POST", path, body).pipe(orRefused(`${path} could not be created`))
    const archived = (path: string) => (_: unknown) =>
      client
        .admin(Schema.Unknown, "DELETE", path)
        .pipe(
          Effect.catch(({ reason, detail }) => Effect.logWarning(`${path} could not be archived: ${reason}. ${detail}`))
        )
    const made = (path: string, body: object) =>
      Effect.acquireRelease(create(path, body), ({ id }) => archived(`${path}/${id}`)(undefined))
    const experience = yield* made("/experiences", { name: label })
    const sequence = yield* made("/sequences", { experienceId: experience.id, name: label })
    const queue = yield* made("/queues", {
      sequenceId: sequence.id,
      name: label,
      admitRate,
      supportsGuest: true
    })
    return queue.id
  })

/** Reads the recorded events of the queue, page by page. */
export const historyOf = Effect.fnUntraced(function* (client: Client, queueId: string) {
  const events: Array<Recorded> = []
  let after: string | null = null
  for (;;) {
    const query: string = after === null ? "" : `&after=${encodeURIComponent(after)}`
    const { data, pageInfo }: typeof Page.Type = yield* client
      .admin(Page, "GET", `/distributions/${queueId}/history?first=100${query}`)
      .pipe(orRefused("The history could not be read"))
    events.push(...data)
    after = pageInfo.endCursor
    if (after === null || data.length === 0) return events
  }
})
