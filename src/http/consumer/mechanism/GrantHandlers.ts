/**
 * The handlers of mechanisms whose kind grants. They are those of every kind, with a grant's token in the consumer's
 * standing, and those with which an organization's server handles grants.
 */
import { Effect, type Schema } from "effect"
import type { Redemption } from "../../../api/consumer/Grants.ts"
import type { ConsumerCommand, MechanismRef, ViewOf, GrantingKind } from "../../../domain/mechanism/Mechanism.ts"
import type { Millis } from "../../../domain/values/Time.ts"
import { Engine } from "../../../engine/Engine.ts"
import * as ShopActions from "../../credentials/ShopActions.ts"
import * as GrantAnswers from "./GrantAnswers.ts"
import type { Present, Presentation, ToMechanism } from "./Handling.ts"
import { makeHandlers } from "./MechanismHandlers.ts"

/** The views of consumers that hold a grant. They are those with a `grantSequence`. */
type Holding<K extends GrantingKind> = Extract<ViewOf<K>, { readonly grantSequence: number }>

/** The views of consumers that hold no grant. */
type NotHolding<K extends GrantingKind> = Exclude<ViewOf<K>, Holding<K>>

/** The reasons for which an organization's server denies. */
type ReasonOf<K extends GrantingKind> = Extract<ConsumerCommand<K>, { readonly _tag: "Deny" }>["reason"]

/** A kind of mechanism that grants. */
export interface GrantingPresentation<
  K extends GrantingKind,
  Param extends string,
  Fields extends Schema.Struct.Fields,
  State extends Schema.Codec<unknown, unknown>
> extends Presentation<K, Param, Fields, State> {
  /** The instant at which the grant of a consumer was made. */
  readonly grantedAt: (view: Holding<K>) => Millis
  /** The standing of a consumer that holds no grant. */
  readonly standing: (view: NotHolding<K>, mechanism: MechanismRef<K>) => State["Type"]
  /** The standing of a consumer that holds a grant, given its view with the token. Absent: that view. */
  readonly held?: (
    view: Omit<Holding<K>, "grantSequence" | "tokenExpiresAt"> & { readonly admissionGrant: string },
    mechanism: MechanismRef<K>
  ) => State["Type"]
  /** The reasons of denials that did not end a grant. */
  readonly reasonsWithoutGrant?: ReadonlyArray<string>
}

/** A request of an organization's server that names a consumer's place. */
interface ToPlace<Param extends string, Fields = unknown> extends ToMechanism<Param> {
  readonly payload: Fields & { readonly consumerId: string }
}

/** The handlers of a kind that grants. */
export const makeGrantHandlers = Effect.fnUntraced(function* <
  K extends GrantingKind,
  Param extends string,
  Fields extends Schema.Struct.Fields,
  State extends Schema.Codec<unknown, unknown>
>(what: GrantingPresentation<K, Param, Fields, State>) {
  const engine = yield* Engine
  const grants = yield* GrantAnswers.make
  const { onPlace, onGrant } = yield* ShopActions.make(what.kind)
  const { param, grantedAt, standing, reasonsWithoutGrant } = what

  /** A consumer's view in a response: a grant comes with its token. */
  const present: Present<K, State["Type"]> = (mechanism, consumerId, view) => {
    if (!isHolding<K>(view)) return Effect.succeed(standing(view as NotHolding<K>, mechanism))
    const { grantSequence: _, tokenExpiresAt: __, ...shown } = view
    return Effect.map(grants.token(mechanism, consumerId, heldGrant(view)), (admissionGrant) => {
      const held = { ...shown, admissionGrant }
      return what.held === undefined ? held : what.held(held, mechanism)
    })
  }

  const heldGrant = (view: Holding<K>): GrantAnswers.HeldGrant => {
    const { grantSequence, expiresAt: endsAt, tokenExpiresAt: expiresAt = endsAt } = view
    return { grantSequence, grantedAt: grantedAt(view), ...(expiresAt !== undefined && { expiresAt }) }
  }

  const statusOf = (view: ViewOf<K>): GrantAnswers.GrantStatus =>
    isHolding<K>(view) ? heldGrant(view) : GrantAnswers.endedStatus(view, reasonsWithoutGrant)

  const shared = yield* makeHandlers(what, present)

  const complete = completingWith({ engine, grants, present })

  return {
    ...shared,
    onPlace,
    /** The actions of an organization's server on a grant. */
    grantActions: {
      deny: ({ params, payload: { consumerId, reason } }: ToPlace<Param, { readonly reason: ReasonOf<K> }>) =>
        onGrant({ mechanismId: params[param], consumerId }, (mechanism, by) =>
          shared.change(mechanism, { _tag: "Deny", consumerId, reason, by } as ConsumerCommand<K>)
        ),
      complete: ({ params, payload }: ToPlace<Param, Redemption>) =>
        onGrant({ mechanismId: params[param], consumerId: payload.consumerId }, (mechanism, by) =>
          complete(mechanism, payload, by)
        ),
      validate: ({ params, payload }: ToPlace<Param, GrantAnswers.Shown>) =>
        onGrant({ mechanismId: params[param], consumerId: payload.consumerId }, (mechanism) =>
          Effect.flatMap(engine.view(mechanism, payload.consumerId), (view) =>
            grants.validate(mechanism, payload, statusOf(view))
          )
        )
    }
  }
})

const isHolding = <K extends GrantingKind>(view: ViewOf<K>): view is Holding<K> => "grantSequence" in view

/**
 * Makes the function that completes a grant. It answers the consumer's standing, also if this redemption had completed a
 * grant before.
 */
const completingWith =
  <K extends GrantingKind, State>({
    engine,
    grants,
    present
  }: {
    readonly engine: Engine["Service"]
    readonly grants: Effect.Success<typeof GrantAnswers.make>
    readonly present: Present<K, State>
  }) =>
  (mechanism: MechanismRef<K>, { consumerId, token, redemptionId }: Redemption, by: string) =>
    Effect.gen(function* () {
      const grantSequence =
        typeof token === "string" ? yield* grants.shownGrant(mechanism, { consumerId, token }) : undefined
      const command = { _tag: "Complete", consumerId, by, redemptionId: redemptionId ?? undefined, grantSequence }
      const again = Effect.flatMap(engine.view(mechanism, consumerId), (view) => present(mechanism, consumerId, view))
      return yield* Effect.matchEffect(engine.send(mechanism, command as unknown as ConsumerCommand<K>), {
        onSuccess: (view) => present(mechanism, consumerId, view),
        onFailure: (error) =>
          error._tag === "AlreadyCompleted"
            ? Effect.map(again, (standing): State => ({ ...standing, alreadyCompleted: true }))
            : Effect.fail(error)
      })
    })
