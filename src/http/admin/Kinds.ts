/** What is special about each kind of mechanism, for operations over all kinds. */
import type { LiveKind } from "../../domain/Mechanism.ts"
import type { KindOfMechanism } from "./MechanismHandlers.ts"
import { queues } from "./Queues.ts"

export const kinds: { readonly [K in LiveKind]: KindOfMechanism<K> } = {
  queue: queues
}
