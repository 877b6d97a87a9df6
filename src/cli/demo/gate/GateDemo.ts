// oxlint-disable unicorn/no-thenable -- the rules of gates have this field
/**
 * Plays the demo of a gate: a sample shop that knows nothing of Usher, a crowd of more visitors than may be inside, and
 * a server that is killed meanwhile. The shop counts for itself.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Clock, Console, Duration, Effect, FileSystem, Redacted, Schedule } from "effect"
import * as Client from "../../../load/Client.ts"
import type { Proof } from "../../../load/Report.ts"
import { DemoFailed } from "../DemoFailed.ts"
import * as DemoServer from "../DemoServer.ts"
import { report } from "../Drop.ts"
import * as Front from "./Front.ts"
import { makeVisitors, type Page, type Visitor } from "./Visitors.ts"

const insideLimit = 20
const crowdSize = 32
/** Visitors who stay inside until the end. */
const staying = 10
/** Visitors whose way through the room is followed. */
const followed = 8
/** Twice as long as the server may be away: it learns of nobody meanwhile. */
const idleSeconds = 20

const retries = Schedule.max([Schedule.spaced("250 millis"), Schedule.recurs(40)])

/** Plays the demo with its own server, which has stopped when this returns. With `stay` it serves on until it is interrupted. */
export const play = (stay: boolean) =>
  Effect.gen(function* () {
    const server = yield* DemoServer.make
    yield* playVisits(server, stay).pipe(
      Effect.tapError(() =>
        Effect.flatMap(server.logTail, (tail) => Console.error(`The server's last output:\n  ${tail}`))
      )
    )
  }).pipe(Effect.scoped, Effect.provide(NodeHttpClient.layerUndiciOptions({ connections: 64 })))

const playVisits = Effect.fnUntraced(function* (server: DemoServer.DemoServer, stay: boolean) {
  const begun = yield* Clock.currentTimeMillis
  yield* Console.log("Usher demo: a gate in front of a shop that knows nothing of it.\n")
  yield* Console.log(`  The server is up after ${yield* server.start} ms, with its own database.`)
  const { client, queueId, gate, secretKey } = yield* createGate(server)
  const front = yield* Front.make({ ...gate, url: server.consumerUrl }, yield* nginxFolder)
  yield* Console.log(`  The shop: ${front.url}, behind ${front.name}.`)
  yield* Console.log(
    `  The gate: ${server.adminUrl}/dashboard/gates/${gate.gateId}\n            Sign in with ${secretKey}`
  )
  const checks = yield* playAll({ server, client, queueId, front })
  yield* Console.log("\nWhat the shop and its visitors saw:\n")
  yield* report(checks)
  const seconds = (((yield* Clock.currentTimeMillis) - begun) / 1000).toFixed(1)
  yield* Console.log(`\nAll ${checks.length} promises held. It took ${seconds} s.`)
  if (!stay) return
  yield* Console.log("\nShop and server run on, at the same addresses. Ctrl+C ends them.")
  yield* Effect.never
})

interface Stage {
  readonly server: DemoServer.DemoServer
  readonly client: Client.Client
  readonly queueId: string
  readonly front: Front.Front
}

