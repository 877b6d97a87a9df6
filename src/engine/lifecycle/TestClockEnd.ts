/** The end of a test clock: what lived in its time is archived, and test mode has the server's time again. */
import { Effect } from "effect"
import type { Tenant } from "../../domain/values/Ids.ts"
import { Invalidations } from "../../store/coordination/Invalidations.ts"
import * as Time from "../../store/coordination/Time.ts"
import { Experiences } from "../../store/experience/Experiences.ts"
import { TestClockChanges } from "../../store/testClock/TestClockChanges.ts"
import { Engine } from "../Engine.ts"
import { archiveWithMechanisms } from "./Archiving.ts"

/** Makes the function that ends the clock of a tenant and returns it as it was. Repeated, it goes on where it broke off. */
export const makeEnd = Effect.gen(function* () {
  const changes = yield* TestClockChanges
  const experiences = yield* Experiences
  const invalidations = yield* Invalidations
  const engine = yield* Engine

  return Effect.fnUntraced(
    function* (tenant: Tenant, by: string) {
      const clock = yield* changes.read(tenant)
      // Each after its mechanisms.
      yield* Effect.forEach(
        yield* changes.experiences(tenant),
        (id) => archiveWithMechanisms(tenant, by, experiences.archive(tenant, id, by)),
        { discard: true }
      )
      yield* changes.remove(tenant, by, yield* Time.serverNow)
      yield* invalidations.settled
      return clock
    },
    Effect.provideService(Engine, engine)
  )
})
