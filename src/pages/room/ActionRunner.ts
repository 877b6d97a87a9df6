/** Shared code of a visitor's actions: the session that they need, the mechanism that they name, refusals. */
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { VerifiedAccess } from "../../domain/consumer/Session.ts"
import { declarations } from "../../domain/mechanism/Mechanism.ts"
import type { ConsumerApiClient, OperationName } from "../ApiClients.ts"
import { notFound, Refusal } from "../Refusal.ts"
import { type Mechanism, roomKindOf } from "./mechanism/Kinds.ts"
import type { FormName } from "./mechanism/RoomKind.ts"
import type { Places } from "./Places.ts"
import type { Sessions } from "./Session.ts"
import { accessCodeScreen } from "./signIn/SignInScreens.ts"
import type { Variation, Visit } from "./Visit.ts"

/** The fields of a form. */
export type Fields = URLSearchParams

/** The result of an action, besides the change itself. */
export interface ActionResult {
  /** A session that the visitor has now. */
  readonly session?: VerifiedAccess
  /** The visitor has signed out. */
  readonly isOut?: true
  /** How the page differs from the visitor's place. */
  readonly show?: Variation
}

export type Run<A = ActionResult> = Effect.Effect<A, Refusal, HttpServerRequest.HttpServerRequest>

/** The request of an action. */
export interface ActionRequest {
  readonly visit: Visit
  readonly fields: Fields
}

/** The experience needs its access code. */
const barred = new Refusal({ status: 403, code: "BARRED" })

/** How a page shows a refusal. */
export const refusalVariation = (refusal: Refusal): Variation =>
  refusal.code === barred.code ? { screen: accessCodeScreen, status: barred.status } : { refusal }

/** Completes a refusal. A guest may be admitted after a sign-in, and an amount has the currency of its auction. */
const completed = (refusal: Refusal, access: VerifiedAccess, { kind, record }: Mechanism): Refusal => {
  const { status, code, amount } = refusal
  if (code === "FORBIDDEN" && access.sessionType === "guest" && !record.supportsGuest) {
    return new Refusal({ status: 403, code: "GUESTS" })
  }
  return kind === "auction" && amount !== undefined
    ? new Refusal({ status, code, amount, currencyCode: record.currencyCode })
    : refusal
}

const attemptOf = ({ attempt }: Visit) => (attempt === undefined ? {} : { headers: { "idempotency-key": attempt } })

/** Makes the steps of actions. */
export const makeActionRunner = (api: ConsumerApiClient["Service"], places: Places, sessions: Sessions) => {
  /** The visitor's session, or a new guest's. */
  const accessOf = (visit: Visit): Run<VerifiedAccess> =>
    visit.session === undefined
      ? Effect.flatMap(api.run({ holder: visit.holder }, "auth", "guest", attemptOf(visit)), ({ accessToken }) =>
          sessions.ofAccessToken(accessToken)
        )
      : Effect.succeed(visit.session)

  /** Runs an action of a visitor with a session. A new guest keeps it, also if the action is refused. */
  const withSession = (visit: Visit, action: (access: VerifiedAccess) => Run): Run =>
    Effect.flatMap(accessOf(visit), (access) => {
      if (access === visit.session) return action(access)
      return Effect.match(action(access), {
        onSuccess: (done) => ({ ...done, session: access }),
        onFailure: (refusal): ActionResult => ({ session: access, show: refusalVariation(refusal) })
      })
    })

  /** The mechanism of the form, if the visitor's page shows it. Enters the experience. */
  const mechanismIn = Effect.fnUntraced(function* (visit: Visit, access: VerifiedAccess, id: string | null) {
    const { experienceId } = visit.room
    const caller = { holder: visit.holder, access }
    yield* api
      .run(caller, "experiences", "enter", { params: { experienceId }, payload: null })
      .pipe(Effect.mapError((refusal) => (refusal.code === "FORBIDDEN" ? barred : refusal)))
    const { mechanisms } = yield* places.ofVisitor(caller, experienceId)
    return mechanisms.find(({ record }) => record.id === id) ?? (yield* notFound)
  })

  /** Makes the action of a form: it runs the operation that the kind of the form's mechanism has, as the visitor. */
  const onMechanism =
    (name: FormName) =>
    ({ visit, fields }: ActionRequest): Run =>
      withSession(visit, (access) =>
        Effect.gen(function* () {
          const mechanism = yield* mechanismIn(visit, access, fields.get("at"))
          const operation = roomKindOf(mechanism.kind).operations[name]?.(fields) ?? (yield* notFound)
          const { group, parameter } = declarations[mechanism.kind]
          const input = { params: { [parameter]: mechanism.record.id }, payload: operation.payload ?? null }
          const caller = { holder: visit.holder, access }
          const run = api.run(caller, group, operation.name as OperationName<typeof group>, input)
          yield* Effect.mapError(run, (refusal) => completed(refusal, access, mechanism))
          return {}
        })
      )

  return { withSession, onMechanism }
}

export type ActionRunner = ReturnType<typeof makeActionRunner>
