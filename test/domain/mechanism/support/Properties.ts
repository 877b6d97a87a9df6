/**
 * Properties of every kind of mechanism under random commands. A kind's test defines the settings, the steps and the
 * number of runs; its Reference is an independent model.
 */
import { assert, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import type { Moment } from "../../../../src/domain/mechanism/Decider.ts"
import { type History, outcomeOf } from "./History.ts"

/** Generates one of these values. */
export const pick = <const A>(...values: ReadonlyArray<A>) =>
  Arbitrary.map(
    Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: values.length - 1 }))),
    (index) => values[index]!
  )

/** Returns the object without its undefined fields. */
export const present = <A extends object>(fields: { readonly [K in keyof A]: A[K] | undefined }): A =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as A

/** A step of random commands: the time since the last step. */
interface Waiting {
  readonly wait: number
}

interface AnyEvent {
  readonly _tag: string
  readonly at: number
}

type AnyRefusal = { readonly _tag: string }

/** The part of a kind's decider that the properties use. */
interface Rules<State, Configuration, Event> {
  readonly event: Schema.Codec<Event, unknown>
  initial(): State
  evolve(state: State, event: Event): void
  due(state: State, moment: Moment): Event | undefined
  counts(state: State): { readonly [status: string]: number }
  place(state: State, consumerId: string): unknown
  configurationOf(state: State): Configuration
}

/** Runs the steps; `tick` applies the due transitions before each. Waits are in thousandths of the history's unit. */
export const play = <S extends { readonly lastAt: number }, C, E, R, V, Configuration, Step extends Waiting>(
  history: History<S, C, E, R, V>,
  rules: { configurationOf(state: S): Configuration },
  steps: ReadonlyArray<Step>,
  commandOf: (step: Step, current: Configuration) => C | undefined,
  tick: "noticed" | "until",
  unit = 1_000
): void => {
  let now = 0
  for (const step of steps) {
    now += step.wait
    const command = commandOf(step, rules.configurationOf(history.state))
    history[tick](now / unit)
    if (command !== undefined) history.when(now / unit, command)
  }
}

/** The part of a kind's reference that the comparison uses. */
interface Plain<Configuration, Command> {
  /** `seed` is the value of entropy, for kinds with a seed. */
  notice(now: number, seed: string): unknown
  command(command: Command, now: number): unknown
  readonly configuration: Configuration
  view(consumerId: string): unknown
  counts(): unknown
}

/**
 * Asserts that a mechanism and its reference have the same events and views. Instants are milliseconds from `start`;
 * `compare` asserts what is specific to the kind.
 */
export const assertFollows = <
  S extends { readonly lastAt: number },
  C,
  E,
  R extends AnyRefusal,
  V,
  Configuration,
  Step extends Waiting
>(
  history: History<S, C, E, R, V>,
  reference: Plain<Configuration, C>,
  {
    created,
    steps,
    commandOf,
    consumers,
    start,
    counts,
    compare,
    seed = ""
  }: {
    readonly created: C
    readonly steps: ReadonlyArray<Step>
    readonly commandOf: (step: Step, current: Configuration) => C | undefined
    readonly consumers: ReadonlyArray<string>
    readonly start: number
    readonly counts: (state: S) => unknown
    readonly compare?: () => void
    readonly seed?: string
  }
): void => {
  assert.deepStrictEqual<unknown>(outcomeOf(history.when(0, created)), reference.command(created, start))
  let now = 0
  for (const step of steps) {
    now += step.wait
    const seconds = now / 1_000
    assert.deepStrictEqual<unknown>(history.noticed(seconds), reference.notice(start + now, seed))
    const command = commandOf(step, reference.configuration)
    if (command !== undefined) {
      const outcome = outcomeOf(history.unnoticed(seconds, command))
      assert.deepStrictEqual<unknown>(outcome, reference.command(command, start + now))
      history.when(seconds, command)
    }
    // The reference's views apply no deadlines, so all transitions due until now come first.
    assert.deepStrictEqual<unknown>(history.noticed(seconds), reference.notice(start + now, seed))
    for (const consumerId of consumers) {
      assert.deepStrictEqual<unknown>(history.view(seconds, consumerId), reference.view(consumerId))
    }
    compare?.()
    assert.deepStrictEqual<unknown>(counts(history.state), reference.counts())
  }
}

