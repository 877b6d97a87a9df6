/**
 * Everything the Admin API does, for the server to put behind its contract.
 */
import { Layer } from "effect"
import { Creation } from "../../engine/Creation.ts"
import { Experiences } from "../../store/Experiences.ts"
import { History } from "../../store/History.ts"
import { Mechanisms } from "../../store/Mechanisms.ts"
import { Places } from "../../store/Places.ts"
import { Sequences } from "../../store/Sequences.ts"
import { ApiKeyHandlers } from "./ApiKeys.ts"
import { DistributionHandlers } from "./Distributions.ts"
import { ExperienceHandlers } from "./Experiences.ts"
import { OutboxHandlers } from "./Outbox.ts"
import { QueueHandlers } from "./Queues.ts"
import { SequenceHandlers } from "./Sequences.ts"

/** The handlers of all groups, with their repositories; needs the database, the journal and the engine. */
export const layer = Layer.mergeAll(
  ApiKeyHandlers,
  ExperienceHandlers,
  SequenceHandlers,
  QueueHandlers,
  DistributionHandlers,
  OutboxHandlers
).pipe(
  Layer.provide(Creation.layer),
  Layer.provide(Layer.mergeAll(Experiences.layer, Sequences.layer, Mechanisms.layer, Places.layer, History.layer))
)
