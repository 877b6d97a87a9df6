/**
 * The counts of this process about itself. The numbers are fields of plain objects, and plain code adds to them: a
 * request pays for a few additions. They are read only at a scrape (`http/operations`).
 */
import { Context, Layer } from "effect"
import { ClusterMeasures } from "./ClusterMeasures.ts"
import { DatabaseMeasures } from "./DatabaseMeasures.ts"
import { DeliveryMeasures } from "./DeliveryMeasures.ts"
import type { Family } from "./Family.ts"
import { GateMeasures } from "./GateMeasures.ts"
import { HttpMeasures } from "./HttpMeasures.ts"
import { JournalMeasures } from "./JournalMeasures.ts"
import { MechanismMeasures } from "./MechanismMeasures.ts"

class AllMeasures {
  readonly http = new HttpMeasures()
  readonly mechanisms = new MechanismMeasures()
  readonly journal = new JournalMeasures()
  readonly database = new DatabaseMeasures()
  readonly cluster = new ClusterMeasures()
  readonly delivery = new DeliveryMeasures()
  readonly gate = new GateMeasures()

  families(): ReadonlyArray<Family> {
    const { http, mechanisms, journal, database, cluster, delivery, gate } = this
    return [http, mechanisms, journal, database, cluster, delivery, gate].flatMap((group) => group.families())
  }
}

/** The measures. Without the layer, code counts into measures that are never read. */
export const Measures = Context.Reference<AllMeasures>("usher/measures/Measures", {
  defaultValue: () => new AllMeasures()
})

/** Provides separate measures to the layer's dependents. */
export const layer = Layer.sync(Measures, () => new AllMeasures())
