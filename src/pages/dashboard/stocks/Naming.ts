/** Mechanisms that can sell from a stock, and the setting by which they do. */
import { Effect } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { declarations, sellingKinds } from "../../../domain/mechanism/Mechanism.ts"
import { isolated } from "../../../domain/values/Direction.ts"
import type { AdminApiClient } from "../../ApiClients.ts"
import type { Mechanism } from "../drop/Drop.ts"

/** Returns the stock of a mechanism; undefined if it has its own units. */
export const stockIdOf = (mechanism: Mechanism): string | undefined =>
  "stockId" in mechanism ? (mechanism.stockId ?? undefined) : undefined

/** True for a mechanism that has not opened and sells from no stock, so that it can name one. */
export const canNameStock = (mechanism: Mechanism): boolean =>
  sellingKinds.includes(mechanism.type) && mechanism.lifecycle === "scheduled" && stockIdOf(mechanism) === undefined

/** The mechanisms that can join the takers of a stock. */
export const canJoin = { query: { lifecycle: "scheduled" }, fits: canNameStock } as const

/** The settings by which a mechanism of a kind sells from a stock. A waitlist then offers its units. */
export const stockSettings = (kind: Mechanism["type"], stockId: string | null) => ({
  stockId,
  ...(kind === "waitlist" && {
    offers: stockId !== null,
    ...(stockId === null && { admissionExpirationSeconds: null })
  })
})

/** Makes the function that lets mechanisms sell from a stock. Returns a sentence on each that does not. */
export const makeNaming = (api: AdminApiClient["Service"]) =>
  Effect.fnUntraced(function* (operator: Operator, mechanisms: ReadonlyArray<Mechanism>, stockId: string) {
    const problems = yield* Effect.forEach(
      mechanisms.filter((mechanism) => stockIdOf(mechanism) !== stockId),
      ({ id, name, type }) =>
        api
          .run(operator, declarations[type].path, "change", {
            params: { id },
            payload: { ...stockSettings(type, stockId), reason: "STOCK_CHANGED" }
          })
          .pipe(
            Effect.as([]),
            Effect.catchIf(
              ({ status }) => status === 400 || status === 409,
              ({ detail = "" }) => Effect.succeed([`${isolated(name, "")} does not sell from it: ${detail}`])
            )
          )
    )
    return problems.flat()
  })
