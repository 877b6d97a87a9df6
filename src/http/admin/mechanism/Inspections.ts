/**
 * A mechanism as an admin sees it: its record, its lifecycle, and the counters of its actor. The counters are updated
 * with each event, so an inspection costs the same for ten places and for a million.
 */
import { Effect, Schema } from "effect"
import type { Kind, MechanismRef } from "../../../domain/mechanism/Mechanism.ts"
import type { UnitsReport } from "../../../domain/mechanism/UnitProtocol.ts"
import { Engine, type Inspection } from "../../../engine/Engine.ts"
import { lifecycleOf } from "../../../store/mechanism/MechanismLifecycle.ts"
import { Mechanisms, type StoredMechanism } from "../../../store/mechanism/Mechanisms.ts"
import { type Allocation, allocates, type Distribution, type Live } from "../../../api/admin/DistributionApi.ts"
import { kindsOfMechanism } from "./Kinds.ts"
import { mechanismRecord } from "./MechanismRecord.ts"
import * as Time from "../../../store/coordination/Time.ts"

type Shown = typeof Distribution.Type

/** The part of an answer that is not in the stored record. */
interface Observed extends Pick<Inspection<Kind>, "configuration" | "status" | "lifecycle"> {
  readonly live: typeof Live.Type | null
  /** What the mechanism says of its units. Undefined if it sells from no stock, or was not asked. */
  readonly units?: UnitsReport | undefined
}

export const make = Effect.gen(function* () {
  const engine = yield* Engine
  const mechanisms = yield* Mechanisms

  /** The part of a distribution that the record alone shows. */
  const recorded = (mechanism: StoredMechanism): Effect.Effect<Shown> =>
    Effect.map(Time.now, (now) =>
      distributionOf(mechanism, {
        configuration: configurationOf(mechanism),
        status: mechanism.status,
        lifecycle: lifecycleOf(mechanism, now),
        live: null
      })
    )

  return {
    recorded,

    /** Inspects the mechanism. Starts it if it does not run. */
    asked: (mechanism: StoredMechanism) =>
      Effect.map(engine.inspect(refOf(mechanism)), (inspection) => distributionOf(mechanism, inspection)),

    /**
     * Inspects one mechanism of a list. It does not start a mechanism, and it falls back to the record if the actor
     * cannot answer.
     */
    listed: (mechanism: StoredMechanism): Effect.Effect<Shown> =>
      engine.peek(refOf(mechanism)).pipe(
        Effect.flatMap((inspection) =>
          inspection === undefined ? recorded(mechanism) : Effect.succeed(distributionOf(mechanism, inspection))
        ),
        Effect.catch(() => recorded(mechanism))
      ),

    /** The distribution of a parked mechanism. Only here the database has to count places. */
    parked: Effect.fnUntraced(function* (mechanism: StoredMechanism, restarts: number) {
      const { counts, lastSequence } = yield* mechanisms.tally(mechanism.identity, mechanism.identity.id)
      const live = { ...parkedFields(restarts), counts, lastSequence }
      return { ...(yield* recorded(mechanism)), live }
    })
  }
})

/** The live fields of a parked actor, without the counts of its places and its last event number. */
export const parkedFields = (restarts: number) => ({
  entriesPerMinute: 0,
  grantsPerMinute: 0,
  node: null,
  restarts,
  parked: true
})

const refOf = (mechanism: StoredMechanism): MechanismRef<Kind> => ({
  kind: mechanism.identity.kind,
  id: mechanism.identity.id,
  tenant: mechanism.identity
})

const configurationOf = (mechanism: StoredMechanism) =>
  Schema.decodeUnknownSync(kindsOfMechanism[mechanism.identity.kind].Configuration)(mechanism.configuration)

const allocationOf = ({ units, held, sold }: UnitsReport): typeof Allocation.Type => ({
  units,
  held,
  free: units - held,
  sold
})

const distributionOf = (
  mechanism: StoredMechanism,
  { configuration, status, lifecycle, live, units }: Observed
): Shown => {
  const { kind } = mechanism.identity
  const record = mechanismRecord(mechanism, configuration, status, kindsOfMechanism[kind])
  const allocation = allocates(kind) ? { allocation: units === undefined ? null : allocationOf(units) } : {}
  return { ...record, type: kind, lifecycle, live, ...allocation } as Shown
}