/** Replays the events through their stored form and asserts that the state is the same. Returns that state. */
export const assertReplays = <S extends { readonly lastAt: number }, Configuration, E>(
  rules: Rules<S, Configuration, E>,
  { state, events }: { readonly state: S; readonly events: ReadonlyArray<E> },
  told: (state: S, now: number) => unknown,
  laterMillis = 60_000
): S => {
  const encode = Schema.encodeSync(rules.event)
  const decode = Schema.decodeUnknownSync(rules.event)
  const replayed = rules.initial()
  for (const event of events) rules.evolve(replayed, decode(JSON.parse(JSON.stringify(encode(event)))))
  const now = state.lastAt
  assert.deepStrictEqual(told(replayed, now), told(state, now))
  assert.deepStrictEqual(told(replayed, now + laterMillis), told(state, now + laterMillis))
  return replayed
}

/**
 * Asserts that a kind accepts any events in this order and answers every query after each, and that its counts match
 * its places.
 */
const assertAcceptsAny = <S, Configuration, E extends AnyEvent>(
  rules: Rules<S, Configuration, E>,
  events: ReadonlyArray<E>,
  consumers: ReadonlyArray<string>,
  told: (state: S, now: number) => unknown,
  start: number
): void => {
  const state = rules.initial()
  for (const event of events) {
    rules.evolve(state, narrowed(event, consumers))
    told(state, start)
    rules.due(state, { now: start, entropy: () => "00".repeat(16), level: 1 })
    const places = Object.values(rules.counts(state)).reduce((sum, count) => sum + count, 0)
    const known = consumers.filter((consumerId) => rules.place(state, consumerId) !== undefined)
    assert.strictEqual(places, known.length)
  }
}

/** Returns the event with one of a few consumers, and with instants that a calendar contains. */
const narrowed = <E extends AnyEvent>(event: E, consumers: ReadonlyArray<string>): E => {
  const instants = ["at", "startTime", "endTime", "expiresAt"] as const
  const fields: { [name: string]: unknown } = { ...(event as object) }
  for (const name of instants) {
    const instant = fields[name]
    if (typeof instant === "number") fields[name] = Math.floor(Math.abs(instant)) % 2 ** 42
  }
  const { consumerId } = fields
  if (typeof consumerId === "string") fields["consumerId"] = consumers[consumerId.length % consumers.length]!
  return fields as unknown as E
}

/**
 * Tests that a replay gives the same state, and that the outcome does not depend on when time is noticed. `run` plays the
 * steps; `noticedSteps` are those of the second test, if they differ.
 */
export const itReplays = <S extends { readonly lastAt: number }, Configuration, E, Settings, Step>(
  rules: Rules<S, Configuration, E>,
  {
    settings,
    steps,
    noticedSteps = steps,
    noticedRuns = 200,
    run,
    told,
    laterMillis
  }: {
    readonly settings: Arbitrary.Arbitrary<Settings>
    readonly steps: Arbitrary.Arbitrary<ReadonlyArray<Step>>
    readonly noticedSteps?: Arbitrary.Arbitrary<ReadonlyArray<Step>>
    readonly noticedRuns?: number
    readonly run: (
      settings: Settings,
      steps: ReadonlyArray<Step>,
      tick: "noticed" | "until"
    ) => { readonly state: S; readonly events: ReadonlyArray<E> }
    readonly told: (state: S, now: number) => unknown
    readonly laterMillis?: number
  }
): void => {
  it.prop(
    "has the same state after a replay of its events, also through their stored form",
    { settings, steps },
    ({ settings, steps }) => void assertReplays(rules, run(settings, steps, "noticed"), told, laterMillis),
    { arbitrary: { runs: 150, size: 60 } }
  )

  it.prop(
    "has the same outcome whether time is noticed at every instant or only with the next command",
    { settings, steps: noticedSteps },
    ({ settings, steps }) =>
      assert.deepStrictEqual(run(settings, steps, "noticed").events, run(settings, steps, "until").events),
    { arbitrary: { runs: noticedRuns, size: 60 } }
  )
}

/** Tests that a kind accepts any events, `runs` times up to `length` of them. */
export const itAcceptsAny = <S, Configuration, E extends AnyEvent>(
  rules: Rules<S, Configuration, E>,
  consumers: ReadonlyArray<string>,
  told: (state: S, now: number) => unknown,
  start: number,
  { runs, length } = { runs: 300, length: 60 }
): void =>
  it.prop(
    "accepts any events in any order",
    { events: Arbitrary.array(Arbitrary.schema(rules.event), { maxLength: length }) },
    ({ events }) => assertAcceptsAny(rules, events, consumers, told, start),
    { arbitrary: { runs, size: length } }
  )
