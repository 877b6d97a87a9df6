/** Shared code of a visitor's actions: the session that they need, the mechanism that they name, refusals. */
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { VerifiedAccess } from "../../domain/consumer/Session.ts"
import { declarations } from "../../domain/mechanism/Mechanism.ts"
import type { Calls, OperationName } from "../Calls.ts"
import { Refused } from "../Refused.ts"
import { type Mechanism, roomKindOf } from "./mechanism/Kinds.ts"
import type { FormName } from "./mechanism/RoomKind.ts"
import type { Places } from "./Places.ts"
import type { Sessions } from "./Session.ts"
import { accessCodeScreen } from "./signIn/SignInScreens.ts"
import type { Variation, Visit } from "./Visit.ts"

/** The fields of a form. */
export type Fields = URLSearchParams

/** The result of an action, besides the change itself. */
export interface Done {
  /** A session that the visitor has now. */
  readonly session?: VerifiedAccess
  /** The visitor has signed out. */
  readonly isOut?: true
  /** How the page differs from the visitor's place. */
  readonly show?: Variation
}

export type Run<A = Done> = Effect.Effect<A, Refused, HttpServerRequest.HttpServerRequest>

/** The request of an action. */
export interface Context {
  readonly visit: Visit
  readonly fields: Fields
}

/** The experience needs its access code. */
const barred = new Refused({ status: 403, code: "BARRED" })

const notFound = new Refused({ status: 404, code: "NOT_FOUND" })

/** How a page shows a refusal. */
export const showing = (refused: Refused): Variation =>
  refused.code === barred.code ? { screen: accessCodeScreen, status: barred.status } : { refused }

/** Completes a refusal. A guest may be admitted after a sign-in, and an amount has the currency of its auction. */
const completed = (refused: Refused, access: VerifiedAccess, { kind, record }: Mechanism): Refused => {
  const { status, code, amount } = refused
  if (code === "FORBIDDEN" && access.sessionType === "guest" && !record.supportsGuest) {
    return new Refused({ status: 403, code: "GUESTS" })
  }
  return kind === "auction" && amount !== undefined
    ? new Refused({ status, code, amount, currencyCode: record.currencyCode })
    : refused
}

const attemptOf = ({ attempt }: Visit) => (attempt === undefined ? {} : { headers: { "idempotency-key": attempt } })

/** Makes the steps of actions. */
export const make = (calls: Calls["Service"], places: Places, sessions: Sessions) => {
  /** The visitor's session, or a new guest's. */
  const accessOf = (visit: Visit): Run<VerifiedAccess> =>
    visit.session === undefined
      ? Effect.flatMap(calls.run({ holder: visit.holder }, "auth", "guest", attemptOf(visit)), ({ accessToken }) =>
          sessions.ofAccessToken(accessToken)
        )
      : Effect.succeed(visit.session)

  /** Runs an action of a visitor with a session. A new guest keeps it, also if the action is refused. */
  const withSession = (visit: Visit, action: (access: VerifiedAccess) => Run): Run =>
    Effect.flatMap(accessOf(visit), (access) => {
      if (access === visit.session) return action(access)
      return Effect.match(action(access), {
        onSuccess: (done) => ({ ...done, session: access }),
        onFailure: (refused): Done => ({ session: access, show: showing(refused) })
      })
    })

  /** The mechanism of the form, if the visitor's page shows it. Enters the experience. */
  const mechanismIn = Effect.fnUntraced(function* (visit: Visit, access: VerifiedAccess, id: string | null) {
    const { experienceId } = visit.room
    const caller = { holder: visit.holder, access }
    yield* calls
      .run(caller, "experiences", "enter", { params: { experienceId }, payload: null })
      .pipe(Effect.mapError((refused) => (refused.code === "FORBIDDEN" ? barred : refused)))
    const { mechanisms } = yield* places.ofVisitor(caller, experienceId)
    return mechanisms.find(({ record }) => record.id === id) ?? (yield* notFound)
  })

  /** Makes the action of a form: it runs the operation that the kind of the form's mechanism has, as the visitor. */
  const onMechanism =
    (name: FormName) =>
    ({ visit, fields }: Context): Run =>
      withSession(visit, (access) =>
        Effect.gen(function* () {
          const mechanism = yield* mechanismIn(visit, access, fields.get("at"))
          const operation = roomKindOf(mechanism.kind).operations[name]?.(fields) ?? (yield* notFound)
          const { group, parameter } = declarations[mechanism.kind]
          const input = { params: { [parameter]: mechanism.record.id }, payload: operation.payload ?? null }
          const caller = { holder: visit.holder, access }
          const run = calls.run(caller, group, operation.name as OperationName<typeof group>, input)
          yield* Effect.mapError(run, (refused) => completed(refused, access, mechanism))
          return {}
        })
      )

  return { withSession, onMechanism }
}

export type Visitors = ReturnType<typeof make>
