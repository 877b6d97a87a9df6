/** Extends a mechanism after an outage, through the engine. */
import { Effect } from "effect"
import { extensionSecondsMax } from "../../../../domain/mechanism/extension/Extension.ts"
import { Engine } from "../../../../engine/Engine.ts"
import { extend } from "../../../../engine/lifecycle/Extension.ts"
import type { StoredMechanism } from "../../../../store/mechanism/Mechanisms.ts"
import { issueAt } from "../../../errors/Issues.ts"
import { orAnswer } from "../../../errors/Refusals.ts"
import { invalidInput } from "../../../errors/Validation.ts"
import type { ExtensionBody } from "../../../../api/admin/DistributionApi.ts"
import * as Time from "../../../../store/coordination/Time.ts"

/** Makes the function that extends a mechanism as the body says. */
export const make = Effect.map(Engine, (engine) =>
  Effect.fnUntraced(function* ({ identity }: StoredMechanism, body: ExtensionBody, by: string) {
    const { kind, id, organizationId, mode } = identity
    const to = yield* extensionOf(body)
    const mechanism = { kind, id, tenant: { organizationId, mode } }
    const grants = yield* orAnswer(kind)(extend(mechanism, to, by).pipe(Effect.provideService(Engine, engine)))
    return { grants }
  })
)

/** Refuses an instant that is more than the longest extension away. */
const extensionOf = Effect.fnUntraced(function* ({ seconds, until }: ExtensionBody) {
  if (typeof seconds === "number") return { seconds }
  const latest = (yield* Time.now) + extensionSecondsMax * 1_000
  if (typeof until === "number" && until <= latest) return { until }
  const expected = `at most ${new Date(latest).toISOString()}`
  const problem = { kind: "validation", type: "max_value", expected } as const
  return yield* invalidInput([issueAt({ until: new Date(until ?? 0).toISOString() }, ["until"], problem)])
})
