/**
 * Records journals of every kind under a short load, and writes them to `test/engine/recorded`. The test there proves that
 * later releases replay them with the same result. Run it at a release that writes a new level, a new kind or a new event.
 *
 * A journal of samples adds the types of events that the load has not produced. Journals that were recorded before stay.
 *
 *     npm run record:journals
 */
import { Arbitrary, Effect } from "effect"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import type { Event } from "../../../src/domain/mechanism/Decider.ts"
import { actorDeciders, type Kind } from "../../../src/domain/mechanism/Mechanism.ts"
import { release } from "../../../src/domain/values/Release.ts"
import { casesOf, digestOf, eventsOf, type Recording, type Row, rowsOf } from "./replay.ts"
import { Setup, noFindings } from "../../e2e/load/Setup.ts"
import { Ledger } from "../../e2e/load/Ledger.ts"
import { Load } from "../../e2e/load/Load.ts"
import { Apis } from "../../e2e/support/Apis.ts"
import { Dice } from "../../e2e/support/Dice.ts"
import * as FreshDatabase from "../../e2e/support/FreshDatabase.ts"
import { sellFromStock } from "../../e2e/load/SellFromStock.ts"
import { pause } from "../../e2e/support/Processes.ts"
import { ServerUnderTest } from "../../e2e/support/ServerUnderTest.ts"

const rounds = 3
const roundMillis = 2_000
/** Events of one journal, and journals of one kind, that are kept. */
const eventsMax = 120
const journalsMax = 2
/** Samples of one type of event. */
const samplesTried = 50
const samplesKept = 2

interface Stored {
  readonly id: string
  readonly kind: Kind
  readonly type: string
  readonly at: Date
  readonly consumerId: string | null
  readonly data: Row[3]
}

/** Plays a load on a server, and returns the recorded journals of each kind. */
async function recorded(): Promise<ReadonlyMap<Kind, ReadonlyArray<ReadonlyArray<Row>>>> {
  await using server = await ServerUnderTest.make()
  const { url } = server.database
  if (url === undefined) throw new Error("needs a Postgres server: start one, or name it in DATABASE_URL")
  await server.start()
  using apis = new Apis([server], await server.createOrganization(), 8)
  const dice = new Dice(1)
  const setup = await Setup.make(apis, dice)
  const ledger = new Ledger()
  const load = new Load(apis, ledger, dice, 8, { restMillisMax: 40 })
  load.mechanisms = setup.mechanisms
  for (let round = 0; round < rounds; round++) {
    await pause(roundMillis)
    await setup.checkUnder(load, ledger, noFindings(), dice)
  }
  await load.stop()
  await sellFromStock(apis)
  await pause(roundMillis)
  const rows = await FreshDatabase.query(
    url,
    (sql) =>
      sql<Stored>`
      select id, kind, type, at, consumer_id as "consumerId", data
      from journal join mechanisms on id = mechanism_id order by id, sequence`
  )
  const journals = [...Map.groupBy(rows, ({ id }) => id).values()].map(
    (events) => [events[0]!.kind, events.slice(0, eventsMax)] as const
  )
  return new Map(
    [...Map.groupBy(journals, ([kind]) => kind)].map(([kind, found]) => [
      kind,
      found
        .toSorted(([, a], [, b]) => typesIn(b) - typesIn(a))
        .slice(0, journalsMax)
        .map(([, events]) =>
          events.map(({ type, at, consumerId, data }): Row => [type, at.getTime(), consumerId, data])
        )
    ])
  )
}

const typesIn = (events: ReadonlyArray<Stored>): number => new Set(events.map(({ type }) => type)).size

/** Returns the first journal's configuration, followed by samples of the types of events that no journal has, if any. */
function samples(kind: Kind, journals: ReadonlyArray<ReadonlyArray<Row>>): ReadonlyArray<Row> | undefined {
  const [configured, ...others] = eventsOf(kind, journals[0]!)
  const present = new Set(journals.flatMap((rows) => rows.map(([type]) => type)))
  const missing = Object.entries(casesOf(kind)).filter(([type]) => !present.has(type))
  if (missing.length === 0) return undefined
  const entered = others.filter((event) => event.consumerId !== undefined).slice(0, 1)
  const consumerId = entered[0]?.consumerId ?? ""
  const before = [configured!, ...entered]
  const { at } = before.at(-1)!
  const sampled = missing.flatMap(([, schema]) =>
    Effect.runSync(Arbitrary.sampleEffect(Arbitrary.schema(schema), { count: samplesTried, size: 8, seed: 1 }))
      .map((event): Event => ({
        ...inTime(event, at),
        at,
        ...(event.consumerId === undefined ? {} : { consumerId })
      }))
      .filter((event) => isPossible(kind, [...before, event]))
      .slice(0, samplesKept)
  )
  return rowsOf(kind, [...before, ...sampled])
}

/** Moves the instants of a sample into reach. */
const inTime = (event: Event, at: number): Event => {
  const moved = Object.entries(event).map(([name, value]) => [name, /(At|Until)$/.test(name) ? at + 60_000 : value])
  return Object.fromEntries(moved) as Event
}

/** True if the events can be stored and replayed. */
const isPossible = (kind: Kind, events: ReadonlyArray<Event>): boolean => {
  try {
    digestOf(kind, eventsOf(kind, rowsOf(kind, events)))
    return true
  } catch {
    return false
  }
}

const level = release.level[1]
const folder = new URL(`./level${level}/`, import.meta.url)
mkdirSync(folder, { recursive: true })

const fileOf = (kind: Kind) => new URL(`${kind}.jsonl`, folder)
const kinds = Object.keys(actorDeciders) as ReadonlyArray<Kind>
const isNew = kinds.some((kind) => !existsSync(fileOf(kind)))
const found = isNew ? await recorded() : new Map<Kind, ReadonlyArray<ReadonlyArray<Row>>>()

for (const kind of kinds) {
  const before: Recording = existsSync(fileOf(kind))
    ? JSON.parse(readFileSync(fileOf(kind), "utf8"))
    : { kind, version: release.version, level, journals: [] }
  const kept = before.journals.map(({ events }) => events)
  const played = kept.length === 0 ? (found.get(kind) ?? []) : []
  const present = [...kept, ...played]
  const sampled = samples(kind, present)
  const added = [...played, ...(sampled === undefined ? [] : [sampled])]
  const journals = added.map((events) => ({ digest: digestOf(kind, eventsOf(kind, events)), events }))
  writeFileSync(fileOf(kind), `${JSON.stringify({ ...before, journals: [...before.journals, ...journals] })}\n`)
  console.log(
    `${kind}: ${kept.length} journals kept, ${added.map((events) => events.length).join(", ") || "no"} events added`
  )
}
