/**
 * Runs one batch of commands on one mechanism's state: first the transitions that are due, then each command in order,
 * then the transitions that the commands made due. Everything here is synchronous and changes the actor's own state
 * before the append. Readers must not see these changes before the batch is on disk.
 */
import type { Command, Decider, Event, Moment, Refusal } from "../../domain/mechanism/Decider.ts"

/** A decider of any kind. */
// oxlint-disable-next-line typescript/no-explicit-any -- the state's type is known only to its own decider
export type AnyDecider = Decider<any, any, any, any, Refusal, any, unknown>

/** A moment whose chance may follow from a seed: from the events of the batch before, and the calls of one decision. */
export interface BatchMoment extends Moment {
  readonly seeded?: ((events: number, draw: number) => string) | undefined
}

/** The result of one command: its caller's answer, or a refusal. */
export type Outcome = { readonly view: unknown } | { readonly refusal: Refusal }

/** The result of a batch. */
export interface Batch {
  /** In order; the actor appends them as one commit. */
  readonly events: ReadonlyArray<Event>
  /** The consumers whose places changed. */
  readonly consumerIds: ReadonlySet<string>
  /** True if an event concerned the mechanism itself, so that its record may have changed. */
  readonly recordChanged: boolean
  /** One for each command, in order. */
  readonly outcomes: ReadonlyArray<Outcome>
}

/** Most due events in one batch. Later batches take the rest, so that a million denials do not delay the commands. */
export const dueEventsMax = 1_000

/** Returns the answer to a command that names no consumer: the consumers whose places it changed. */
const consumersOf = (events: ReadonlyArray<Event>): ReadonlyArray<string> =>
  events.flatMap(({ consumerId }) => consumerId ?? [])

/** Runs the commands in order and changes the state in place. */
export function runBatch(
  decider: AnyDecider,
  state: unknown,
  commands: ReadonlyArray<Command>,
  moment: BatchMoment
): Batch {
  const { seeded } = moment
  const events: Array<Event> = []
  const consumerIds = new Set<string>()
  let recordChanged = false

  const apply = (event: Event): void => {
    decider.evolve(state, event)
    events.push(event)
    if (event.consumerId !== undefined) consumerIds.add(event.consumerId)
    else if (!decider.nonRecordEvents?.includes(event._tag)) recordChanged = true
  }

  /** The moment of one decision. */
  const momentNow = (): Moment => {
    if (seeded === undefined) return moment
    let draw = 0
    return { ...moment, entropy: () => seeded(events.length, draw++) }
  }

  let dueEventsLeft = dueEventsMax
  const settle = (): void => {
    while (dueEventsLeft > 0) {
      decider.work?.(state, moment.now)
      const event = decider.due(state, momentNow())
      if (event === undefined) return
      apply(event)
      dueEventsLeft -= 1
    }
  }

  const run = (command: Command): Outcome => {
    const decision = decider.decide(state, command, momentNow())
    if (!Array.isArray(decision)) return { refusal: decision as Refusal }
    for (const event of decision) apply(event)
    const { consumerId } = command
    return { view: consumerId === undefined ? consumersOf(decision) : decider.view(state, consumerId, moment.now) }
  }

  decider.lines?.(state).forEach((line) => line.mark())
  settle()
  const outcomes = commands.map(run)
  settle()
  return { events, consumerIds, recordChanged, outcomes }
}

/**
 * Restores the positions that held before a batch whose write failed. Returns the consumers that the batch names.
 * Undefined if the batch may have changed the views of all consumers.
 */
export function lookPast(decider: AnyDecider, state: unknown, batch: Batch): ReadonlySet<string> | undefined {
  const concernsAll = ({ _tag, consumerId }: Event) =>
    consumerId === undefined || decider.farReaching?.includes(_tag) === true
  if (batch.events.some(concernsAll)) return undefined
  decider.lines?.(state).forEach((line) => line.rewind())
  return batch.consumerIds
}
