/** The handlers of gates on the Admin API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as GateKeys from "../../../auth/keys/GateKeys.ts"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import type { GateInstances } from "../../../api/admin/GateApi.ts"
import type { ValidationError } from "../../../api/Errors.ts"
import { defaults, type Gate, Settings, settingsProblems } from "../../../domain/gate/Gate.ts"
import { GateReports, type SeenInstance } from "../../../store/gate/GateReports.ts"
import { Gates } from "../../../store/gate/Gates.ts"
import { invalidInput } from "../../errors/Validation.ts"
import { versionOf } from "../../gate/GateRecords.ts"
import { problemIssues } from "../records/Answers.ts"
import { forTenant, onList, onRecord } from "../records/Operations.ts"
import { revising } from "../records/Settings.ts"
import * as GateTests from "./GateTests.ts"

export const GateHandlers = HttpApiBuilder.group(AdminApi, "gates", (handlers) =>
  Effect.gen(function* () {
    const gates = yield* Gates
    const keys = yield* GateKeys.GateKeys
    const reports = yield* GateReports
    const tried = yield* GateTests.make

    return handlers.handleAll({
      createGate: ({ payload }) =>
        forTenant((tenant, by) => {
          const key = GateKeys.make(tenant.mode)
          return Effect.flatMap(checked(revised(defaults, payload)), (settings) =>
            Effect.map(gates.create(tenant, by, settings, key), withKey(key))
          )
        }),

      listGates: onList(gates.list),

      getGate: onRecord(gates.find),

      changeGate: ({ params: { id }, payload }) =>
        forTenant((tenant, by) =>
          Effect.tap(
            gates.change(tenant, id, by, (settings) => checked(revised(settings, payload))),
            keys.changed
          )
        ),

      archiveGate: onRecord((tenant, id, by) =>
        Effect.map(Effect.tap(gates.archive(tenant, id, by), keys.changed), ({ record }) => record)
      ),

      restoreGate: onRecord((tenant, id, by) => Effect.tap(gates.restore(tenant, id, by), keys.changed)),

      rotateGateKey: onRecord((tenant, id, by) => {
        const key = GateKeys.make(tenant.mode)
        return Effect.map(Effect.tap(gates.rotateKey(tenant, id, by, key), keys.changed), withKey(key))
      }),

      listGateInstances: onRecord((tenant, id) =>
        Effect.flatMap(gates.find(tenant, id), (gate) =>
          Effect.map(reports.seen(id), (seen): GateInstances => {
            const version = versionOf(gate)
            return { version, data: seen.map((one) => instanceOf(one, version)) }
          })
        )
      ),

      testGate: ({ params: { id }, payload }) =>
        forTenant((tenant) => Effect.flatMap(gates.find(tenant, id), (gate) => tried(tenant, gate, payload)))
    })
  })
)

const instanceOf = ({ seenAt, report }: SeenInstance, current: string): GateInstances["data"][number] => {
  if (report === undefined) return { runtime: null, version: null, isCurrent: null, decisions: null, seenAt }
  const { runtime, version, decisions } = report
  return { runtime, version, isCurrent: version === current, decisions, seenAt }
}

const withKey =
  ({ text }: { readonly text: string }) =>
  (gate: Gate) => ({ ...gate, key: text })

const revised = revising<Settings>(Settings.fields, defaults)

/** Refuses settings that contradict each other. */
const checked = (settings: Settings): Effect.Effect<Settings, ValidationError> => {
  const problems = settingsProblems(settings)
  return problems.length === 0 ? Effect.succeed(settings) : Effect.fail(invalidInput(problemIssues(problems, settings)))
}