const playAll = Effect.fnUntraced(function* ({ server, client, queueId, front }: Stage) {
  const visitor = yield* makeVisitors(front.url)
  const most = { inside: 0 }
  yield* Effect.forkScoped(watchInside(client, queueId, most))
  const keepers: Array<Visitor> = []
  const clicks = { made: 0, refused: 0 }
  const stays = (one: Visitor) =>
    Effect.suspend(() => {
      if (keepers.length >= staying) return Effect.void
      keepers.push(one)
      return Effect.asVoid(Effect.forkScoped(clickOn(one, clicks)))
    })
  const first = visitor("first")
  const unseen = yield* passesUnseen(first)
  yield* stays(first)

  yield* Console.log(`  ${crowdSize} visitors come at once; ${insideLimit} may be inside.`)
  const crowd = Array.from({ length: crowdSize }, (_, number) => visitor(`visitor ${number + 1}`))
  const came = yield* Effect.forEach(
    crowd,
    (one) =>
      comes(one).pipe(
        Effect.tap(({ status }) => (status === 200 ? stays(one) : Effect.void)),
        Effect.map((page) => ({ one, page }))
      ),
    together
  )
  const served = front.shop.served.size
  const inside = came.filter(({ page }) => page.status === 200).length
  const sent = came.filter(({ page }) => page.status === 303)
  yield* Console.log(
    `  ${keepers.length} of those inside stay; the others go, and count as gone after ${idleSeconds} s.`
  )
  const waiting = sent.slice(0, followed)
  const arrived = yield* Effect.forEach(waiting, ({ one, page }) => one.waitIn(page.location), together)
  const mostInside = most.inside

  const away = yield* playAway(server, visitor)
  const crowdChecks = checksOf({ inside, sent: sent.length, served, most: mostInside, arrived })
  return [unseen, ...crowdChecks, ...away, staysInside(keepers, clicks)]
}, Effect.scoped)

const together = { concurrency: "unbounded" } as const

/** Opens the checkout. The page of a gate that has no answer in time tries again by itself. */
const comes = (one: Visitor) => until(one.visit("/checkout"), ({ status }) => status !== 503)

interface Seen {
  readonly inside: number
  readonly sent: number
  /** Visitors whose checkout the shop had served when all had come. */
  readonly served: number
  /** The most grants that were live at once. */
  readonly most: number
  /** The pages that those who waited in the room have reached. */
  readonly arrived: ReadonlyArray<Page>
}

const checksOf = ({ inside, sent, served, most, arrived }: Seen): ReadonlyArray<Proof> => {
  const reached = arrived.filter(({ status }) => status === 200).length
  return [
    {
      claim: "the crowd goes to the room",
      holds: inside + sent === crowdSize && sent > 0,
      detail: `${inside} of ${crowdSize} came in at once, ${sent} were led to the room`
    },
    {
      claim: `the shop never has more than ${insideLimit} inside`,
      holds: served <= insideLimit && most <= insideLimit && most > 0,
      detail: `it served ${served} visitors at first; at most ${most} grants were live at once`
    },
    {
      claim: "when some leave, the next come in",
      holds: arrived.length > 0 && reached === arrived.length,
      detail: `${reached} of ${arrived.length} who waited in the room reached the checkout`
    }
  ]
}

const staysInside = (keepers: ReadonlyArray<Visitor>, { made, refused }: Clicks): Proof => ({
  claim: "nobody who was inside is thrown out",
  holds: refused === 0 && made > 0,
  detail: `${made} requests of ${keepers.length} visitors, also while the server was away; ${refused} refused`
})

/** A quiet shop: the first visitor notices nothing, and a page without a rule costs nothing. */
const passesUnseen = Effect.fnUntraced(function* (first: Visitor) {
  const home = yield* first.visit("/")
  const hadCookie = first.hasCookie()
  const checkout = yield* comes(first)
  const proof: Proof = {
    claim: "the first visitor passes unseen",
    holds: home.status === 200 && !hadCookie && checkout.status === 200 && first.hasCookie(),
    detail: `a page without a rule: ${home.status}; the checkout: ${checkout.status}, with a cookie and without a redirect`
  }
  return proof
})

