/** A person of a mechanism, as the lists of the Admin API have it. */
import type { AdminAnswer } from "../../../ApiClients.ts"

export type PeoplePage = AdminAnswer<"distributions", "listDistributionConsumers">
export type Person = PeoplePage["data"][number]
