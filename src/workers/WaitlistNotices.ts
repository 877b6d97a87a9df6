/**
 * Notifies the members of waitlists that their sequence has opened (completions 3, "Waitlist").
 *
 * The waitlists themselves say which members to notify, and the engine signals when there are some. So this worker keeps
 * nothing that a restart could lose.
 *
 * A member is marked as notified when its message has been delivered, not before. A process that dies in between notifies
 * the members it was just notifying a second time; the other order would leave them without a message. A member's email
 * has the same Message-ID each time, so that mail systems can drop the repetition.
 */
import { Clock, Effect, Layer } from "effect"
import { Delivery, senders } from "../delivery/Delivery.ts"
import { opening, type Outgoing } from "../delivery/Message.ts"
import type { Tenant } from "../domain/values/Ids.ts"
import * as Waitlist from "../domain/waitlist/Waitlist.ts"
import { Engine, type QueryAnswer } from "../engine/Engine.ts"
import { NoticeSchedule } from "../engine/lifecycle/NoticeSchedule.ts"
import { type Recipient, Waitlists } from "../store/mechanism/Waitlists.ts"
import * as EffectLoop from "./EffectLoop.ts"

/** Between two looks while members are to be notified. */
const lookIntervalMillis = 100

/** Longest time between two looks, in case a signal was missed. */
const idleIntervalMillis = 1_000

/** Members of one waitlist that are looked up at once. */
const membersAtOnce = 100

/** How often the opening is scheduled again in each waitlist, and unreachable members are tried again. */
const sweepIntervalMillis = 30_000

/** Most members that could not be reached since the last sweep. At the limit the worker waits for the next sweep. */
const unreachableMax = 1_000

/** A member that could not be reached for this long is given up. */
const givenUpAfterMillis = 3_600_000

type Due = QueryAnswer<"waitlist", ReadonlyArray<Waitlist.Awaiting>>

/** The fibers that notify the members, over any source of openings and recipients. */
export const layerNoDeps = Layer.effectDiscard(
  Effect.gen(function* () {
    const engine = yield* Engine
    const schedule = yield* NoticeSchedule
    const waitlists = yield* Waitlists
    const delivery = yield* Delivery

    /** Consumers that could not be reached lately. */
    const unreachable = new Set<string>()
    /** Members whose message was delivered, and who are not marked yet. */
    const delivered = new Set<string>()

    const notify = Effect.fnUntraced(function* (
      waitlist: Due["mechanism"],
      { consumerId, since }: Waitlist.Awaiting,
      recipient: Recipient | undefined
    ) {
      const name = `${waitlist.id}.${consumerId}`
      const message = recipient && messageTo(recipient, waitlist.tenant, name)
      const outcome = delivered.has(name) ? "delivered" : message ? yield* delivery.deliver(message) : "undeliverable"
      if (outcome === "failed" && (yield* Clock.currentTimeMillis) - since < givenUpAfterMillis) {
        unreachable.add(consumerId)
        return
      }
      if (outcome === "delivered") delivered.add(name)
      const channel = outcome === "delivered" ? message?.channel : undefined
      yield* engine.send(waitlist, { _tag: "MarkNotified", consumerId, ...(channel !== undefined && { channel }) })
      delivered.delete(name)
    })

    const notifyAll = Effect.fnUntraced(function* ({ mechanism, answer }: Due) {
      const consumerIds = answer.map(({ consumerId }) => consumerId)
      const recipients = yield* waitlists.recipients(mechanism.tenant, mechanism.id, consumerIds)
      const byId = new Map(recipients.map((recipient) => [recipient.consumerId, recipient]))
      yield* Effect.forEach(answer, (member) => Effect.ignore(notify(mechanism, member, byId.get(member.consumerId))), {
        // No more than are sent at the same time: what is under way is what a crash repeats.
        concurrency: senders,
        discard: true
      })
    })

    const look = Effect.gen(function* () {
      if (unreachable.size >= unreachableMax) return idleIntervalMillis
      const due = yield* engine.query("waitlist", (state) => Waitlist.awaitingNotice(state, membersAtOnce, unreachable))
      // The next look meets the members again who cannot be notified, or marked, for now.
      yield* Effect.forEach(due, (waitlist) => Effect.ignore(notifyAll(waitlist)), { discard: true })
      return due.length === 0 ? idleIntervalMillis : lookIntervalMillis
    })

    const lookNow = yield* EffectLoop.start({
      kind: "waitlist",
      spacingMillis: lookIntervalMillis,
      look: orLogged(look, lookIntervalMillis)
    })

    const sweep = Effect.suspend(() => {
      unreachable.clear()
      return Effect.andThen(lookNow, schedule.rescheduleAll)
    })
    yield* Effect.forkScoped(
      Effect.forever(Effect.andThen(orLogged(sweep, undefined), Effect.sleep(sweepIntervalMillis)))
    )
  })
)

/** The same over the database. */
export const layer = layerNoDeps.pipe(Layer.provide(NoticeSchedule.layer), Layer.provide(Waitlists.layer))

const orLogged = <A>(round: Effect.Effect<A>, otherwise: A): Effect.Effect<A> =>
  Effect.catchDefect(round, (defect) =>
    Effect.as(Effect.logError("Waitlists could not be looked after", defect), otherwise)
  )

/** The message to a member, by email before SMS; undefined if it has neither. */
const messageTo = ({ email, phone, experience }: Recipient, tenant: Tenant, id: string): Outgoing | undefined => {
  if (email !== null) return opening({ tenant, id, experience, channel: "email", to: email })
  return phone === null ? undefined : opening({ tenant, id, experience, channel: "phone", to: phone })
}
