/** The client's types are those of the API's schemas. The compiler checks it; the test only names what is compared. */
import { assert, describe, it } from "@effect/vitest"
import type { Schema } from "effect"
import type * as Client from "../../src/client/types.ts"
import type { AuctionState } from "../../src/api/consumer/AuctionApi.ts"
import type { AuthenticatedSession, GuestSession } from "../../src/api/consumer/AuthApi.ts"
import type { DrawState } from "../../src/api/consumer/DrawApi.ts"
import type { PublicExperience } from "../../src/api/consumer/ExperienceApi.ts"
import type { LiveFacts, LiveMechanism } from "../../src/api/consumer/LiveApi.ts"
import type { QueueState } from "../../src/api/consumer/QueueApi.ts"
import type { TimedReleaseState } from "../../src/api/consumer/TimedReleaseApi.ts"
import type { WaitlistState } from "../../src/api/consumer/WaitlistApi.ts"
import type { BookingState } from "../../src/api/Bookings.ts"

type Sent<S extends Schema.Codec<unknown, unknown>> = S["Encoded"]

/** True if each is assignable to the other. */
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false

/** True if what is sent is what the client expects, perhaps with more fields. */
type Holds<Sent, Expected> = [Sent] extends [Expected] ? true : false

type Started = Sent<typeof GuestSession> | Sent<typeof AuthenticatedSession>

const same: {
  readonly queue: Same<Sent<typeof QueueState>, Client.QueueState>
  readonly draw: Same<Sent<typeof DrawState>, Client.DrawState>
  readonly auction: Same<Sent<typeof AuctionState>, Client.AuctionState>
  readonly timedRelease: Same<Sent<typeof TimedReleaseState>, Client.TimedReleaseState>
  readonly appointment: Same<Sent<typeof BookingState>, Client.BookingState>
  readonly waitlist: Same<Sent<typeof WaitlistState>, Client.WaitlistState>
  readonly session: Same<Started["session"], Client.Session>
  readonly started: Holds<Started, Client.StartedSession>
  readonly experience: Holds<Sent<typeof PublicExperience>, Client.Experience>
  readonly live: Holds<Sent<typeof LiveFacts>, Omit<Client.Live, "now">>
  readonly mechanism: Holds<Sent<typeof LiveMechanism>, Client.LiveMechanism>
} = {
  queue: true,
  draw: true,
  auction: true,
  timedRelease: true,
  appointment: true,
  waitlist: true,
  session: true,
  started: true,
  experience: true,
  live: true,
  mechanism: true
}

describe("the client's types", () => {
  it("are those of the API", () => assert.notInclude(Object.values(same), false))
})