/** The server is killed, and comes back. Those inside go on, and new visitors are treated as each rule says. */
const playAway = Effect.fnUntraced(function* (server: DemoServer.DemoServer, visitor: (name: string) => Visitor) {
  yield* server.kill
  yield* Console.log("  The server was killed (SIGKILL).")
  const kindOf = ({ status }: Page) => status
  const closing = visitor("new, closed")
  const [untilClosed] = yield* Effect.timed(until(closing.visit("/checkout"), ({ status }) => status === 503))
  const open = kindOf(yield* visitor("new, open").visit("/sale"))
  const millis = yield* server.start
  yield* Console.log(`  The server is back after ${millis} ms.`)
  const [untilNormal, again] = yield* Effect.timed(until(closing.visit("/checkout"), isNormal))
  const proofs: ReadonlyArray<Proof> = [
    {
      claim: "while Usher is away, each rule's mode holds for new visitors",
      holds: open === 200,
      detail: `the closed rule after ${seconds(untilClosed)}; the open rule: ${open}`
    },
    {
      claim: "when Usher is back, all is as before",
      holds: isNormal(again),
      detail: `after ${seconds(untilNormal)} a new visitor ${again.status === 200 ? "came in" : "was led to the room"}`
    }
  ]
  return proofs
})

const isNormal = ({ status }: Page): boolean => status === 200 || status === 303

const seconds = (duration: Duration.Duration): string => `${(Duration.toMillis(duration) / 1_000).toFixed(1)} s`

/** Opens a page until it is so, for half a minute at most. Returns the last one. */
const until = <R>(visit: Effect.Effect<Page, never, R>, isSo: (page: Page) => boolean) =>
  Effect.repeat(visit, { until: isSo, schedule: Schedule.spaced("200 millis"), times: 150 })

interface Clicks {
  made: number
  refused: number
}

/** A visitor who stays inside makes a request now and then. */
const clickOn = (one: Visitor, clicks: Clicks) =>
  Effect.map(one.visit("/checkout"), ({ status }) => {
    clicks.made++
    if (status !== 200) clicks.refused++
  }).pipe(Effect.andThen(Effect.sleep("1 second")), Effect.forever)

const watchInside = (client: Client.Client, queueId: string, most: { inside: number }) =>
  client
    .admin((api) => api.distributions.getDistributionFacts({ params: { id: queueId } }))
    .pipe(
      Effect.map((facts) => {
        if (facts.kind === "queue") most.inside = Math.max(most.inside, facts.inside)
      }),
      Effect.andThen(Effect.sleep("250 millis")),
      Effect.forever
    )

/** Creates the queue and the gate, as a brand's staff would in the dashboard. */
const createGate = Effect.fnUntraced(function* (server: DemoServer.DemoServer) {
  const keys = yield* server.createOrganization
  const { consumerUrl, adminUrl } = server
  const target = { ...keys, url: consumerUrl, adminUrl, secretKey: Redacted.make(keys.secretKey) }
  const client = yield* Client.make(target, { retries })
  const queue = {
    name: "Checkout",
    supportsGuest: true,
    admitRate: 6_000,
    insideLimit,
    standby: true,
    admitBurst: 100,
    admissionRenewal: { idleSeconds, maxSeconds: 3_600 }
  }
  const drop = { name: "Sneaker Shop", sequences: [{ name: "Everyone", queues: [queue] }] }
  const { sequences } = yield* client.admin((api) => api.experiences.createExperience({ payload: drop }))
  const queueId = sequences[0]!.queues[0]!.id
  const rules = [
    { name: "Checkout", when: { pathPrefix: "/checkout" }, then: { queueId } },
    { name: "Sale", when: { pathPrefix: "/sale" }, then: { queueId }, failMode: "open" as const }
  ]
  const payload = { name: "Sneaker Shop", hosts: ["127.0.0.1"], rules }
  const { id: gateId, key } = yield* client.admin((api) => api.gates.createGate({ payload }))
  return { client, queueId, gate: { gateId, key }, secretKey: keys.secretKey }
})

/** The workers of nginx have an account of their own. */
const nginxFolder = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const directory = yield* files.makeTempDirectoryScoped({ prefix: "usher-demo-nginx-" })
  yield* files.chmod(directory, 0o755)
  return directory
}).pipe(Effect.mapError(({ message }) => new DemoFailed({ message: `No folder for nginx: ${message}` })))
